#include "app/evaluation/layerweaver/settings.hpp"

#include "app/evaluation/study/table_reader.hpp"

#include <stdexcept>

namespace gradweave::evaluation::layerweaver {
namespace {

constexpr double kMebi = 1048576;

template <typename T> const T *find(const std::vector<T> &all, const std::string &name) {
  for (const T &one : all)
    if (one.name == name) return &one;
  return nullptr;
}

template <typename T> const T &get(const std::vector<T> &all, const std::string &name) {
  if (const T *one = find(all, name)) return *one;
  throw std::logic_error(fmt::format("no '{}' in the study", name));
}

/// One of the words; the index of it.
std::size_t choice(TableReader &reader, const toml::node &table, std::string_view key,
                   const std::vector<std::string_view> &words) {
  const std::string word = reader.text(key);
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == word) return i;
  reader.fail(table, fmt::format("{} is '{}'; let it be one of: {}", key, word, fmt::join(words, ", ")));
}

template <typename T>
void require_new(const TableReader &reader, const toml::node &table, const std::vector<T> &all,
                 const std::string &name) {
  if (find(all, name) != nullptr)
    reader.fail(table, fmt::format("a second one called '{}'; give it another name", name));
}

WeaveMachine read_machine(TableReader &reader, const toml::node &table) {
  WeaveMachine machine{reader.text("name"), {}, reader.get<double>("bandwidth", "a number")};
  machine.arrays.count = reader.count("arrays");
  machine.arrays.rows = reader.count("rows");
  machine.arrays.cols = reader.count("cols");
  machine.arrays.hertz = 1e9 * reader.get<double>("gigahertz", "a number");
  machine.arrays.element_bytes = reader.count("element_bytes");
  machine.arrays.stationary = choice(reader, table, "stationary", {"results", "weights"}) == 0
                                  ? weave_model::Stationary::kResults
                                  : weave_model::Stationary::kWeights;
  return machine;
}

Scenario read_scenario(TableReader &reader, const toml::node &table, const WeaveStudy &study) {
  Scenario scenario;
  scenario.name = reader.text("name");
  scenario.of = choice(reader, table, "of", {"single", "multi"}) == 0 ? "single" : "multi";
  const std::string machine = reader.text("machine");
  if (find(study.machines, machine) == nullptr)
    reader.fail(table, fmt::format("no machine '{}'; add a [[machine]] of that name", machine));
  scenario.machine = study.machine(machine);
  scenario.batch = reader.count("batch");
  scenario.tokens = reader.count("tokens");
  scenario.buffer = reader.get<double>("buffer", "a number");
  scenario.rule.idle = static_cast<weave_model::Idle>(choice(reader, table, "idle", {"sum", "relative"}));
  scenario.rule.ties =
      static_cast<weave_model::Ties>(choice(reader, table, "ties", {"furthest behind", "least ahead", "first"}));
  return scenario;
}

} // namespace

weave_model::Npu Scenario::npu() const { return {static_cast<std::uint64_t>(buffer * kMebi), machine.bandwidth * 1e9}; }

const WeaveMachine &WeaveStudy::machine(const std::string &wanted) const { return get(machines, wanted); }
const Scenario &WeaveStudy::scenario(const std::string &wanted) const { return get(scenarios, wanted); }
const WeaveNetwork &WeaveStudy::network(const std::string &wanted) const { return get(networks, wanted); }

WeaveStudy read_weave_study(const Study &study, const std::vector<std::string> &networks) {
  WeaveStudy weave;
  static_cast<Study &>(weave) = study;
  const std::filesystem::path &file = study.file;
  const toml::table root = parse_tables(study.text, file);
  TableReader settings = read_table(file, root, "settings");
  weave.repeats = settings.count("repeats");
  weave.leads = settings.list<double>("leads", "a list of numbers");
  weave.tile_kib = settings.get<double>("tile_kib", "a number");
  weave.tile_microseconds = settings.get<double>("tile_microseconds", "a number");
  weave.buffers = settings.list<double>("buffers", "a list of numbers");
  settings.reject_unknown_keys();
  for_each_table(file, root, "network", [&](TableReader &reader, const toml::node &table) {
    WeaveNetwork network{reader.text("name"), beside(file, reader.text("model")), false, false};
    network.computes = choice(reader, table, "intensive", {"memory", "compute"}) == 1;
    network.tokens = choice(reader, table, "of", {"samples", "tokens"}) == 1;
    require_new(reader, table, weave.networks, network.name);
    weave.networks.push_back(std::move(network));
  });
  for_each_table(file, root, "machine", [&](TableReader &reader, const toml::node &table) {
    WeaveMachine machine = read_machine(reader, table);
    require_new(reader, table, weave.machines, machine.name);
    weave.machines.push_back(std::move(machine));
  });
  for_each_table(file, root, "scenario", [&](TableReader &reader, const toml::node &table) {
    Scenario scenario = read_scenario(reader, table, weave);
    require_new(reader, table, weave.scenarios, scenario.name);
    weave.scenarios.push_back(std::move(scenario));
  });
  for (const std::string &name : networks)
    if (find(weave.networks, name) == nullptr) {
      std::vector<std::string> known;
      for (const WeaveNetwork &network : weave.networks)
        known.push_back(network.name);
      throw std::invalid_argument(
          fmt::format("--network: no network '{}' in {}; there are: {}", name, study.name, fmt::join(known, ", ")));
    }
  if (!networks.empty())
    weave.networks.erase(std::remove_if(weave.networks.begin(), weave.networks.end(),
                                        [&](const WeaveNetwork &n) {
                                          return std::find(networks.begin(), networks.end(), n.name) == networks.end();
                                        }),
                         weave.networks.end());
  return weave;
}

} // namespace gradweave::evaluation::layerweaver
