#include "app/evaluation/study/table_reader.hpp"

namespace gradweave::evaluation {

namespace fs = std::filesystem;

toml::table parse_tables(std::string_view text, const fs::path &file) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error &error) {
    throw ConfigError(fmt::format("{}:{}: {}; correct the TOML syntax", file.string(), error.source().begin.line,
                                  error.description()));
  }
}

std::string beside(const fs::path &file, const std::string &name) {
  const bool path = name.find('/') != std::string::npos || fs::path(name).has_extension();
  return path ? (file.parent_path() / name).string() : name;
}

TableReader read_table(const fs::path &file, const toml::table &root, const std::string &name) {
  const toml::node *node = root.get(name);
  if (node == nullptr || !node->is_table())
    throw ConfigError(fmt::format("{}: there is no table [{}]; add it", file.string(), name));
  return {file.string(), *node->as_table(), "[" + name + "]"};
}

} // namespace gradweave::evaluation
