#include "app/evaluation/flexer/settings.hpp"

#include "app/evaluation/study/table_reader.hpp"
#include "graph/frontend/load_network.hpp"
#include "runtime/run/lookup.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

namespace gradweave::evaluation::flexer {
namespace {

template <typename T> const T *find(const std::vector<T> &all, const std::string &name) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const T &one) { return one.name == name; });
  return at == all.end() ? nullptr : &*at;
}

template <typename T>
void require_new(const TableReader &reader, const toml::node &table, const std::vector<T> &all,
                 const std::string &name) {
  if (find(all, name) != nullptr)
    reader.fail(table, fmt::format("a second one called '{}'; give it another name", name));
}

/// The paper's numbers are of convolutions; layers after them it does not name.
std::vector<compiler::Layer> convolutions(const std::string &model) {
  std::vector<compiler::Layer> found;
  for (const compiler::Layer &layer : compiler::load_network(runtime::find_model(model)).layers)
    if (layer.conv) found.push_back(layer);
  return found;
}

bool is_wanted(const std::vector<std::string> &wanted, const std::string &name) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
}

/// Keeps what is wanted (empty: all). `option` and `what` are for the message.
template <typename T>
void keep_wanted(std::vector<T> &all, const std::vector<std::string> &wanted, const std::string &option,
                 const std::string &what, const std::string &study) {
  for (const std::string &name : wanted)
    if (find(all, name) == nullptr) {
      std::vector<std::string> known;
      for (const T &one : all)
        known.push_back(one.name);
      throw std::invalid_argument(
          fmt::format("{}: no {} '{}' in {}; there are: {}", option, what, name, study, fmt::join(known, ", ")));
    }
  all.erase(std::remove_if(all.begin(), all.end(), [&](const T &one) { return !is_wanted(wanted, one.name); }),
            all.end());
}

} // namespace

const FlexerNetwork *FlexerStudy::network(const std::string &wanted) const { return find(networks, wanted); }
const FlexerMachine *FlexerStudy::machine(const std::string &wanted) const { return find(machines, wanted); }

FlexerStudy read_flexer_study(const Study &study, const std::vector<std::string> &networks,
                              const std::vector<std::string> &machines) {
  FlexerStudy flexer;
  static_cast<Study &>(flexer) = study;
  const toml::table root = parse_tables(study.text, study.file);
  TableReader settings = read_table(study.file, root, "settings");
  flexer.plans = settings.count("plans");
  flexer.cloud = settings.count("cloud");
  settings.reject_unknown_keys();
  for_each_table(study.file, root, "network", [&](TableReader &reader, const toml::node &table) {
    const std::string name = reader.text("name"), model = beside(study.file, reader.text("model"));
    require_new(reader, table, flexer.networks, name);
    flexer.networks.push_back({name, is_wanted(networks, name) ? convolutions(model) : std::vector<compiler::Layer>{}});
  });
  for_each_table(study.file, root, "machine", [&](TableReader &reader, const toml::node &table) {
    FlexerMachine machine{reader.text("name"), load_machine(runtime::find_npu(beside(study.file, reader.text("npu"))))};
    require_new(reader, table, flexer.machines, machine.name);
    flexer.machines.push_back(std::move(machine));
  });
  keep_wanted(flexer.networks, networks, "--network", "network", study.name);
  keep_wanted(flexer.machines, machines, "--machine", "machine", study.name);
  return flexer;
}

} // namespace gradweave::evaluation::flexer
