// Where a layer's tensors lie in device memory.
#pragma once

#include "compiler/compiler.hpp"

namespace gradweave::compiler {

struct Layout {
  std::vector<TensorBinding> tensors; ///< in the order of Tensor, only those the pass uses
  std::uint64_t bytes = 0;            ///< of all tensors; spill space follows

  /// The tensor's binding; null if the pass does not use it.
  const TensorBinding *find(Tensor t) const;
};

/// Alignment of a tensor's first byte: the AXI burst boundary, so that no tensor adds bursts to another.
inline constexpr std::uint64_t kTensorAlignment = 4096;

/// Rows are padded to whole bus beats: a tile row then costs the same beats in every row of a tensor.
Layout make_layout(const Layer &layer, Pass pass, const NpuConfig &npu);

/// Whether the pass computes dX of this layer.
inline bool computes_dx(const Layer &layer, Pass pass) { return pass != Pass::kForward && layer.dx; }

inline std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }
inline std::uint64_t divide_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit; }

} // namespace gradweave::compiler
