// Where a layer's tensors lie in device memory.
#pragma once

#include "compiler/compiler.hpp"

namespace gradweave::compiler {

struct Layout {
  static constexpr std::int32_t kNone = -1;

  std::vector<TensorBinding> tensors; ///< by layer, in the order of Tensor, only those the pass uses
  std::uint64_t bytes = 0;            ///< of all tensors; spill space follows
  std::vector<std::array<std::int32_t, kTensorCount>> places; ///< of each layer's tensors: index of the binding

  /// Index of the binding of a layer's tensor; kNone if the pass does not use it.
  std::int32_t place(std::uint32_t layer, Tensor t) const { return places[layer][static_cast<std::size_t>(t)]; }
};

/// Alignment of a tensor's first byte: the AXI burst boundary, so that no tensor adds bursts to another.
inline constexpr std::uint64_t kTensorAlignment = 4096;

/// Rows are padded to whole bus beats: a tile row then costs the same beats in every row of a tensor.
Layout make_layout(const Layer &layer, Pass pass, const NpuConfig &npu);

/// Layers in the order of the forward pass, one after the other. Where a layer's `input` names one of them and the
/// shapes agree, its X is that layer's Y; and its dX that layer's dY if no other layer reads that Y. Such a tensor is
/// an intermediate, unless a layer reads it in another form. Layers whose `x_of` names one of them share its X.
Layout make_layout(const std::vector<Layer> &layers, Pass pass, const NpuConfig &npu);

/// Whether the pass computes dX of this layer.
inline bool computes_dx(const Layer &layer, Pass pass) { return pass != Pass::kForward && layer.dx; }

inline std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }
inline std::uint64_t divide_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit; }

} // namespace gradweave::compiler
