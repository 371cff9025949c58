#include "app/evaluation/study/study.hpp"

#include "isa/toml.hpp"
#include "runtime/run/lookup.hpp"
#include "sw_models/config/npu_config.hpp"
#include "sw_models/config/user_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

namespace gradweave::evaluation {
namespace {

namespace fs = std::filesystem;

/// One table of the file; remembers which keys it was asked for.
class Reader {
public:
  Reader(std::string file, const toml::table &table, std::string name)
      : file_(std::move(file)), table_(table), name_(std::move(name)) {}

  template <typename T> T get(std::string_view key, const char *kind) {
    const toml::node &node = require(key);
    return value<T>(node, key, kind);
  }
  std::string text(std::string_view key) { return get<std::string>(key, "a string"); }
  std::string text_or(std::string_view key, std::string_view otherwise) {
    if (table_.contains(key)) return text(key);
    known_.push_back(key);
    return std::string(otherwise);
  }
  std::uint32_t count(std::string_view key) { return get<std::uint32_t>(key, "a whole number"); }
  template <typename T> std::vector<T> list(std::string_view key, const char *kind) {
    const toml::node &node = require(key);
    const toml::array *array = node.as_array();
    if (array == nullptr || array->empty()) fail(node, fmt::format("{} must be a list of at least one item", key));
    std::vector<T> values;
    for (const toml::node &item : *array)
      values.push_back(value<T>(item, key, kind));
    return values;
  }
  void reject_unknown_keys() const {
    for (const auto &[key, node] : table_)
      if (std::find(known_.begin(), known_.end(), key.str()) == known_.end())
        fail(node, fmt::format("unknown key '{}' in {}; known keys: {}", key.str(), name_, fmt::join(known_, ", ")));
  }
  [[noreturn]] void fail(const toml::node &node, const std::string &problem) const {
    throw ConfigError(fmt::format("{}:{}: {}", file_, node.source().begin.line, problem));
  }

private:
  const toml::node &require(std::string_view key) {
    known_.push_back(key);
    if (const toml::node *node = table_.get(key)) return *node;
    fail(table_, fmt::format("{} has no '{}'; add it", name_, key));
  }
  template <typename T> T value(const toml::node &node, std::string_view key, const char *kind) const {
    if (const auto found = node.value<T>()) {
      if constexpr (std::is_arithmetic_v<T>)
        if (!(*found > T{0}) && key != "value") fail(node, fmt::format("{} must be above 0", key));
      return *found;
    }
    fail(node, fmt::format("{} must be {}", key, kind));
  }

  std::string file_;
  const toml::table &table_;
  std::string name_;
  std::vector<std::string_view> known_;
};

toml::table parse_toml(std::string_view text, const fs::path &file) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error &error) {
    throw ConfigError(fmt::format("{}:{}: {}; correct the TOML syntax", file.string(), error.source().begin.line,
                                  error.description()));
  }
}

/// Calls `read` with each table of the list [[name]].
template <typename Read>
void for_each_table(const fs::path &file, const toml::table &root, std::string_view name, const Read &read) {
  const toml::node *node = root.get(name);
  const toml::array *array = node == nullptr ? nullptr : node->as_array();
  if (array == nullptr || array->empty())
    throw ConfigError(fmt::format("{}: there is no [[{}]]; add at least one", file.string(), name));
  for (const toml::node &item : *array) {
    if (!item.is_table())
      throw ConfigError(
          fmt::format("{}:{}: {} must be tables; write [[{}]]", file.string(), item.source().begin.line, name, name));
    Reader reader(file.string(), *item.as_table(), fmt::format("[[{}]]", name));
    read(reader, item);
    reader.reject_unknown_keys();
  }
}

/// A path that the study gives relative to itself.
std::string beside(const fs::path &file, const std::string &name) {
  const bool path = name.find('/') != std::string::npos || fs::path(name).has_extension();
  return path ? (file.parent_path() / name).string() : name;
}

Reader table_of(const fs::path &file, const toml::table &root, const std::string &name) {
  const toml::node *node = root.get(name);
  if (node == nullptr || !node->is_table())
    throw ConfigError(fmt::format("{}: there is no table [{}]; add it", file.string(), name));
  return {file.string(), *node->as_table(), "[" + name + "]"};
}

void read_search(const fs::path &file, const toml::table &root, StepSearch &search) {
  Reader reader = table_of(file, root, "search");
  search.plans = reader.count("plans");
  search.step_plans = reader.count("step_plans");
  search.small_paper = reader.get<double>("small_paper", "a number");
  search.large_paper = reader.get<double>("large_paper", "a number");
  search.small_conventional = reader.get<double>("small_conventional", "a number");
  search.large_conventional = reader.get<double>("large_conventional", "a number");
  search.above_bound = reader.get<double>("above_bound", "a number");
  reader.reject_unknown_keys();
}

void read_settings(const fs::path &file, const toml::table &root, Study &study) {
  Reader reader = table_of(file, root, "settings");
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

Study load_study(const fs::path &file) { return parse_study(read_user_text(file, {"study", kMaxTextBytes}), file); }

Study parse_study(std::string_view text, const fs::path &file) {
  const toml::table root = parse_toml(text, file);
  Study study;
  study.name = file.stem().string();
  Reader top(file.string(), root, "the file");
  study.title = top.text("title");
  study.paper = top.text_or("paper", "");
  read_settings(file, root, study);
  read_search(file, root, study.search);
  std::set<std::string> names;
  for_each_table(file, root, "network", [&](Reader &reader, const toml::node &item) {
    study.networks.push_back(
        {reader.text("name"), beside(file, reader.text("small")), beside(file, reader.text("large"))});
    if (!names.insert(study.networks.back().name).second)
      reader.fail(item, fmt::format("a second network '{}'; give it another name", study.networks.back().name));
  });
  std::set<std::pair<std::string, std::string>> numbers;
  for_each_table(file, root, "published", [&](Reader &reader, const toml::node &item) {
    Published p{reader.text("figure"), reader.text("key"), reader.text("text"), reader.text_or("unit", ""),
                reader.get<double>("value", "a number")};
    if (!numbers.emplace(p.figure, p.key).second)
      reader.fail(item, fmt::format("figure {} has a second '{}'; leave one out", p.figure, p.key));
    study.published.push_back(std::move(p));
  });
  return study;
}

fs::path find_study(const std::string &name_or_path) {
  if (name_or_path.find('/') != std::string::npos || fs::path(name_or_path).extension() == ".toml") return name_or_path;
  const fs::path directory = runtime::home_directory() / "app/evaluation";
  if (fs::path file = directory / name_or_path / (name_or_path + ".toml"); !name_or_path.empty() && fs::exists(file))
    return file;
  std::set<std::string> names;
  std::error_code ignored;
  for (const fs::directory_entry &entry : fs::directory_iterator(directory, ignored))
    if (fs::exists(entry.path() / entry.path().filename().concat(".toml"))) names.insert(entry.path().filename());
  throw ConfigError(fmt::format("no evaluation '{}' in {}; there are: {}. Or give the path of a .toml file",
                                name_or_path, directory.string(), fmt::join(names, ", ")));
}

} // namespace gradweave::evaluation
