// The products of a layer as data: which tensors they multiply, and along which indices. All that the compiler knows of
// Y, dX and dW follows from these tables.
#pragma once

#include "compiler/ir/tile.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gradweave::compiler {

/// What a tensor's elements are indexed by, in a group. Groups lie side by side in columns, or one below the other.
struct TensorForm {
  Dim row = Dim::kM, col = Dim::kK;
  bool groups_below = false; ///< weights and their gradient
  bool forward = false;      ///< used by the forward pass
  bool backward = false;     ///< used by the backward pass
};
/// In the order of Tensor.
inline constexpr std::array<TensorForm, kTensorCount> kTensorForms{{
    {Dim::kM, Dim::kK, false, true, true},  // X
    {Dim::kK, Dim::kN, true, true, true},   // W
    {Dim::kM, Dim::kN, false, false, true}, // dY
    {Dim::kM, Dim::kN, false, true, false}, // Y
    {Dim::kM, Dim::kK, false, false, true}, // dX
    {Dim::kK, Dim::kN, true, false, true},  // dW
}};

inline const TensorForm &form_of(Tensor tensor) { return kTensorForms[static_cast<std::size_t>(tensor)]; }

/// Whether the pass uses the tensor; W of a backward pass only if dX is wanted.
bool used_in(Tensor tensor, Pass pass);

/// X, W and dY.
const std::array<Tensor, 3> &operand_tensors();
/// Those that layers may share: X, dY, Y and dX.
const std::array<Tensor, 4> &activation_tensors();
/// Y, dX and dW.
const std::array<Tensor, 3> &result_tensors();

/// What a product does with the taps of a kernel where it reads an image (docs/convolution.md).
enum class TapWalk {
  kSum,    ///< sums over them, one after the other
  kTurned, ///< the same, the kernel turned
  kOne     ///< has one: its rows are those of that tap
};

/// result(row, col) = sum over `red`, ascending, of A and B. The array takes lines of A and B: along a column of the
/// stored tile, or along a row.
struct Contraction {
  Tensor result, a, b;
  Dim row, col, red;
  bool a_col, b_col;
  Tensor shared; ///< the operand that the products of a pass have in common
  TapWalk taps;
};
/// In the order of Tensor, from Y on.
inline constexpr std::array<Contraction, 3> kContractions{{
    {Tensor::kY, Tensor::kX, Tensor::kW, Dim::kM, Dim::kN, Dim::kK, true, false, Tensor::kX, TapWalk::kSum},
    {Tensor::kDX, Tensor::kDY, Tensor::kW, Dim::kM, Dim::kK, Dim::kN, true, true, Tensor::kDY, TapWalk::kTurned},
    {Tensor::kDW, Tensor::kX, Tensor::kDY, Dim::kK, Dim::kN, Dim::kM, false, false, Tensor::kDY, TapWalk::kOne},
}};

/// Throws std::invalid_argument.
[[noreturn]] void refuse_operand(Tensor tensor);
/// Of a result; throws std::invalid_argument for other tensors. Searches ask for millions.
inline const Contraction &contraction_of(Tensor result) {
  const std::size_t index = static_cast<std::size_t>(result) - static_cast<std::size_t>(Tensor::kY);
  if (index >= kContractions.size()) refuse_operand(result);
  return kContractions[index];
}
inline bool turns_kernel(Tensor result) { return contraction_of(result).taps == TapWalk::kTurned; }
inline bool takes_one_tap(Tensor result) { return contraction_of(result).taps == TapWalk::kOne; }
/// The gradient that both products of a backward pass read: dY.
Tensor shared_gradient();
/// Whether the complete sum leaves as bf16 (N8); else it stays fp32. Of a result of the layer.
bool rounds(const Layer &layer, Tensor result);

/// A range of indices.
struct IndexRange {
  std::uint32_t first = 0, size = 0;
  std::uint32_t end() const { return first + size; }
};
/// Of a product along a dimension, in the group.
inline IndexRange range_of(const TileProduct &p, Dim dim) {
  if (dim == Dim::kM) return {p.m, p.m_size};
  return dim == Dim::kK ? IndexRange{p.k, p.k_size} : IndexRange{p.n, p.n_size};
}
inline void set_range(TileProduct &p, Dim dim, const IndexRange &range) {
  (dim == Dim::kM ? p.m : dim == Dim::kK ? p.k : p.n) = range.first;
  (dim == Dim::kM ? p.m_size : dim == Dim::kK ? p.k_size : p.n_size) = range.size;
}
inline std::uint32_t side_of(const TileShape &tile, Dim dim) {
  return dim == Dim::kM ? tile.m : dim == Dim::kK ? tile.k : tile.n;
}

/// What a phase computes: products of one result, or of two by turns.
struct PhaseForm {
  std::string_view name; ///< for people: "dX", "interleave"
  std::vector<Tensor> results;
  /// Loop orders that a search may choose among, of the last result.
  std::vector<LoopOrder> loops;
  /// Of the first result of two, where it has an order of its own; else both have the same.
  std::optional<LoopOrder> first_loops = std::nullopt;

  bool fused() const { return results.size() > 1; }
  bool forward() const;
  bool computes(Tensor result) const;
};
const PhaseForm &form_of(PhaseKind kind);

const std::array<LoopOrder, 6> &all_loop_orders();

} // namespace gradweave::compiler
