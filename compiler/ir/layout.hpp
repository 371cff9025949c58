// Where tensors lie in device memory.
#pragma once

#include "compiler/ir/compiled.hpp"

#include <array>
#include <cstdint>
#include <vector>

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

/// Whether the pass computes dX of this layer.
inline bool computes_dx(const Layer &layer, Pass pass) { return pass != Pass::kForward && layer.dx; }

} // namespace gradweave::compiler
