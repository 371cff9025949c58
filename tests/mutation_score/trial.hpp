// Runs tests on a mutant.
#pragma once

#include "tests/mutation_score/plan.hpp"

#include <map>
#include <string>
#include <vector>

namespace gradweave::mutation {

enum class Outcome { kPassed, kFailed, kTimeout };

struct TestRun {
  Outcome outcome = Outcome::kPassed;
  std::string how; ///< of a failure: exit code or signal, and the first line that says why
  double cpu_seconds = 0, wall_seconds = 0;
};

struct Limits {
  double cpu_seconds = 600;  ///< of one process
  double wall_seconds = 600; ///< of all of them
};

/// Runs a command with GW_MUTANT=`number`; what it prints goes to the file `log`. It cannot fill the disk, and is
/// the first to go if memory runs out. Throws std::runtime_error if it cannot be started.
TestRun run_test(const PlannedTest &test, unsigned number, const Limits &limits, const std::string &log);

/// What the tests said about a mutant.
struct Verdict {
  Outcome outcome = Outcome::kPassed; ///< kPassed: it survived all of them
  std::string test, how;              ///< of the one that did not pass
  double cpu_seconds = 0;
};

/// Runs the tests until one does not pass. `limits`: by name of the test.
Verdict try_mutant(const std::vector<PlannedTest> &tests, unsigned number, const std::map<std::string, Limits> &limits,
                   const std::string &log);

/// Verdicts as JSON, for the journal.
std::string to_json(const Verdict &verdict);
Verdict verdict_from_json(const std::string &text);

/// "survived", "killed", "timeout"
std::string outcome_name(Outcome outcome);

} // namespace gradweave::mutation
