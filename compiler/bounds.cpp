#include "compiler/bounds.hpp"

namespace gradweave::compiler {

Bounds lower_bounds(const Layer &layer, Pass pass, const Layout &layout, const NpuConfig &npu) {
  const std::uint64_t products =
      (pass != Pass::kBackward ? 1 : 0) + (pass != Pass::kForward ? 1 : 0) + (computes_dx(layer, pass) ? 1 : 0);
  const std::uint64_t macs = products * layer.groups * layer.m * layer.k * layer.n;
  std::uint64_t bytes = 0;
  for (const TensorBinding &t : layout.tensors)
    bytes += std::uint64_t{t.rows} * t.cols * (t.fp32 ? 4 : 2);
  Bounds bounds;
  bounds.compute_cycles = divide_up(macs, std::uint64_t{npu.rows} * npu.cols * npu.cores);
  bounds.traffic_cycles = divide_up(bytes * npu.dram.bytes_den, npu.dram.bytes_num);
  return bounds;
}

} // namespace gradweave::compiler
