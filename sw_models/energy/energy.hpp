// From counts to energy.
#pragma once

#include "sw_models/config/machine.hpp"
#include "sw_models/energy/access_counts.hpp"

#include <cstdint>

namespace gradweave {

/// Energy of a run, by component, in pJ.
struct Energy {
  double array = 0; ///< multiply-adds and ADDs
  double spm = 0;   ///< scratchpad, all ports
  double bus = 0;
  double dram = 0;
  double leakage = 0; ///< static_mw for as long as the run takes

  /// Added in this order, so that the same run gives the same digits everywhere.
  double total() const { return array + spm + bus + dram + leakage; }
  Energy &operator+=(const Energy &o);
};

/// What the counts, of a run of `cycles`, cost on the machine: each count times its price.
Energy energy_of(const AccessCounts &counts, std::uint64_t cycles, const Machine &machine);

/// Seconds that cycles take.
double seconds_of(std::uint64_t cycles, const NpuConfig &npu);
/// Energy times delay, in J s.
double energy_delay(double picojoules, std::uint64_t cycles, const NpuConfig &npu);
/// In W; 0 if there are no cycles.
double mean_power(double picojoules, std::uint64_t cycles, const NpuConfig &npu);

} // namespace gradweave
