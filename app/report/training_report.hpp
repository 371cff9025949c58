// What training says, to people and to programs.
#pragma once

#include "train/trainer.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace gradweave::runtime::train {

/// What is trained, and how.
struct TrainingRun {
  std::string model, data, npu; ///< as the user gave them
  std::string backend;          ///< "golden", or what products run on
  std::string reproduce;        ///< the command that repeats the run
  graph::TrainingOptions options;
  RateSchedule rate;
  std::uint64_t seed = 1;
  std::uint64_t batch = 0; ///< samples of a micro-batch; 0: not known
  /// Why a vector unit that is there runs no operators, unless users wanted it so.
  std::string why_host = {};
  unsigned jobs = 1; ///< steps at a time
};

/// What came of it.
struct TrainingOutcome {
  std::vector<double> losses;     ///< of each step, those of a checkpoint that the run went on from, too
  std::uint64_t steps_before = 0; ///< of that; all else is of the steps behind them
  StepResult last;                ///< of the last step, or of the one that differed
  std::uint64_t compared_tensors = 0, compared_elements = 0, unchecked = 0; ///< of all steps
  std::uint64_t inside = 0;                                                 ///< likewise
  std::uint64_t cycles = 0;                                                 ///< of all steps, of what ran on a device
  std::optional<Evaluation> evaluation;
  double compile_seconds = 0, seconds = 0; ///< seconds: of the steps

  bool ok() const { return last.ok(); }
};

class TrainingReport {
public:
  TrainingReport(const TrainingRun &run, const graph::Graph &forward, const graph::TrainingGraph &step,
                 const StepExecutor &executor, std::FILE *out)
      : run_(run), forward_(forward), step_(step), executor_(executor), out_(out) {}

  /// What will be done, and the head of the table of steps. `before`: that a checkpoint has.
  void begin(std::uint64_t steps, std::uint64_t before = 0);
  /// A row, for a step now and then.
  void step(std::uint64_t number, double rate, const StepResult &result);
  /// Losses, accuracy, what ran where, what was compared and what was not, and the verdict.
  void end(const TrainingOutcome &outcome);

private:
  void shares(const TrainingOutcome &outcome);
  void cycles(const StepCycles &cycles, std::uint64_t all);
  void checks(const TrainingOutcome &outcome);

  const TrainingRun &run_;
  const graph::Graph &forward_;
  const graph::TrainingGraph &step_;
  const StepExecutor &executor_;
  std::FILE *out_;
  std::uint64_t steps_ = 0;
};

nlohmann::ordered_json to_json(const TrainingRun &run, const TrainingOutcome &outcome);

} // namespace gradweave::runtime::train
