// Tile products and the orders in which the schedules walk them.
#pragma once

#include "compiler/lower/tiling.hpp"

namespace gradweave::compiler {

/// One GEMM command's worth of work: the part of `result` (kY, kDX or kDW) that the ranges of M, K and N contribute. Or
/// an ADD command's: it adds part `part` of the reduction, whose range it names, to the sum of the parts before.
struct TileProduct {
  Tensor result = Tensor::kDW;
  std::uint32_t m = 0, k = 0, n = 0;                ///< first indices, in the group
  std::uint32_t m_size = 0, k_size = 0, n_size = 0; ///< lengths
  std::uint32_t group = 0;
  std::uint32_t part = 0;  ///< of the result's reduction plan
  std::uint32_t layer = 0; ///< index among the layers compiled together
  std::uint8_t core = 0;
  bool add = false;
};

/// A tile product as operands and result of a GEMM command (docs/compiler.md has the table). Rectangles are those of
/// the layer's tensors. An ADD has no operands a and b.
struct GemmRoles {
  Tensor a = Tensor::kX, b = Tensor::kX;
  Rect a_rect, b_rect, c_rect;
  bool a_col = false, b_col = false;
  std::uint32_t red = 0, red_size = 0; ///< range of the reduction, in the group
};
GemmRoles roles(const TileProduct &p, const Layer &layer);

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

/// A part of a layer's index space: groups, and M, K and N in each of them, from a first index to one past the last.
struct Region {
  std::uint32_t g = 0, g_end = 0, m = 0, m_end = 0, k = 0, k_end = 0, n = 0, n_end = 0;
};
inline Region whole(const Layer &layer) { return {0, layer.groups, 0, layer.m, 0, layer.k, 0, layer.n}; }

/// The phase's products in a region, group after group. All loops ascend, so each result element's reduction does.
/// Fused phases yield one dX and one dW product alternately.
std::vector<TileProduct> make_order(PhaseKind kind, const LoopOrder &order, const TileShape &tile,
                                    const Region &region);

/// Tile products that make_order() would yield for the whole layer.
std::uint64_t product_count(PhaseKind kind, const TileShape &tile, const Layer &layer);

/// Algorithm 1 of igo_micro23: interleave for almost square layers (largest dimension less than four times the
/// smallest), else dw_major if K is the largest dimension, else dx_major. Other schedules resolve to themselves;
/// `ideal` is resolved by compiling all that it chooses among.
Schedule resolve(Schedule requested, const Layer &layer);

/// The phases of a layer under a resolved schedule; throws std::logic_error for others.
std::vector<PhaseKind> phases(Schedule schedule, Pass pass, const Layer &layer);

/// Empty if the products compute every result of the pass completely, each part once, every reduction ascending and as
/// the reduction plans say; else what is wrong. Works from the products alone.
std::string verify_order(const std::vector<TileProduct> &products, const Layer &layer, Pass pass,
                         const ReductionPlans &plans = {});

} // namespace gradweave::compiler
