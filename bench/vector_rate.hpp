// Speed of the Verilated vector unit, alone and in an NPU.
#pragma once

namespace gradweave::bench {

struct VectorRate {
  double operations = 0; ///< of lanes, in a run: Gelu of a tile
  double cycles = 0;     ///< of the same
  double operations_per_s = 0;
};

/// Gelu (by erf) on 45 lanes, 4 lines at once, its lines in time. Median of several runs, CPU time of one thread.
VectorRate vector_rate();

/// The same program in the NPU `small`, on tiles that are in the scratchpad: everything else of the NPU and its
/// testbench rests beside it, and costs time. Throws std::runtime_error if the run stops with an error.
VectorRate vector_rate_in_npu();

} // namespace gradweave::bench
