#include "sw_models/config/npu_fingerprint.hpp"

namespace gradweave {
namespace {

Fingerprint fingerprint(const DramConfig &dram) {
  const auto &[size, bandwidth, latency, turnaround, batch, access, bytes_num, bytes_den] =
      dram; // the bandwidth counts as bytes a cycle
  return Fingerprint().add(size, latency, turnaround, batch, access, bytes_num, bytes_den);
}

} // namespace

Fingerprint fingerprint(const NpuConfig &npu) {
  const auto &[name, rows, cols, cores, spm_bytes, spm_banks, bus_bytes, clock_ghz, queue_depth, semaphores,
               outstanding,
               dram] = npu; // cycles do not depend on the clock but by the bandwidth, which is one of bytes a cycle
  return Fingerprint().add(rows, cols, cores, spm_bytes, spm_banks, bus_bytes, queue_depth, semaphores, outstanding,
                           fingerprint(dram));
}

} // namespace gradweave
