#include "tests/mutation_score/catalog.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <stdexcept>

namespace gradweave::mutation {

using nlohmann::json;

std::string language_name(const std::string &file) {
  return language_of(file) == Language::kSystemVerilog ? "rtl" : "cpp";
}

void write_catalog(const std::string &file, const Catalog &catalog) {
  json mutants = json::array();
  for (const Mutant &m : catalog.mutants)
    mutants.push_back({{"id", m.id},
                       {"number", m.number},
                       {"file", m.file},
                       {"line", m.line},
                       {"scope", m.scope},
                       {"kind", m.kind},
                       {"original", m.original},
                       {"mutated", m.mutated},
                       {"context", m.context}});
  std::ofstream out(file);
  out << json{{"seed", catalog.seed}, {"possible", catalog.possible}, {"mutants", mutants}}.dump(1) << '\n';
  if (!out.flush()) throw std::runtime_error(fmt::format("cannot write the catalog {}", file));
}

Catalog read_catalog(const std::string &file) {
  try {
    std::ifstream in(file);
    if (!in) throw std::runtime_error("it cannot be opened");
    const json from = json::parse(in);
    Catalog catalog;
    catalog.seed = from.at("seed");
    catalog.possible = from.at("possible").get<std::map<std::string, std::size_t>>();
    for (const json &m : from.at("mutants"))
      catalog.mutants.push_back({m.at("id"), m.at("number"), m.at("file"), m.at("line"), m.at("scope"), m.at("kind"),
                                 m.at("original"), m.at("mutated"), m.at("context")});
    return catalog;
  } catch (const std::exception &e) {
    throw std::runtime_error(
        fmt::format("the catalog of mutants {}: {}; scripts/mutation.sh makes it", file, e.what()));
  }
}

} // namespace gradweave::mutation
