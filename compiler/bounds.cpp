#include "compiler/bounds.hpp"
#include "compiler/cost.hpp"

#include <algorithm>
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

/// Array steps of the layer's products: however a result is cut into tiles, it takes no fewer blocks than the array's
/// size asks for, and each of its elements all terms of its reduction.
std::uint64_t array_steps(const Layer &layer, Pass pass, const NpuConfig &npu) {
  const auto product = [&](std::uint32_t rows, std::uint32_t cols, std::uint32_t red) {
    return block_count(rows, cols, npu) * std::max(red, shortest_block(npu));
  };
  std::uint64_t steps = 0;
  if (pass != Pass::kBackward) steps += product(layer.m, layer.n, layer.k);
  if (pass != Pass::kForward) steps += product(layer.k, layer.n, layer.m);
  if (computes_dx(layer, pass)) steps += product(layer.m, layer.k, layer.n);
  return steps;
}

} // namespace

Bounds lower_bounds(const std::vector<Layer> &layers, Pass pass, const Layout &layout, const NpuConfig &npu) {
  std::uint64_t steps = 0;
  for (const Layer &layer : layers)
    steps += layer.groups * array_steps(layer, pass, npu);
  std::uint64_t bytes = 0;
  for (const TensorBinding &t : layout.tensors)
    if (t.input || t.result) bytes += t.rows * round_up(std::uint64_t{t.cols} * (t.fp32 ? 4 : 2), access_bytes(npu));
  const auto cycles = [&](std::uint64_t moved) { return divide_up(moved * npu.dram.bytes_den, npu.dram.bytes_num); };
  Bounds bounds;
  bounds.compute_cycles = divide_up(steps, npu.cores);
  bounds.traffic_cycles = cycles(bytes);
  if (layers.size() == 1) bounds.io_cycles = cycles(static_cast<std::uint64_t>(io_bytes(layers.front(), pass, npu)));
  return bounds;
}

} // namespace gradweave::compiler
