#include "sw_models/energy/energy.hpp"

namespace gradweave {

Energy &Energy::operator+=(const Energy &o) {
  array += o.array;
  spm += o.spm;
  bus += o.bus;
  dram += o.dram;
  leakage += o.leakage;
  return *this;
}

Energy energy_of(const AccessCounts &counts, std::uint64_t cycles, const Machine &machine) {
  const EnergyConfig &price = machine.energy;
  const auto times = [](std::uint64_t count, double pj) { return static_cast<double>(count) * pj; };
  Energy energy;
  energy.array =
      times(counts.macs, price.mac_pj) + times(counts.idle_macs, price.idle_mac_pj) + times(counts.adds, price.add_pj);
  energy.spm = times(counts.spm_read_bytes(), machine.spm_read_pj_per_byte()) +
               times(counts.spm_write_bytes(), machine.spm_write_pj_per_byte());
  energy.bus = times(counts.bus_bytes, price.bus_pj_per_byte);
  energy.dram = times(counts.dram_bytes(), price.dram_pj_per_byte);
  energy.leakage = times(cycles, price.static_mw) / machine.clock_ghz; // mW ns
  return energy;
}

double seconds_of(std::uint64_t cycles, const NpuConfig &npu) {
  return static_cast<double>(cycles) / (npu.clock_ghz * 1e9);
}

double energy_delay(double picojoules, std::uint64_t cycles, const NpuConfig &npu) {
  return picojoules * 1e-12 * seconds_of(cycles, npu);
}

double mean_power(double picojoules, std::uint64_t cycles, const NpuConfig &npu) {
  return cycles == 0 ? 0 : picojoules * 1e-12 / seconds_of(cycles, npu);
}

} // namespace gradweave
