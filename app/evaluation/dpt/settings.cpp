#include "app/evaluation/dpt/settings.hpp"

#include "app/evaluation/study/table_reader.hpp"
#include "base/text/split.hpp"
#include "sw_models/config/user_file.hpp"

#include <charconv>
#include <sstream>
#include <stdexcept>

namespace gradweave::evaluation::dpt {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCycleColumns = 5;

/// [rows, columns] of an array.
partitioned::Array read_array(TableReader &reader, const toml::node &item, std::string_view key) {
  const auto sides = reader.list<std::uint32_t>(key, "a list of whole numbers");
  if (sides.size() != 2) reader.fail(item, fmt::format("{} has {} numbers; write [rows, columns]", key, sides.size()));
  return {sides[0], sides[1]};
}

void check_divided(TableReader &reader, const toml::node &node, const DptStudy &study) {
  for (const std::uint32_t devices : study.devices)
    for (const std::uint32_t batch : study.batches)
      if (batch % devices != 0)
        reader.fail(node, fmt::format("a mini-batch of {} is not divisible by {} devices; take a multiple of these",
                                      batch, devices));
}

void read_settings(const fs::path &file, const toml::table &root, DptStudy &study) {
  TableReader reader = read_table(file, root, "settings");
  study.batches = reader.list<std::uint32_t>("batches", "a list of whole numbers");
  study.devices = reader.list<std::uint32_t>("devices", "a list of whole numbers");
  study.exchange_cycles = reader.get<double>("exchange_cycles", "a number");
  study.baseline = reader.text("baseline");
  study.breakdown = reader.list<std::uint32_t>("breakdown", "a list of whole numbers");
  study.breakdown_case = reader.text("breakdown_case");
  study.breakdown_devices = reader.count("breakdown_devices");
  study.breakdown_network = reader.text("breakdown_network");
  reader.reject_unknown_keys();
  check_divided(reader, *root.get("settings"), study);
}

void read_cases(const fs::path &file, const toml::table &root, DptStudy &study) {
  for_each_table(file, root, "case", [&](TableReader &reader, const toml::node &item) {
    study.cases.push_back({reader.text("name"), read_array(reader, item, "storage"), read_array(reader, item, "host"),
                           reader.text("storage_npu"), reader.text("host_npu")});
  });
  for (const std::string &name : {study.baseline, study.breakdown_case}) {
    std::vector<std::string> known;
    for (const Case &one : study.cases)
      known.push_back(one.name);
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw ConfigError(fmt::format("{}: no case '{}'; there are: {}", file.string(), name, fmt::join(known, ", ")));
  }
}

void read_recommendation(const fs::path &file, const toml::table &root, DptStudy &study) {
  TableReader reader = read_table(file, root, "recommendation");
  partitioned::Recommendation &r = study.recommendation;
  r.batch = reader.count("batch");
  r.vectors = reader.count("vectors");
  r.word_bytes = reader.get<double>("word_bytes", "a number");
  r.link_rate = reader.get<double>("link_rate", "a number");
  r.storage_rate = reader.get<double>("storage_rate", "a number");
  r.fixed_seconds = reader.get<double>("fixed_seconds", "a number");
  study.recommendation_block = reader.get<double>("block_bytes", "a number");
  study.dimensions = reader.list<std::uint32_t>("dimensions", "a list of whole numbers");
  study.breakdown_dimension = reader.count("breakdown_dimension");
  study.recommendation_model = beside(file, reader.text("model"));
  reader.reject_unknown_keys();
}

/// Of each case both NPUs have to be there, with all numbers of images, and all layers that one of them has.
void check_measured(const fs::path &file, const DptStudy &study) {
  const std::map<std::string, partitioned::LayerCycles> *first = nullptr;
  const auto check = [&](const std::string &npu, std::uint32_t images, const std::string &name) {
    const auto found = study.measured.find(npu);
    if (found == study.measured.end())
      throw ConfigError(
          fmt::format("{}: no cycles of NPU '{}', which case {} names; add them", file.string(), npu, name));
    const auto layers = found->second.find(images);
    if (layers == found->second.end())
      throw ConfigError(
          fmt::format("{}: no cycles of {} images at a time on NPU '{}'; add them", file.string(), images, npu));
    if (first == nullptr) first = &layers->second;
    for (const auto &[layer, cycles] : *first)
      if (layers->second.count(layer) == 0)
        throw ConfigError(fmt::format("{}: no cycles of layer '{}', {} images at a time, on NPU '{}'; add them",
                                      file.string(), layer, images, npu));
  };
  for (const Case &one : study.cases) {
    for (const std::uint32_t micro : study.measured_micros) {
      check(one.storage_npu, micro, one.name);
      for (const std::uint32_t devices : study.devices)
        check(one.host_npu, micro * devices, one.name);
    }
    check(one.host_npu, study.measured_group, one.name);
    check(one.host_npu, study.measured_whole, one.name);
  }
}

void read_beyond(const fs::path &file, const toml::table &root, DptStudy &study) {
  TableReader reader = read_table(file, root, "beyond");
  study.pipeline_batches = reader.list<std::uint32_t>("batches", "a list of whole numbers");
  study.search.micros = reader.list<std::uint32_t>("micros", "a list of whole numbers");
  study.search.most_depth = reader.count("most_depth");
  const fs::path cycles = beside(file, reader.text("cycles"));
  study.measured_network = reader.text("cycles_network");
  study.measured_micros = reader.list<std::uint32_t>("cycles_micros", "a list of whole numbers");
  study.measured_group = reader.count("cycles_group");
  study.measured_whole = reader.count("cycles_whole");
  partitioned::Links &links = study.links;
  for (const auto &[key, value] : {std::pair{"device_rate", &links.device_rate},
                                   {"root_rate", &links.root_rate},
                                   {"latency", &links.latency},
                                   {"flash_rate", &links.flash_rate},
                                   {"flash_latency", &links.flash_latency},
                                   {"block_bytes", &links.block_bytes},
                                   {"map_bytes", &links.map_bytes},
                                   {"weight_bytes", &links.weight_bytes},
                                   {"image_bytes", &links.image_bytes}})
    *value = reader.get<double>(key, "a number");
  reader.reject_unknown_keys();
  study.measured = parse_cycles(read_user_text(cycles, {"list of cycles", kMaxTextBytes}), cycles.string());
  check_measured(cycles, study);
}

double cycles_of(const std::string &cell, const std::string &file, std::size_t line, const char *field) {
  std::uint64_t value = 0;
  const char *end = cell.data() + cell.size();
  const auto [stop, error] = std::from_chars(cell.data(), end, value);
  if (error != std::errc() || stop != end || value == 0)
    throw ConfigError(fmt::format("{}:{}: {} = '{}' must be a whole number above 0", file, line, field, cell));
  return static_cast<double>(value);
}

} // namespace

const Case &DptStudy::case_of(const std::string &wanted) const {
  for (const Case &one : cases)
    if (one.name == wanted) return one;
  throw std::logic_error(fmt::format("no case '{}'", wanted));
}

MeasuredCycles parse_cycles(std::string_view text, const std::string &file) {
  MeasuredCycles all;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string> cells = split(line, ',');
    if (cells.size() != kCycleColumns)
      throw ConfigError(
          fmt::format("{}:{}: {} fields; write npu,batch,layer,forward,backward", file, number, cells.size()));
    const double images = cycles_of(cells[1], file, number, "batch");
    const partitioned::LayerCycles cycles{cycles_of(cells[3], file, number, "forward") / images,
                                          cycles_of(cells[4], file, number, "backward") / images, 0};
    if (!all[cells[0]][static_cast<std::uint32_t>(images)].emplace(cells[2], cycles).second)
      throw ConfigError(
          fmt::format("{}:{}: a second line of layer '{}', {} images at a time, on NPU '{}'; leave one out", file,
                      number, cells[2], images, cells[0]));
  }
  return all;
}

DptStudy read_dpt_study(const Study &study, const std::vector<std::string> &networks) {
  DptStudy dpt;
  static_cast<Study &>(dpt) = study;
  const fs::path &file = study.file;
  const toml::table root = parse_tables(study.text, file);
  read_settings(file, root, dpt);
  read_cases(file, root, dpt);
  read_recommendation(file, root, dpt);
  read_beyond(file, root, dpt);
  std::vector<std::string> known;
  for_each_table(file, root, "network", [&](TableReader &reader, const toml::node &item) {
    DptNetwork network{reader.text("name"), beside(file, reader.text("model"))};
    if (std::find(known.begin(), known.end(), network.name) != known.end())
      reader.fail(item, fmt::format("a second network '{}'; give it another name", network.name));
    known.push_back(network.name);
    if (networks.empty() || std::find(networks.begin(), networks.end(), network.name) != networks.end())
      dpt.networks.push_back(std::move(network));
  });
  for (const std::string &name : networks)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw std::invalid_argument(
          fmt::format("--network: no network '{}' in {}; there are: {}", name, study.name, fmt::join(known, ", ")));
  return dpt;
}

} // namespace gradweave::evaluation::dpt
