// Runs a random stream on a device and compares the outcome with the functional model's.
#pragma once

#include "app/validate/corpus/random_stream.hpp"
#include "device/device.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gradweave::test {

/// Bytes before and behind a stream's data that must stay untouched.
constexpr std::uint64_t kGuardBytes = 4096;

struct StreamVerdict {
  std::string problem;                 ///< empty if device and model agree
  std::uint64_t cycles = 0, marks = 0; ///< marks: that a host took
  bool ok() const { return problem.empty(); }
};

/// For negative tests: what is broken between the two executions.
struct StreamSabotage {
  std::function<void(std::vector<isa::Command> &)> model_commands; ///< the model executes these instead
  std::function<void(Device &)> device_memory;                     ///< called before the comparison
};

/// Executes `stream` on both: submitted whole, or with `host` through a ring that a host of this seed feeds
/// (app/validate/host), after a run that it abandoned. The model executes the commands that were sent, and has the same
/// marks; the whole memory from kGuardBytes before the data to kGuardBytes behind it and the
/// counters that do not depend on time must be equal. A problem names the first address that differs, the command that
/// wrote it last, the element and both values. `stream.dram_base` must be at least kGuardBytes.
StreamVerdict check_stream(Device &device, const corpus::RandomStream &stream, const StreamSabotage &sabotage = {},
                           std::optional<std::uint64_t> host = {});

} // namespace gradweave::test
