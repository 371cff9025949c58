#include "tests/mutation_score/cpp_ast.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace gradweave::mutation {

namespace {

/// Whether what a build compiles, `compiled`, is the source `path` or a batch of files with it (cmake/Unity.cmake).
bool has_source(const std::string &compiled, const std::string &path) {
  if (compiled == path) return true;
  if (compiled.find("/Unity/") == std::string::npos) return false;
  std::ifstream in(compiled);
  for (std::string line; std::getline(in, line);)
    if (line == fmt::format("#include \"{}\"", path)) return true;
  return false;
}

/// What of a compile command decides how the source is understood.
std::string flags_of(const std::string &compile_commands, const std::string &path) {
  std::ifstream in(compile_commands);
  if (!in) throw std::runtime_error(fmt::format("cannot read {}; configure the build first", compile_commands));
  for (const nlohmann::json &entry : nlohmann::json::parse(in)) {
    if (!has_source(entry.at("file"), path)) continue;
    std::istringstream words(entry.at("command").get<std::string>());
    std::string flags;
    for (std::string word; words >> word;) {
      const std::string start = word.substr(0, 2);
      if (start == "-I" || start == "-D" || word.substr(0, 5) == "-std=") flags += " '" + word + "'";
      if (word == "-isystem" && words >> word) flags += " -isystem '" + word + "'";
    }
    return flags;
  }
  throw std::runtime_error(fmt::format("{} has no command for {}", compile_commands, path));
}

/// clang leaves out the file of a location if the location printed before it had the same one.
void complete_locations(Ast &node, std::string &file) {
  if (node.is_object() && node.contains("offset") && node.contains("col")) {
    if (node.contains("file"))
      file = node["file"];
    else
      node["file"] = file;
    return;
  }
  if (node.is_structured())
    for (Ast &child : node)
      complete_locations(child, file);
}

/// The output is one JSON object after the other.
void split(const std::string &output, const std::function<void(const Ast &)> &visit) {
  std::istringstream in(output);
  while (in >> std::ws && in.peek() == '{') {
    Ast tree;
    in >> tree;
    std::string file;
    complete_locations(tree, file);
    visit(tree);
  }
}

} // namespace

void read_ast(const std::string &root, const std::string &compile_commands, const std::string &file,
              const std::function<void(const Ast &)> &visit) {
  const std::string path = root + "/" + file;
  const char *chosen = std::getenv("GW_CLANG");
  const std::string command =
      fmt::format("{} -fsyntax-only -w -Xclang -ast-dump=json -Xclang -ast-dump-filter=gradweave{} '{}'",
                  chosen == nullptr ? "clang++-19" : chosen, flags_of(compile_commands, path), path);
  std::FILE *pipe = popen(command.c_str(), "r"); // NOLINT(cert-env33-c): a compiler of the user's choice
  if (pipe == nullptr) throw std::runtime_error("cannot run clang");
  std::string output;
  std::vector<char> block(1U << 20U);
  for (std::size_t n = 0; (n = std::fread(block.data(), 1, block.size(), pipe)) > 0;)
    output.append(block.data(), n);
  if (pclose(pipe) != 0)
    throw std::runtime_error(fmt::format(
        "{} cannot be read: install clang-19 or set GW_CLANG to a clang++; the command was {}", path, command));
  split(output, visit);
}

std::optional<AstRange> range_of(const Ast &node) {
  const auto range = node.find("range");
  if (range == node.end() || !range->contains("begin") || !range->contains("end")) return std::nullopt;
  const Ast &begin = (*range)["begin"], &end = (*range)["end"];
  if (!begin.contains("offset") || !end.contains("offset") || begin["file"] != end["file"]) return std::nullopt;
  return AstRange{begin["file"], begin["offset"], end["offset"].get<std::size_t>() + end["tokLen"].get<std::size_t>()};
}

std::string kind_of(const Ast &node) { return node.is_object() ? node.value("kind", "") : ""; }

std::string type_of(const Ast &node) {
  const auto type = node.find("type");
  return type == node.end() ? "" : type->value("qualType", "");
}

bool has_flag(const Ast &node, const char *name) {
  const auto flag = node.find(name);
  return flag != node.end() && flag->is_boolean() && flag->get<bool>();
}

} // namespace gradweave::mutation
