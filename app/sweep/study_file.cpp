// Studies as files.
#include "app/sweep/study.hpp"

#include "isa/toml.hpp"
#include "sw_models/config/config_error.hpp"
#include "sw_models/config/toml_section.hpp"
#include "sw_models/config/user_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace gradweave::sweep {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<std::string_view, Walk>, 3> kWalks{
    {{"grid", Walk::kGrid}, {"list", Walk::kList}, {"random", Walk::kRandom}}};

class StudyFile {
public:
  StudyFile(const fs::path &file, const std::vector<std::string> &paths) : file_(file), paths_(paths) {}

  Study read(std::string_view text) {
    toml::table root;
    try {
      root = toml::parse(text, file_.string());
    } catch (const toml::parse_error &error) {
      refuse_config(file_.string(), error.source().begin.line, fmt::format("not TOML: {}", error.description()));
    }
    for (const auto &[key, node] : in_order(root))
      if (!is_setting(key, *node)) add(key, *node);
    if (study_.walk == Walk::kRandom && study_.count == 0) refuse(root, "walk = \"random\" needs 'points', how many");
    if (study_.walk != Walk::kRandom && study_.count != 0)
      refuse(root, "'points' is of random studies; write walk = \"random\" or leave it out");
    if (study_.axes.empty()) refuse(root, "no field has a value; write, for example, model = [\"mlp\", \"bert_tiny\"]");
    return std::move(study_);
  }

private:
  [[noreturn]] void refuse(const toml::node &node, const std::string &problem) const {
    refuse_config(file_.string(), node.source().begin.line, problem);
  }

  /// The entries as the file has them: the axes' order is that of the points.
  static std::vector<std::pair<std::string, const toml::node *>> in_order(const toml::table &table) {
    std::vector<std::pair<std::string, const toml::node *>> entries;
    for (const auto &[key, node] : table)
      entries.emplace_back(key.str(), &node);
    const auto place = [](const auto &entry) {
      const toml::source_position at = entry.second->source().begin;
      return std::pair(at.line, at.column);
    };
    std::sort(entries.begin(), entries.end(), [&](const auto &a, const auto &b) { return place(a) < place(b); });
    return entries;
  }

  std::uint64_t count(const std::string &key, const toml::node &node) const {
    const auto value = node.value_exact<std::int64_t>();
    if (!value || *value < 0 || (key == "points" && *value == 0))
      refuse(node, fmt::format("{} must be a whole number from {}", key, key == "points" ? 1 : 0));
    return static_cast<std::uint64_t>(*value);
  }

  /// What says how the values are combined, and is no field.
  bool is_setting(const std::string &key, const toml::node &node) {
    if (key == "title") {
      if (!node.is_string()) refuse(node, "title must be text");
      study_.title = node.as_string()->get();
    } else if (key == "walk") {
      const std::string name = node.value_or(std::string());
      const auto *at = std::find_if(kWalks.begin(), kWalks.end(), [&](const auto &walk) { return walk.first == name; });
      if (at == kWalks.end()) refuse(node, "walk must be \"grid\", \"list\" or \"random\"");
      study_.walk = at->second;
    } else if (key == "points") {
      study_.count = count(key, node);
    } else if (key == "seed") {
      study_.seed = count(key, node);
    } else {
      return false;
    }
    return true;
  }

  /// A field, or a table of fields: "rows" in [npu] is npu.rows.
  void add(const std::string &name, const toml::node &node) {
    if (const toml::table *table = node.as_table()) {
      for (const auto &[key, below] : in_order(*table))
        add(joined(name, key), *below);
      return;
    }
    std::vector<std::string> values;
    if (const toml::array *array = node.as_array())
      for (const toml::node &item : *array)
        values.push_back(text(name, item));
    else
      values.push_back(text(name, node));
    const std::string source = fmt::format("{}:{}", file_.string(), node.source().begin.line);
    try {
      set_axis(study_, make_axis(name, values, source), source);
    } catch (const std::invalid_argument &error) {
      throw ConfigError(error.what());
    }
  }

  /// "npu" and "rows,cols" are "npu.rows,npu.cols"; the table of settings has names as --set takes them.
  static std::string joined(const std::string &table, const std::string &keys) {
    if (table == "set") return keys;
    std::string names = table + '.';
    for (const char c : keys)
      names += c == ',' ? "," + table + '.' : std::string(1, c);
    return names;
  }

  std::string text(const std::string &name, const toml::node &node) const {
    if (node.is_string()) {
      const std::string value = node.as_string()->get();
      const bool path = std::count(paths_.begin(), paths_.end(), name) != 0 && is_path(value);
      return path && fs::path(value).is_relative() ? beside(value) : value;
    }
    if (const auto number = node.value_exact<std::int64_t>()) return fmt::format("{}", *number);
    if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
    if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
    refuse(node, fmt::format("a value of {} must be text or a number", name));
  }

  static bool is_path(const std::string &value) {
    return value.find('/') != std::string::npos || fs::path(value).has_extension();
  }
  std::string beside(const std::string &value) const {
    const fs::path path = file_.parent_path() / value;
    return path.has_parent_path() ? path.string() : "./" + path.string();
  }

  fs::path file_;
  const std::vector<std::string> &paths_;
  Study study_;
};

std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (code < 0x20 || code == 0x7f)
      out += fmt::format("\\u{:04x}", code);
    else
      out += c;
  }
  return out + '"';
}

} // namespace

Study load_study(const fs::path &file, const std::vector<std::string> &paths) {
  return parse_study(read_user_text(file, {"study", kMaxTextBytes}), file, paths);
}

Study parse_study(std::string_view text, const fs::path &file, const std::vector<std::string> &paths) {
  return StudyFile(file, paths).read(text);
}

std::string to_toml(const Study &study) {
  std::string text;
  if (!study.title.empty()) text += fmt::format("title = {}\n", quoted(study.title));
  for (const auto &[name, walk] : kWalks)
    if (walk == study.walk) text += fmt::format("walk = \"{}\"\n", name);
  if (study.walk == Walk::kRandom) text += fmt::format("points = {}\nseed = {}\n", study.count, study.seed);
  text += "[set]\n";
  for (const Axis &axis : study.axes) {
    std::vector<std::string> values;
    for (const auto &value : axis.values)
      values.push_back(quoted(fmt::format("{}", fmt::join(value, ":"))));
    text += fmt::format("{} = [{}]\n", quoted(fmt::format("{}", fmt::join(axis.fields, ","))), fmt::join(values, ", "));
  }
  return text;
}

} // namespace gradweave::sweep
