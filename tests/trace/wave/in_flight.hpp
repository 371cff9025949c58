// Which commands the NPU was at in a cycle.
#pragma once

#include "tests/trace/wave/recording.hpp"
#include "tests/trace/wave/scenario.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::wave {

/// A line for each engine that has a command in flight (started, not done) in `cycle` of the waveform: index, text
/// form, layer and tile; then the command that dispatch issued last. The engine that `signal` belongs to, if any, comes
/// first. What happened between runs is said instead: "before the first start", ...
std::vector<std::string> commands_in_flight(const Scenario &scenario, const Recording &recording, std::uint64_t cycle,
                                            const std::string &signal);

} // namespace gradweave::wave
