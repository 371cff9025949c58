#include "runtime/npu_text.hpp"

#include <fmt/format.h>

namespace gradweave::runtime {

std::string npu_text(const NpuConfig &n) {
  return fmt::format("{}x{}x{},spm={}/{},bus={},queue={},sem={},out={},dram={}@{}/{},lat={},turn={},batch={},access={}",
                     n.rows, n.cols, n.cores, n.spm_bytes, n.spm_banks, n.bus_bytes, n.queue_depth, n.semaphores,
                     n.outstanding, n.dram.size_bytes, n.dram.bytes_num, n.dram.bytes_den, n.dram.latency_cycles,
                     n.dram.turnaround_cycles, n.dram.batch_bytes, n.dram.access_bytes);
}

} // namespace gradweave::runtime
