#include "app/evaluation/study/layer_study.hpp"

#include "app/evaluation/study/table_reader.hpp"
#include "sw_models/config/user_file.hpp"

#include <set>

namespace gradweave::evaluation {
namespace {

namespace fs = std::filesystem;

std::string read_known(const fs::path &study, const fs::path &known) {
  try {
    return read_user_text(known, {"file of known plans", kMaxTextBytes});
  } catch (const ConfigError &e) {
    throw ConfigError(fmt::format("{}: known of [search]: {}", study.string(), e.what()));
  }
}

void read_search(const fs::path &file, const toml::table &root, StepSearch &search) {
  TableReader reader = read_table(file, root, "search");
  search.effort.layer_plans = reader.count("plans");
  search.effort.step_plans = reader.count("step_plans");
  const std::string start = reader.text_or("start", "reuse");
  if (start != "reuse" && start != "placement")
    throw ConfigError(fmt::format("{}: start of [search] is '{}'; make it reuse or placement", file.string(), start));
  if (start == "placement") search.effort.start = compiler::StepStart::kPlacement;
  search.known_file = reader.text_or("known", "");
  if (!search.known_file.empty()) {
    const fs::path known = file.parent_path() / search.known_file;
    search.known = parse_plans_file(read_known(file, known), known);
  }
  search.small_paper = reader.get<double>("small_paper", "a number");
  search.large_paper = reader.get<double>("large_paper", "a number");
  search.small_conventional = reader.get<double>("small_conventional", "a number");
  search.large_conventional = reader.get<double>("large_conventional", "a number");
  search.above_bound = reader.get<double>("above_bound", "a number");
  reader.reject_unknown_keys();
}

void read_settings(const fs::path &file, const toml::table &root, LayerStudy &study) {
  TableReader reader = read_table(file, root, "settings");
  study.small_npu = beside(file, reader.text("small_npu"));
  for (const std::string &npu : reader.list<std::string>("large_npus", "a list of names"))
    study.large_npus.push_back(beside(file, npu));
  study.small_batch = reader.count("small_batch");
  study.large_batch = reader.count("large_batch");
  study.batches = reader.list<std::uint32_t>("batches", "a list of whole numbers");
  study.bandwidths = reader.list<double>("bandwidths", "a list of factors");
  study.parts = reader.list<std::uint32_t>("parts", "a list of whole numbers");
  study.plans = reader.count("plans");
  reader.reject_unknown_keys();
}

} // namespace

LayerStudy read_layer_study(const Study &study) {
  LayerStudy layers;
  static_cast<Study &>(layers) = study;
  const fs::path &file = study.file;
  const toml::table root = parse_tables(study.text, file);
  read_settings(file, root, layers);
  read_search(file, root, layers.search);
  std::set<std::string> names;
  for_each_table(file, root, "network", [&](TableReader &reader, const toml::node &item) {
    layers.networks.push_back(
        {reader.text("name"), beside(file, reader.text("small")), beside(file, reader.text("large"))});
    if (!names.insert(layers.networks.back().name).second)
      reader.fail(item, fmt::format("a second network '{}'; give it another name", layers.networks.back().name));
  });
  return layers;
}

} // namespace gradweave::evaluation
