// Speed of the Verilated vector unit alone.
#pragma once

namespace gradweave::bench {

struct VectorRate {
  double operations = 0; ///< of lanes, in a run: Gelu of a tile
  double cycles = 0;     ///< of the same
  double operations_per_s = 0;
};

/// Gelu (by erf) on 45 lanes, 4 lines at once, its lines in time. Median of several runs, CPU time of one thread.
VectorRate vector_rate();

} // namespace gradweave::bench
