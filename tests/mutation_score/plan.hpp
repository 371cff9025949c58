// Which tests judge the mutants of which files.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace gradweave::mutation {

struct PlannedTest {
  std::string name;
  std::vector<std::string> command; ///< exit code 0: nothing found
  std::vector<std::string> files;   ///< patterns of fnmatch(3): it is relevant for mutants of these
};

/// Reads a TOML file with one [[test]] each: name, command, files. In commands, "{name}" stands for values["name"].
/// Throws std::runtime_error naming file, line and what is wrong.
std::vector<PlannedTest> read_plan(const std::string &file, const std::map<std::string, std::string> &values);

/// The tests that are relevant for a file, in the order of the plan. Throws std::runtime_error if there is none.
std::vector<PlannedTest> tests_of(const std::vector<PlannedTest> &plan, const std::string &file);

} // namespace gradweave::mutation
