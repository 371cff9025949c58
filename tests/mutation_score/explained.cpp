#include "tests/mutation_score/explained.hpp"

#include "isa/toml.hpp"

#include <fmt/format.h>

#include <set>
#include <stdexcept>

namespace gradweave::mutation {

std::string fault_text(const Mutant &mutant) { return fmt::format("{} -> {}", mutant.original, mutant.mutated); }

std::map<std::string, Explanation> read_explained(const std::string &file) {
  const auto fail = [&](unsigned line, const std::string &problem) -> void {
    throw std::runtime_error(fmt::format("{}:{}: {}", file, line, problem));
  };
  std::map<std::string, Explanation> result;
  toml::table table;
  try {
    table = toml::parse_file(file);
  } catch (const toml::parse_error &e) {
    fail(e.source().begin.line, std::string(e.description()));
  }
  const toml::array *entries = table["mutant"].as_array();
  if (entries == nullptr) return result;
  for (const toml::node &entry : *entries) {
    const toml::table *fields = entry.as_table();
    const unsigned line = entry.source().begin.line;
    const auto field = [&](const char *name) {
      const auto text = fields == nullptr ? std::nullopt : (*fields)[name].value<std::string>();
      if (!text || text->empty()) fail(line, fmt::format("a [[mutant]] needs the text '{}'", name));
      return text.value_or("");
    };
    const std::string id = field("id");
    if (!result.emplace(id, Explanation{field("file"), field("fault"), field("why")}).second)
      fail(line, fmt::format("'{}' is explained twice; remove one", id));
  }
  return result;
}

std::vector<std::string> stale_explanations(const std::map<std::string, Explanation> &explained,
                                            const std::vector<Source> &sources) {
  std::set<std::string> files;
  std::map<std::string, std::string> faults; // id -> text
  for (const Source &source : sources) {
    files.insert(source.file);
    for (const std::vector<Mutant> &mutants : source.mutants)
      for (const Mutant &m : mutants)
        faults[m.id] = fault_text(m);
  }
  std::vector<std::string> stale;
  for (const auto &[id, explanation] : explained) {
    if (files.count(explanation.file) == 0) continue;
    const auto found = faults.find(id);
    if (found != faults.end() && found->second == explanation.fault) continue;
    stale.push_back(
        fmt::format("{}, '{}' in {}: the source has no such fault any more; remove the explanation, or give "
                    "it the id that the report prints now",
                    id, explanation.fault, explanation.file));
  }
  return stale;
}

} // namespace gradweave::mutation
