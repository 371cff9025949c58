#include "tb/npu_parameters.hpp"

namespace gradweave::tb {

using isa::Csr;

std::vector<RtlParameter> rtl_parameters(const NpuConfig &npu) {
  return {{"ROWS", npu.rows},
          {"COLS", npu.cols},
          {"CORES", npu.cores},
          {"SPM_ROWS", npu.spm_rows()},
          {"SPM_BANKS", npu.spm_banks},
          {"BUS_BYTES", npu.bus_bytes},
          {"PORT_BYTES", npu.port_bytes},
          {"QUEUE_DEPTH", npu.queue_depth},
          {"SEMAPHORES", npu.semaphores},
          {"OUTSTANDING", npu.outstanding},
          {"VECTOR_GROUPS", npu.vector_groups}};
}

std::vector<BuiltValue> built_values(const NpuConfig &npu) {
  return {{Csr::CFG_ROWS, "rows", npu.rows},
          {Csr::CFG_COLS, "cols", npu.cols},
          {Csr::CFG_CORES, "cores", npu.cores, 0, 16},
          {Csr::CFG_CORES, "vector_groups", npu.vector_groups, 16, 16},
          {Csr::CFG_SPM_ROWS, "scratchpad rows (spm_bytes, spm_banks)", npu.spm_rows()},
          {Csr::CFG_SPM_BANKS, "spm_banks", npu.spm_banks},
          {Csr::CFG_BUS_BYTES, "bus_bytes", npu.bus_bytes, 0, 16},
          {Csr::CFG_BUS_BYTES, "ports (bus_bytes / port_bytes), less one,", npu.ports() - 1, 16, 16},
          {Csr::CFG_SEMAPHORES, "semaphores", npu.semaphores},
          {Csr::CFG_QUEUE_DEPTH, "queue_depth", npu.queue_depth},
          {Csr::CFG_OUTSTANDING, "outstanding", npu.outstanding}};
}

} // namespace gradweave::tb
