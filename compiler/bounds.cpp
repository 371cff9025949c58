#include "compiler/bounds.hpp"

#include <cmath>

namespace gradweave::compiler {
namespace {

/// Elements that `macs` multiply-adds of one matrix product must move between memory and a store of `capacity`
/// elements: T. M. Smith et al., "A tight I/O lower bound for matrix multiplication", 2019 (arXiv:1702.02017),
/// theorem 1. The pair of products that share dY moves no less than one product of as many multiply-adds:
/// docs/compiler.md has the proof.
double least_moves(double macs, double capacity) { return 2 * macs / std::sqrt(capacity) - 2 * capacity; }

double io_bytes(const Layer &layer, Pass pass, const NpuConfig &npu) {
  const double macs = static_cast<double>(layer.m) * layer.k * layer.n;
  const double capacity = static_cast<double>(npu.spm_bytes) / 2; // all of it bf16, the smaller of the two types
  double elements = 0;
  if (pass != Pass::kBackward) elements += std::max(0.0, least_moves(macs, capacity));
  if (pass != Pass::kForward)
    elements += std::max(0.0, least_moves((computes_dx(layer, pass) ? 2 : 1) * macs, capacity));
  return 2 * elements * layer.groups;
}

} // namespace

Bounds lower_bounds(const std::vector<Layer> &layers, Pass pass, const Layout &layout, const NpuConfig &npu) {
  std::uint64_t macs = 0;
  for (const Layer &layer : layers) {
    const std::uint64_t products =
        (pass != Pass::kBackward ? 1 : 0) + (pass != Pass::kForward ? 1 : 0) + (computes_dx(layer, pass) ? 1 : 0);
    macs += products * layer.groups * layer.m * layer.k * layer.n;
  }
  std::uint64_t bytes = 0;
  for (const TensorBinding &t : layout.tensors)
    if (t.input || t.result) bytes += std::uint64_t{t.rows} * t.cols * (t.fp32 ? 4 : 2);
  const auto cycles = [&](std::uint64_t moved) { return divide_up(moved * npu.dram.bytes_den, npu.dram.bytes_num); };
  Bounds bounds;
  bounds.compute_cycles = divide_up(macs, std::uint64_t{npu.rows} * npu.cols * npu.cores);
  bounds.traffic_cycles = cycles(bytes);
  if (layers.size() == 1) bounds.io_cycles = cycles(static_cast<std::uint64_t>(io_bytes(layers.front(), pass, npu)));
  return bounds;
}

} // namespace gradweave::compiler
