#include "sw_models/npu_text.hpp"

#include <fmt/format.h>

namespace gradweave {

// Every field is named, so that a new one does not compile until it is decided whether anything depends on it.
std::string npu_text(const NpuConfig &npu) {
  const auto &[name, rows, cols, cores, spm_bytes, spm_banks, bus_bytes, clock_ghz, queue_depth, semaphores,
               outstanding,
               dram] = npu; // cycles do not depend on the clock but by the bandwidth, which is one of bytes a cycle
  const auto &[size, bandwidth, latency, turnaround, batch, access, bytes_num, bytes_den] = dram;
  return fmt::format("{}x{}x{},spm={}/{},bus={},queue={},sem={},out={},dram={}@{}/{},lat={},turn={},batch={},access={}",
                     rows, cols, cores, spm_bytes, spm_banks, bus_bytes, queue_depth, semaphores, outstanding, size,
                     bytes_num, bytes_den, latency, turnaround, batch, access);
}

} // namespace gradweave
