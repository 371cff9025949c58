#include "tests/mutation_score/plan.hpp"

#include "isa/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fnmatch.h>
#include <stdexcept>

namespace gradweave::mutation {

namespace {

[[noreturn]] void fail(const std::string &file, const toml::node &at, const std::string &problem) {
  throw std::runtime_error(fmt::format("{}:{}: {}", file, at.source().begin.line, problem));
}

std::vector<std::string> texts(const std::string &file, const toml::table &test, const char *name) {
  const toml::array *array = test[name].as_array();
  if (array == nullptr || array->empty()) fail(file, test, fmt::format("a [[test]] needs '{}', a list of texts", name));
  std::vector<std::string> result;
  for (const toml::node &node : *array) {
    const auto text = node.value<std::string>();
    if (!text) fail(file, node, fmt::format("'{}' holds texts only", name));
    result.push_back(*text);
  }
  return result;
}

std::string filled(std::string text, const std::map<std::string, std::string> &values) {
  for (const auto &[name, value] : values) {
    const std::string mark = "{" + name + "}";
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + value.size()))
      text.replace(at, mark.size(), value);
  }
  return text;
}

} // namespace

std::vector<PlannedTest> read_plan(const std::string &file, const std::map<std::string, std::string> &values) {
  toml::table table;
  try {
    table = toml::parse_file(file);
  } catch (const toml::parse_error &e) {
    throw std::runtime_error(fmt::format("{}:{}: {}", file, e.source().begin.line, e.description()));
  }
  const toml::array *entries = table["test"].as_array();
  if (entries == nullptr) throw std::runtime_error(fmt::format("{}: it has no [[test]]", file));
  std::vector<PlannedTest> plan;
  for (const toml::node &entry : *entries) {
    const toml::table *test = entry.as_table();
    if (test == nullptr) fail(file, entry, "'test' is a list of tables");
    const auto name = (*test)["name"].value<std::string>();
    if (!name) fail(file, entry, "a [[test]] needs the text 'name'");
    PlannedTest planned{*name, texts(file, *test, "command"), texts(file, *test, "files")};
    for (std::string &word : planned.command)
      word = filled(std::move(word), values);
    plan.push_back(std::move(planned));
  }
  return plan;
}

std::vector<PlannedTest> tests_of(const std::vector<PlannedTest> &plan, const std::string &file) {
  std::vector<PlannedTest> relevant;
  for (const PlannedTest &test : plan)
    if (std::any_of(test.files.begin(), test.files.end(),
                    [&](const std::string &pattern) { return fnmatch(pattern.c_str(), file.c_str(), 0) == 0; }))
      relevant.push_back(test);
  if (relevant.empty())
    throw std::runtime_error(
        fmt::format("no test of the plan is relevant for {}; add one, or leave the file out", file));
  return relevant;
}

} // namespace gradweave::mutation
