// A stream that adds two tensors on an NPU: gradients of several devices, where they are gathered.
#pragma once

#include "isa/command.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::runtime::train {

struct SumStream {
  std::vector<isa::Command> stream;  ///< DRAM addresses relative to a base
  std::uint64_t a = 0, b = 0, c = 0; ///< the operands and the sum, fp32, elements one behind another
  std::uint64_t dram_bytes = 0;      ///< of all three
};

/// c = a + b by ADD commands (N13) on the first core, `elements` (at least 1) each. Tiles of two buffers take turns, so
/// that one is loaded while the other is added and stored. Semaphores 0 to 3; all are zero at the end.
SumStream sum_stream(std::uint64_t elements, const NpuConfig &npu);

} // namespace gradweave::runtime::train
