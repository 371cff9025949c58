// Where tensors lie in device memory.
#pragma once

#include "compiler/ir/contraction.hpp"
#include "compiler/request/names.hpp"
#include "graph/network.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// A tensor in device memory, row-major. Layers that are compiled together may share one: Y of a layer is X of the
/// next, dX of that one dY of the layer. Then `layer` and `tensor` are those of the layer that computes it.
struct TensorBinding {
  Tensor tensor{};
  bool input = false; ///< to be filled before the run
  bool result = true; ///< complete in memory after the run; neither this nor input: an intermediate that may be missing
  bool fp32 = false;  ///< dW is, and Y and dX if their layer asks for it; all others are bf16
  std::uint32_t layer = 0; ///< index among the layers compiled together
  std::uint32_t rows = 0, cols = 0;
  std::uint32_t pitch = 0;  ///< bytes from row to row
  std::uint64_t offset = 0; ///< bytes from the layer's base address
};

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

/// Whether the pass computes something of the layer.
inline bool takes_part(const Layer &layer, Pass pass) {
  return layer.products == Products::kAll ||
         pass != (layer.products == Products::kForward ? Pass::kBackward : Pass::kForward);
}
/// What of a pass that it takes part in the layer has.
inline Pass pass_of(const Layer &layer, Pass pass) {
  if (layer.products == Products::kAll) return pass;
  return layer.products == Products::kForward ? Pass::kForward : Pass::kBackward;
}
/// Whether the pass computes the result; the gradient of X only if it is wanted.
inline bool is_computed(const Layer &layer, Tensor result, Pass pass) {
  return takes_part(layer, pass) && used_in(result, pass_of(layer, pass)) && (layer.dx || !turns_kernel(result));
}
inline bool computes_dx(const Layer &layer, Pass pass) {
  return takes_part(layer, pass) && pass_of(layer, pass) != Pass::kForward && layer.dx;
}

} // namespace gradweave::compiler
