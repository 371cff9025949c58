// The table of a simulation: cycles, and what they went into.
#pragma once

#include "app/report/summary.hpp"
#include "runtime/run/run.hpp"

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace gradweave::runtime {

class SimulationReport {
public:
  /// Prints to `out` (stdout, or stderr if another output goes to stdout).
  SimulationReport(const RunOptions &options, std::FILE *out);

  /// What will run, and the head of the table.
  void begin();
  /// The rows of one layer, one per schedule.
  void layer(const std::vector<JobResult> &by_schedule);
  /// Totals, speed and memory, failures, how to reproduce, and the verdict.
  void end(const RunResult &run);

private:
  void row(const std::string &name, const std::string &shape, const std::string &schedule, const Totals &work,
           const Totals &base);
  void speed(const RunResult &run);

  const RunOptions &options_;
  std::FILE *out_;
  std::size_t name_width_ = 9, shape_width_ = 9;
};

} // namespace gradweave::runtime
