// Speed of the Verilated systolic array alone.
#pragma once

namespace gradweave::bench {

struct ArrayRate {
  double busy_cycles_per_s = 0; ///< a line a cycle, a swap and a pass of the shadow chain every 384 lines
  double idle_cycles_per_s = 0; ///< no step, no shift
};

/// Median of several runs, CPU time of one thread. `size` is 45 or 128 (rows and columns).
ArrayRate array_rate(int size);

} // namespace gradweave::bench
