#include "sw_models/timing/timing_model.hpp"

#include "sw_models/timing/npu_timing.hpp"

namespace gradweave::timing {

RunResult run(const NpuConfig &npu, const isa::Command *stream, std::size_t count, const RunOptions &options) {
  RunResult result = NpuTiming(npu, stream, count, options, kNever).run();
  if (result.ok() || result.error == isa::ErrorCode::WATCHDOG) return result;
  // The engines were played ahead of the error. Now that its cycle is known, count up to it.
  return NpuTiming(npu, stream, count, options, result.cycles() - 1).run();
}

} // namespace gradweave::timing
