#include "app/evaluation/memory/settings.hpp"

#include "app/evaluation/study/table_reader.hpp"

#include <stdexcept>

namespace gradweave::evaluation::memory {
namespace {

constexpr std::uint32_t kMostCapacities = 100000;

void read_ranges(const std::filesystem::path &file, const toml::table &root, MemoryStudy &study) {
  TableReader reader = read_table(file, root, "settings");
  study.bandwidth = reader.get<double>("bandwidth", "a number");
  study.throughput = reader.get<double>("throughput", "a number");
  study.quick_throughput = reader.get<double>("quick_throughput", "a number");
  study.fast_bandwidth = reader.get<double>("fast_bandwidth", "a number");
  study.from = reader.count("from");
  study.to = reader.count("to");
  study.step = reader.count("step");
  if (study.to < study.from)
    reader.fail(*root.get("settings"), fmt::format("from {} to {} is empty; let it ascend", study.from, study.to));
  if ((study.to - study.from) / study.step >= kMostCapacities)
    reader.fail(*root.get("settings"), fmt::format("more than {} capacities; make step larger", kMostCapacities));
  study.breakdown = reader.list<std::uint32_t>("breakdown", "a list of whole numbers");
  study.placement = reader.list<std::uint32_t>("placement", "a list of whole numbers");
  study.batches = reader.list<std::uint32_t>("batches", "a list of whole numbers");
  study.small_capacity = reader.count("small_capacity");
  study.large_capacity = reader.count("large_capacity");
  reader.reject_unknown_keys();
}

} // namespace

std::vector<std::uint64_t> MemoryStudy::capacities() const {
  std::vector<std::uint64_t> all;
  for (std::uint64_t mebibytes = from; mebibytes <= to; mebibytes += step)
    all.push_back(mebibytes << 20U);
  return all;
}

MemoryStudy read_memory_study(const Study &study, const std::vector<std::string> &networks) {
  MemoryStudy memory;
  static_cast<Study &>(memory) = study;
  const std::filesystem::path &file = study.file;
  const toml::table root = parse_tables(study.text, file);
  read_ranges(file, root, memory);
  std::vector<std::string> known;
  for_each_table(file, root, "network", [&](TableReader &reader, const toml::node &item) {
    MemoryNetwork network{reader.text("name"), beside(file, reader.text("model")), reader.count("batch")};
    if (std::find(known.begin(), known.end(), network.name) != known.end())
      reader.fail(item, fmt::format("a second network '{}'; give it another name", network.name));
    known.push_back(network.name);
    if (networks.empty() || std::find(networks.begin(), networks.end(), network.name) != networks.end())
      memory.networks.push_back(std::move(network));
  });
  for (const std::string &name : networks)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw std::invalid_argument(
          fmt::format("--network: no network '{}' in {}; there are: {}", name, study.name, fmt::join(known, ", ")));
  for_each_table(file, root, "machine", [&](TableReader &reader, const toml::node &) {
    memory.machines.push_back({reader.text("name"), reader.get<double>("throughput", "a number"),
                               reader.get<double>("capacity", "a number"),
                               reader.get<double>("bandwidth", "a number")});
  });
  for_each_table(file, root, "target", [&](TableReader &reader, const toml::node &item) {
    PlacementTarget target{reader.text("network"), reader.text("policy"), reader.count("capacity"),
                           reader.get<double>("at_least", "a number"), reader.get<double>("aim", "a number")};
    if (std::find(known.begin(), known.end(), target.network) == known.end())
      reader.fail(item, fmt::format("no network '{}'; there are: {}", target.network, fmt::join(known, ", ")));
    memory.targets.push_back(std::move(target));
  });
  return memory;
}

} // namespace gradweave::evaluation::memory
