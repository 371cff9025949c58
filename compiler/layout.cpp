#include "compiler/layout.hpp"

#include <algorithm>

namespace gradweave::compiler {

const TensorBinding *Layout::find(Tensor t) const {
  const auto it = std::find_if(tensors.begin(), tensors.end(), [&](const TensorBinding &b) { return b.tensor == t; });
  return it == tensors.end() ? nullptr : &*it;
}

Layout make_layout(const Layer &layer, Pass pass, const NpuConfig &npu) {
  Layout layout;
  const auto add = [&](Tensor tensor, bool input, std::uint32_t rows, std::uint32_t cols) {
    TensorBinding binding;
    binding.tensor = tensor;
    binding.input = input;
    binding.fp32 = tensor == Tensor::kDW;
    binding.rows = rows;
    binding.cols = cols;
    binding.pitch = static_cast<std::uint32_t>(round_up(cols * (binding.fp32 ? 4ULL : 2ULL), npu.bus_bytes));
    binding.offset = round_up(layout.bytes, kTensorAlignment);
    layout.bytes = binding.offset + static_cast<std::uint64_t>(rows) * binding.pitch;
    layout.tensors.push_back(binding);
  };
  const bool forward = pass != Pass::kBackward;
  const bool backward = pass != Pass::kForward;
  const std::uint32_t all_k = layer.groups * layer.k, all_n = layer.groups * layer.n;
  add(Tensor::kX, true, layer.m, all_k);
  if (forward || layer.dx) add(Tensor::kW, true, all_k, layer.n);
  if (backward) add(Tensor::kDY, true, layer.m, all_n);
  if (forward) add(Tensor::kY, false, layer.m, all_n);
  if (computes_dx(layer, pass)) add(Tensor::kDX, false, layer.m, all_k);
  if (backward) add(Tensor::kDW, false, all_k, layer.n);
  return layout;
}

} // namespace gradweave::compiler
