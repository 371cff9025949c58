#include "tests/mutation_score/score.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace gradweave::mutation {

namespace {

double fraction(std::size_t part, std::size_t of) {
  return of == 0 ? 1 : static_cast<double>(part) / static_cast<double>(of);
}

std::string row(const std::string &name, const Tally &t) {
  return fmt::format("{:<36} {:>6} {:>7} {:>8} {:>10} {:>12} {:>7.1f} % {:>6.1f} %\n", name, t.total(), t.killed,
                     t.timeout, t.explained, t.unexplained, 100 * t.raw(), 100 * t.score());
}

std::string table(const std::string &title, const std::map<std::string, Tally> &rows) {
  std::string text = fmt::format("{:<36} {:>6} {:>7} {:>8} {:>10} {:>12} {:>9} {:>8}\n", title, "total", "killed",
                                 "timeout", "explained", "unexplained", "raw", "score");
  for (const auto &[name, tally] : rows)
    text += row(name, tally);
  return text + '\n';
}

nlohmann::json to_json(const Tally &t) {
  return {{"total", t.total()},           {"killed", t.killed}, {"timeout", t.timeout}, {"explained", t.explained},
          {"unexplained", t.unexplained}, {"raw", t.raw()},     {"score", t.score()}};
}

} // namespace

double Tally::raw() const { return fraction(killed + timeout, total()); }
double Tally::score() const { return fraction(killed + timeout, total() - explained); }

std::string describe(const Mutant &m) {
  return fmt::format("{} {}:{} in {} ({})\n    {}\n  - {}\n  + {}\n", m.id, m.file, m.line, m.scope, m.kind, m.context,
                     m.original, m.mutated);
}

Score::Score(std::vector<Judged> judged, const std::map<std::string, Explanation> &explained)
    : judged_(std::move(judged)), explained_(explained) {}

void Score::add(Tally &tally, const Judged &j) const {
  switch (j.verdict.outcome) {
  case Outcome::kFailed:
    ++tally.killed;
    break;
  case Outcome::kTimeout:
    ++tally.timeout;
    break;
  case Outcome::kPassed:
    ++(is_explained(j) ? tally.explained : tally.unexplained);
    break;
  }
}

template <class Key> std::map<std::string, Tally> Score::tallies(Key key) const {
  std::map<std::string, Tally> result;
  for (const Judged &j : judged_)
    add(result[key(j.mutant)], j);
  return result;
}

Tally Score::all(const std::string &language) const {
  return tallies([](const Mutant &m) { return language_name(m.file); })[language];
}

std::size_t Score::unexplained() const { return all("rtl").unexplained + all("cpp").unexplained; }

std::vector<std::string> Score::disproved() const {
  std::vector<std::string> result;
  for (const Judged &j : judged_)
    if (is_explained(j) && j.verdict.outcome != Outcome::kPassed)
      result.push_back(fmt::format("{} is explained as changing nothing, but the test '{}' sees it ({})", j.mutant.id,
                                   j.verdict.test, j.verdict.how));
  return result;
}

std::string Score::survivors() const {
  std::string text;
  for (const Judged &j : judged_) {
    if (j.verdict.outcome != Outcome::kPassed) continue;
    const auto found = explained_.find(j.mutant.id);
    text += fmt::format("survivor {}  {}\n", describe(j.mutant),
                        found == explained_.end() ? "UNEXPLAINED" : "explained: " + found->second.why);
  }
  return text;
}

std::string Score::text() const {
  return survivors() + "\n" + table("file", tallies([](const Mutant &m) { return m.file; })) +
         table("kind", tallies([](const Mutant &m) { return language_name(m.file) + " " + m.kind; })) +
         table("language", tallies([](const Mutant &m) { return language_name(m.file); }));
}

std::string Score::json(const Catalog &catalog) const {
  nlohmann::json mutants = nlohmann::json::array(), tally;
  for (const auto &[language, t] : tallies([](const Mutant &m) { return language_name(m.file); }))
    tally[language] = to_json(t);
  for (const Judged &j : judged_) {
    const auto found = explained_.find(j.mutant.id);
    mutants.push_back({{"id", j.mutant.id},
                       {"file", j.mutant.file},
                       {"line", j.mutant.line},
                       {"kind", j.mutant.kind},
                       {"fault", fault_text(j.mutant)},
                       {"outcome", outcome_name(j.verdict.outcome)},
                       {"test", j.verdict.test},
                       {"how", j.verdict.how},
                       {"explanation", found == explained_.end() ? "" : found->second.why}});
  }
  return nlohmann::json{{"seed", catalog.seed}, {"possible", catalog.possible}, {"score", tally}, {"mutants", mutants}}
             .dump(1, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

} // namespace gradweave::mutation
