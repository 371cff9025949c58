// The Verilated NPU and the timing model on the same streams, in turns.
#pragma once

#include "compiler/compiler.hpp"
#include "device/device.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace gradweave::bench {

/// Random data for all inputs of a layer, which lie as it was compiled.
void fill(Device &device, const compiler::Compiled &layer);

/// One run of each.
struct PairedRun {
  double rtl_seconds = 0, model_seconds = 0; ///< CPU time
  std::uint64_t cycles = 0;                  ///< simulated; the same on both sides
};

/// A process can make one.
class DevicePair {
public:
  /// Both devices hold streams of up to `dram_bytes` from address 0 on.
  DevicePair(const Machine &npu, std::uint64_t dram_bytes);

  /// The model for about half of `model_seconds`, the RTL once, the model again: what slows the machine down for a
  /// while slows both. The model's time is that of an average run. The RTL works on random data. `report_progress` gets
  /// fractions of 1. Throws std::runtime_error if a run fails, or if a time of any command or a counter differs.
  PairedRun run(const compiler::Compiled &layer, double model_seconds,
                const std::function<void(double)> &report_progress);

private:
  std::unique_ptr<Device> rtl_, model_;
};

} // namespace gradweave::bench
