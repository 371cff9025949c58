// Long runs leave a record outside the working directory: finished jobs, so that an interrupted run goes on where it
// was, and how far it is, so that it can be watched from elsewhere.
#pragma once

#include "base/process/progress.hpp"
#include "runtime/record/estimate.hpp"
#include "runtime/record/run_options.hpp"

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gradweave {
class Journal;
}

namespace gradweave::runtime {

/// Where records are: $XDG_STATE_HOME/gradweave/cosim, else $HOME/.local/state/gradweave/cosim. Throws OutputError if
/// neither is set.
std::filesystem::path records_directory();

enum class RunState {
  kRunning,
  kInterrupted, ///< its process is gone, and it had not ended
  kEnded
};

/// What status.json of a record says.
struct RecordedRun {
  std::string id;
  std::filesystem::path directory;
  RunState state = RunState::kInterrupted;
  std::string command; ///< that repeats it
  std::string host;    ///< whose process it is
  pid_t pid = 0;
  bool background = false;
  std::string started, updated; ///< UTC
  Progress progress;
  Outcome outcome = Outcome::kPass; ///< if it has ended
  std::string npu, backend;         ///< what `cycles_per_second` is of: fingerprint() and name
  double cycles_per_second = 0;     ///< 0: no job has ended
};

/// The run that `text`, the contents of a status.json, describes, without id and directory; kInterrupted unless it says
/// that the run ended. Throws nlohmann::json::exception or std::invalid_argument if it is no status.
RecordedRun parse_status(const std::string &text);

/// All records, the latest last. What is no record, or not readable, is left out.
std::vector<RecordedRun> recorded_runs();
/// The one called `id`; throws std::invalid_argument listing what there is.
RecordedRun recorded_run(const std::string &id);
/// Asks the process of a running run to end, and waits until it has. Throws std::runtime_error if it does not or
/// cannot.
void stop_run(const RecordedRun &run);

/// The speed of the latest run with this NPU and backend that was recorded on this machine, else built_in_speed().
SimulationSpeed known_speed(const Machine &npu, Backend backend);

/// What the record of such a run is called.
std::string run_id(const RunOptions &options);

/// The record of this process's run.
class RunRecord {
public:
  /// Opens the record of such a run, or makes it. Jobs that an earlier run finished are dropped if `fresh`. From here
  /// on the process takes the Verilated NPU from a copy in the record, so that a build meanwhile changes nothing.
  /// Throws JournalInUse if another process runs it, OutputError if nothing can be written.
  RunRecord(const RunOptions &options, bool fresh);
  ~RunRecord();
  RunRecord(const RunRecord &) = delete;
  RunRecord &operator=(const RunRecord &) = delete;

  const std::string &id() const { return now_.id; }
  const std::filesystem::path &directory() const { return now_.directory; }

  /// Called by the process that runs the `jobs` jobs, before it does.
  void begin(bool background, std::size_t jobs);
  /// The result of a job that an earlier run finished with the same programs.
  std::optional<JobResult> kept(const JobSpec &spec) const;
  /// Jobs among `specs` that were finished by other programs, or whose results are not readable.
  std::size_t foreign(const std::vector<JobSpec> &specs) const;
  /// Lines of the record that are not whole, or not as they were written: their jobs run again.
  std::size_t damaged_lines() const;
  /// A job has ended. Results that passed are kept.
  void ended(const JobSpec &spec, const JobResult &result);
  /// How far the run is; written now and then.
  void progress(const Progress &progress);
  /// The run is complete. After a PASS nothing is kept: the same run later begins anew.
  void end(Outcome outcome, const Progress &progress);

private:
  void write();

  RecordedRun now_;
  std::string build_;
  std::unique_ptr<Journal> journal_;
  double cpu_seconds_ = 0;
  std::uint64_t cycles_ = 0;
  double written_ = -1; ///< when, in seconds of a steady clock
};

} // namespace gradweave::runtime
