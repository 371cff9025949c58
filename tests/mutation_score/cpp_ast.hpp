// Syntax trees of C++ sources, as clang prints them.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace gradweave::mutation {

/// Keeps the order of the output, on which the names of files in it depend.
using Ast = nlohmann::ordered_json;

/// Characters [begin, end) of a file.
struct AstRange {
  std::string file;
  std::size_t begin = 0, end = 0;
};

/// Runs clang on `file` (relative to the directory `root`), with include directories, macros and language version as
/// `compile_commands` (a compile_commands.json) has them for it. `visit` gets the tree of each namespace gradweave.
/// Every location in it has its "file". Throws std::runtime_error if clang is not there or does not accept the file.
void read_ast(const std::string &root, const std::string &compile_commands, const std::string &file,
              const std::function<void(const Ast &)> &visit);

/// Of a node's source; nothing if a macro had a part in it.
std::optional<AstRange> range_of(const Ast &node);
/// Its "kind", "" if it has none.
std::string kind_of(const Ast &node);
/// Its type as written, "" if it has none.
std::string type_of(const Ast &node);
/// Whether the flag `name` of the node is set.
bool has_flag(const Ast &node, const char *name);

} // namespace gradweave::mutation
