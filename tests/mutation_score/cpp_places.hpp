// Where C++ can be given faults, by the syntax tree of clang.
#pragma once

#include "tests/mutation_score/place.hpp"

#include <map>
#include <string>
#include <vector>

namespace gradweave::mutation {

/// The places of `files` (relative to the directory `root`) by file. Sources are compiled with the flags that
/// `compile_commands` (a compile_commands.json) has for them; headers are read as the sources include them.
///
/// Expressions inside functions that run at run time count. Constant expressions, template arguments, case labels,
/// bounds, default arguments and what macros expand to do not.
/// Throws std::runtime_error if clang is not there or does not accept a source.
std::map<std::string, std::vector<Place>> cpp_places(const std::string &root, const std::string &compile_commands,
                                                     const std::vector<std::string> &files);

} // namespace gradweave::mutation
