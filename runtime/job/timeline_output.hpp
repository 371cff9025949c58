// Where a run of many layers draws its timeline.
#pragma once

#include "runtime/job/job_timeline.hpp"

#include <memory>
#include <optional>
#include <string>

namespace gradweave::runtime::timeline {

/// One file with all layers one behind another, or a file for each layer and schedule. Runs are those of the timing
/// model.
class RunOutput {
public:
  /// `path`: the file, a directory (names_directory()), or empty for no timeline at all. Throws OutputError.
  explicit RunOutput(const std::string &path);

  /// Draws a layer's run. Throws OutputError, TimelineError.
  void add(const JobSpec &spec, const compiler::Compiled &layer, const std::vector<timing::CommandTimes> &times,
           std::uint64_t cycles);
  /// Makes the one file appear; files of layers have appeared already. Throws OutputError.
  void commit();

private:
  std::string path_;
  std::unique_ptr<OutputFile> file_; ///< null if there is a file for each layer
  std::optional<Timeline> timeline_; ///< of file_, from the first layer on
  std::uint64_t offset_ = 0;         ///< where the next layer begins
};

} // namespace gradweave::runtime::timeline
