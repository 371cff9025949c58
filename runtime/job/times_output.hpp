// Where a run of many layers writes the times of its commands: as tables and as timelines.
#pragma once

#include "runtime/job/job_timeline.hpp"

#include <memory>
#include <optional>
#include <string>

namespace gradweave::runtime {

/// The table of all layers (command_trace.hpp), and their timeline, in which they follow one another; or a file for
/// each layer and schedule.
class TimesOutput {
public:
  /// Files, directories (names_directory()), or empty for none. Throws OutputError.
  TimesOutput(const std::string &table, const std::string &timeline);

  bool asked() const { return !table_.empty() || !timeline_.empty(); }
  /// Adds a job's run, behind those before it. Throws OutputError, timeline::TimelineError.
  void add(const JobSpec &spec, const compiler::Compiled &layer, const std::vector<timing::CommandTimes> &times,
           std::uint64_t cycles);
  /// Makes files of all layers appear; those of single ones have appeared already. Throws OutputError.
  void commit();

private:
  void add_to_table(const JobSpec &spec, const compiler::Compiled &layer,
                    const std::vector<timing::CommandTimes> &times);

  std::string table_, timeline_;
  std::unique_ptr<OutputFile> table_file_, timeline_file_; ///< null if there is a file for each job
  std::optional<timeline::Timeline> drawing_;              ///< in timeline_file_, from the first job on
  std::uint64_t offset_ = 0;                               ///< where the next job begins in it
};

} // namespace gradweave::runtime
