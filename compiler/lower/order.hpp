// The orders in which the schedules walk tile products.
#pragma once

#include "compiler/ir/tile.hpp"

#include <string>
#include <vector>

namespace gradweave::compiler {

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

const std::array<LoopOrder, 6> &all_loop_orders();
std::string to_string(const LoopOrder &order);

/// Loop orders that a phase may use. A single product: all six. Interleave: dX walks dY by rows (m, k, n), dW by
/// columns, with the order given here. dx_major: m, n, k; dw_major: n, m, k.
std::vector<LoopOrder> loop_orders(PhaseKind kind);

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

} // namespace gradweave::compiler
