// What a run of a stream leaves beside its waveform.
#pragma once

#include "sw_models/timing/engines/command_times.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gradweave::wave {

/// One start of the stream. Its times count from `first_cycle`, which counts as the waveform does.
struct RecordedRun {
  std::uint64_t first_cycle = 0;
  std::vector<timing::CommandTimes> times;
};

struct Recording {
  std::uint64_t period = 1; ///< units of the waveform's time in a cycle
  std::vector<RecordedRun> runs;
  std::string end;    ///< of the last run: "NONE", "SPM_RANGE at command 3"
  std::string failed; ///< the simulation could not go on: an assertion of the RTL, a violation of the bus; or empty
};

/// Throws std::runtime_error if the file cannot be written.
void write_recording(const Recording &recording, const std::filesystem::path &file);
/// Throws ConfigError if the file cannot be read or is none of these.
Recording read_recording(const std::filesystem::path &file);

} // namespace gradweave::wave
