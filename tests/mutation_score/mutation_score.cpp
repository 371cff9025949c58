// gw_mutation_score: runs the relevant tests on every mutant of a catalog and says how many they find.
#include "tests/mutation_score/score.hpp"

#include "base/file/journal.hpp"
#include "base/process/process_pool.hpp"
#include "base/process/progress.hpp"
#include "base/process/stopwatch.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

namespace {

using namespace gradweave;
using namespace gradweave::mutation;
namespace fs = std::filesystem;

struct Arguments {
  std::string catalog, plan, explained, work, json, only, language;
  std::vector<std::string> values;
  unsigned jobs = 2;
  std::size_t sample = 0;
  std::uint64_t seed = 1;
  double budget = 0, threshold = 0;
  bool fresh = false, quiet = false;
};

std::string text_of(const std::string &file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::map<std::string, std::string> values_of(const Arguments &a) {
  std::map<std::string, std::string> values;
  for (const std::string &value : a.values) {
    const std::size_t sign = value.find('=');
    if (sign == std::string::npos) throw std::runtime_error(fmt::format("--set {}: expected NAME=VALUE", value));
    values[value.substr(0, sign)] = value.substr(sign + 1);
  }
  return values;
}

/// Those asked for: one, a language's, a random sample of it, all.
std::vector<Mutant> wanted(const Arguments &a, const Catalog &catalog) {
  std::vector<Mutant> mutants = catalog.mutants;
  const auto unwanted = [&](const Mutant &m) {
    return (!a.only.empty() && m.id != a.only) || (!a.language.empty() && language_name(m.file) != a.language);
  };
  mutants.erase(std::remove_if(mutants.begin(), mutants.end(), unwanted), mutants.end());
  if (mutants.empty())
    throw std::runtime_error(fmt::format("{} has no such mutant; its ids are in {}", a.only + a.language, a.catalog));
  // In random order, so that what a budget has room for is a sample too.
  const auto key = [&](const Mutant &m) { return hash_of(fmt::format("{}\n{}", a.seed, m.id)); };
  std::sort(mutants.begin(), mutants.end(), [&](const Mutant &x, const Mutant &y) { return key(x) < key(y); });
  if (a.sample != 0 && a.sample < mutants.size()) mutants.resize(a.sample);
  return mutants;
}

/// Runs the tests that are needed with no mutant on: they have to pass. Limits follow from the time that they take.
std::map<std::string, Limits> baseline(const Arguments &a, const std::vector<PlannedTest> &plan,
                                       const std::vector<Mutant> &mutants) {
  std::set<std::string> needed;
  for (const Mutant &m : mutants)
    for (const PlannedTest &test : tests_of(plan, m.file))
      needed.insert(test.name);
  std::map<std::string, Limits> limits;
  for (const PlannedTest &test : plan) {
    if (needed.count(test.name) == 0) continue;
    const std::string log = (fs::path(a.work) / "baseline.log").string();
    const TestRun run = run_test(test, 0, {}, log);
    if (run.outcome != Outcome::kPassed)
      throw std::runtime_error(
          fmt::format("'{}' fails without a mutant ({}), so that nothing can be concluded from it; see {}", test.name,
                      run.how, log));
    limits[test.name] = {3 + 4 * run.cpu_seconds, 60 + 20 * run.wall_seconds};
    if (!a.quiet) fmt::print(stderr, "without a mutant: {:<40} {:6.2f} s CPU\n", test.name, run.cpu_seconds);
  }
  return limits;
}

std::vector<Judged> judge(const Arguments &a, const std::vector<PlannedTest> &plan,
                          const std::vector<Mutant> &mutants) {
  const SignalGuard signals;
  const Stopwatch watch;
  const auto limits = baseline(a, plan, mutants);
  // Verdicts hold for one build and one plan.
  const std::uint64_t fingerprint = hash_of(text_of(a.catalog) + text_of(a.plan));
  Journal journal(fs::path(a.work) / fmt::format("journal-{:016x}.jsonl", fingerprint),
                  "name another directory with --work");
  if (a.fresh) journal.clear();

  std::vector<Judged> judged;
  std::vector<Mutant> open;
  for (const Mutant &m : mutants) {
    if (const std::string *known = journal.find(m.id); known != nullptr && a.only.empty())
      judged.push_back({m, verdict_from_json(*known)});
    else
      open.push_back(m);
  }
  std::vector<Task> tasks;
  std::vector<std::size_t> order;
  for (const Mutant &m : open) {
    order.push_back(tasks.size());
    tasks.emplace_back([&, m](const std::function<void(double)> &) {
      const fs::path log = fs::path(a.work) / (m.id + ".log");
      const Verdict verdict = try_mutant(tests_of(plan, m.file), m.number, limits, log.string());
      if (a.only.empty()) fs::remove(log);
      return to_json(verdict);
    });
  }
  ProgressDisplay display(std::vector<double>(open.size(), 1), a.quiet);
  std::string problem;
  PoolEvents events;
  events.starting = [](std::size_t) {};
  events.progress = [](std::size_t, double) {};
  events.tick = [&] { display.tick(); };
  events.ended = [&](std::size_t task, const TaskEnd &end) {
    if (!end.completed) {
      problem = fmt::format("{}: {}", open[task].id, end.problem);
      return false;
    }
    journal.append(open[task].id, end.result);
    judged.push_back({open[task], verdict_from_json(end.result)});
    const bool survived = judged.back().verdict.outcome == Outcome::kPassed;
    display.finish(task, survived ? "survivor " + open[task].id : "");
    return a.budget <= 0 || watch.wall_seconds() < a.budget;
  };
  run_tasks(tasks, order, a.jobs, signals, events);
  display.clear();
  if (!problem.empty()) throw std::runtime_error(problem);
  return judged;
}

void show_one(const Arguments &a, const Judged &j) {
  fmt::print("{}{}{}{}\n", describe(j.mutant), outcome_name(j.verdict.outcome),
             j.verdict.test.empty() ? "" : " by " + j.verdict.test, j.verdict.how.empty() ? "" : ": " + j.verdict.how);
  fmt::print("by hand: GW_MUTANT={} in the environment of a test of {}\n", j.mutant.number, a.plan);
}

int run(const Arguments &a) {
  fs::create_directories(a.work);
  const Catalog catalog = read_catalog(a.catalog);
  const auto explained = a.explained.empty() ? std::map<std::string, Explanation>{} : read_explained(a.explained);
  const std::vector<Mutant> mutants = wanted(a, catalog);
  std::vector<Judged> judged = judge(a, read_plan(a.plan, values_of(a)), mutants);
  std::sort(judged.begin(), judged.end(), [](const Judged &x, const Judged &y) {
    return std::tie(x.mutant.file, x.mutant.line, x.mutant.id) < std::tie(y.mutant.file, y.mutant.line, y.mutant.id);
  });
  if (!a.only.empty()) {
    show_one(a, judged.at(0));
    return 0;
  }
  const Score score(judged, explained);
  fmt::print("{}", score.text());
  if (!a.json.empty()) {
    std::ofstream out(a.json);
    if (!(out << score.json(catalog)).flush()) throw std::runtime_error(fmt::format("cannot write {}", a.json));
  }
  bool good = true;
  for (const std::string &message : score.disproved()) {
    fmt::print("error: {}: {}; remove the explanation\n", a.explained, message);
    good = false;
  }
  for (const char *language : {"rtl", "cpp"}) {
    const Tally tally = score.all(language);
    if (tally.total() == 0) continue;
    const bool enough = 100 * tally.score() > a.threshold;
    fmt::print("{}: {} of {} mutants killed, raw score {:.1f} %; without {} explained ones {:.1f} % ({} {:.1f} %)\n",
               language, tally.killed + tally.timeout, tally.total(), 100 * tally.raw(), tally.explained,
               100 * tally.score(), enough ? "above" : "NOT above", a.threshold);
    good = good && enough;
  }
  if (judged.size() < mutants.size())
    fmt::print("the budget of {:.0f} s had room for {} of {} mutants, seed {}\n", a.budget, judged.size(),
               mutants.size(), a.seed);
  return good ? 0 : 1;
}

} // namespace

int main(int argc, char *argv[]) {
  Arguments a;
  CLI::App app{"Mutation score: how many of the built-in faults the tests find"};
  app.add_option("--catalog", a.catalog, "mutants that are built in, from gw_mutate")->required();
  app.add_option("--plan", a.plan, "TOML file: which tests judge which files")->required();
  app.add_option("--set", a.values, "NAME=VALUE for {NAME} in the plan's commands");
  app.add_option("--explained", a.explained, "TOML file of survivors that are explained");
  app.add_option("--work", a.work, "directory for journal and logs")->required();
  app.add_option("--json", a.json, "file for the report as JSON; of several the last")->take_last();
  app.add_option("--jobs", a.jobs, "mutants at a time")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--only", a.only, "the id of one mutant: try it again and show it; its log stays in --work");
  app.add_option("--language", a.language, "rtl or cpp only")->check(CLI::IsMember({"rtl", "cpp"}));
  app.add_option("--sample", a.sample, "so many mutants, drawn at random; 0: all")->capture_default_str();
  app.add_option("--seed", a.seed, "of that draw, and of the order")->capture_default_str();
  app.add_option("--budget", a.budget, "seconds after which no further mutant begins; 0: none")->capture_default_str();
  app.add_option("--threshold", a.threshold, "per cent: exit code 1 unless each score is above it")
      ->capture_default_str();
  app.add_flag("--fresh", a.fresh, "forget the verdicts of earlier runs");
  app.add_flag("--quiet", a.quiet, "no progress");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(a);
  } catch (const Interrupted &e) {
    fmt::print(stderr, "{}; the same command goes on from here\n", e.what());
    return 130;
  } catch (const std::exception &e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return 2;
  }
}
