// The table that people read.
#pragma once

#include "runtime/run/run.hpp"

#include <cstddef>
#include <cstdio>
#include <vector>

namespace gradweave::runtime {

class TextReport {
public:
  /// Prints to `out` (stdout, or stderr if the JSON report goes to stdout).
  TextReport(const RunOptions &options, std::FILE *out) : options_(options), out_(out) {}

  /// What will run, and the head of the table.
  void begin();
  /// The rows of one layer, one per schedule.
  void layer(const std::vector<JobResult> &by_schedule);
  /// Totals, what was checked and what was not, failures, how to reproduce, and the verdict.
  void end(const RunResult &run);

private:
  void row(const JobResult &job, const JobResult &base);
  void totals(const RunResult &run);
  void speed(const RunResult &run);
  void coverage(const RunResult &run);
  void resumed(const RunResult &run);

  const RunOptions &options_;
  std::FILE *out_;
  std::size_t name_width_ = 0, shape_width_ = 0;
};

} // namespace gradweave::runtime
