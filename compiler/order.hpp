// Tile products and the orders in which the schedules walk them.
#pragma once

#include "compiler/tiling.hpp"

namespace gradweave::compiler {

/// One GEMM command's worth of work: the part of `result` (kY, kDX or kDW) that the ranges of M, K and N contribute.
struct TileProduct {
  Tensor result = Tensor::kDW;
  std::uint32_t m = 0, k = 0, n = 0;                ///< first indices
  std::uint32_t m_size = 0, k_size = 0, n_size = 0; ///< lengths
};

/// A tile product as operands and result of a GEMM command (docs/compiler.md has the table).
struct GemmRoles {
  Tensor a = Tensor::kX, b = Tensor::kX;
  Rect a_rect, b_rect, c_rect;
  bool a_col = false, b_col = false;
  std::uint32_t red = 0, red_size = 0; ///< range of the reduction
};
GemmRoles roles(const TileProduct &p);

/// Length of the whole reduction of a result of the layer.
std::uint32_t reduction_extent(Tensor result, const Layer &layer);

enum class Dim : std::uint8_t { kM, kK, kN };
using LoopOrder = std::array<Dim, 3>; ///< outermost first
const std::array<LoopOrder, 6> &all_loop_orders();
std::string to_string(const LoopOrder &order);

/// What one phase of a layer computes.
enum class PhaseKind { kForward, kDx, kDw, kInterleave, kDxMajor, kDwMajor };

/// Loop orders that a phase may use. A single product: all six. Interleave: dX walks dY by rows (m, k, n), dW by
/// columns, with the order given here. dx_major: m, n, k; dw_major: n, m, k.
std::vector<LoopOrder> loop_orders(PhaseKind kind);

/// The phase's products. All loops ascend, so each result element's reduction does. Fused phases yield one dX and one
/// dW product alternately.
std::vector<TileProduct> make_order(PhaseKind kind, const LoopOrder &order, const TileShape &tile, const Layer &layer);

/// Tile products that make_order() would yield.
std::uint64_t product_count(PhaseKind kind, const TileShape &tile, const Layer &layer);

/// Algorithm 1 of igo_micro23: interleave for almost square layers (largest dimension less than four times the
/// smallest), else dw_major if K is the largest dimension, else dx_major. Other schedules resolve to themselves;
/// `ideal` is resolved by compiling all that it chooses among.
Schedule resolve(Schedule requested, const Layer &layer);

/// The phases of a layer under a resolved schedule; throws std::logic_error for others.
std::vector<PhaseKind> phases(Schedule schedule, Pass pass, const Layer &layer);

/// Empty if the products compute every result of the pass completely, each part once, every reduction ascending; else
/// what is wrong. Works from the products alone.
std::string verify_order(const std::vector<TileProduct> &products, const Layer &layer, Pass pass);

} // namespace gradweave::compiler
