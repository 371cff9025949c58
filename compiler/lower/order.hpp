// The orders in which the schedules walk tile products.
#pragma once

#include "compiler/ir/grid/grid.hpp"
#include "compiler/request/error.hpp"
#include "sw_models/config/npu_config.hpp"

#include <string>
#include <vector>

namespace gradweave::compiler {

/// A tile product as operands and result of a GEMM, CONV or WGRAD command (docs/compiler.md has the table). Rectangles
/// are those of the layer's tensors: of operands that are images, all rows that taps reach, of which dW's product takes
/// but some. An ADD has no operands a and b.
struct GemmRoles {
  Tensor a{}, b{};
  Rect a_rect, b_rect, c_rect;
  bool a_col = false, b_col = false;
  std::uint32_t red = 0, red_size = 0; ///< range of the reduction, in the group
};
GemmRoles roles(const TileProduct &p, const Layer &layer);

/// Length of the whole reduction of a product's results.
std::uint32_t reduction_extent(const TileProduct &p, const Layer &layer);

std::string to_string(const LoopOrder &order);

/// Cores that take tiles along a dimension by turns.
struct Turns {
  Dim dim = Dim::kM;
  std::uint32_t cores = 1;
};

/// The phase's products in a region, group after group. All loops ascend, so each result element's reduction does.
/// Fused phases yield one dX and one dW product alternately. `layer` is the whole one. With several cores each step of
/// the loop along their dimension takes a tile for each core, and the loops inside run for all of them together.
std::vector<TileProduct> make_order(PhaseKind kind, const LoopOrder &order, const TileShape &tile, const Layer &layer,
                                    const Region &region, const Turns &turns = {});

/// The loops of more than one trip, in their order, and then the others: orders for which this is the same yield the
/// same products.
LoopOrder loops_that_turn(const LoopOrder &order, const TileShape &tile, const Layer &layer);

/// Tile products that make_order() would yield for the whole layer.
std::uint64_t product_count(PhaseKind kind, const TileShape &tile, const Layer &layer);

/// Tile products of a phase at most: beyond, stream and compilation outgrow devices and hosts.
inline constexpr std::uint64_t kMostProducts = 2'000'000;
/// Throws CompileError if a phase of the layer takes more than these, `fewest` at least.
void check_products(std::uint64_t fewest, const Layer &layer, const NpuConfig &npu);
/// Throws CompileError: not even products of single elements, or of single rows of images, fit the NPU's scratchpad.
[[noreturn]] void refuse_scratchpad(const Layer &layer, const NpuConfig &npu);

/// Algorithm 1 of igo_micro23: interleave for almost square layers (largest dimension less than four times the
/// smallest), else dw_major if K is the largest dimension, else dx_major. Other schedules resolve to themselves;
/// `ideal` is resolved by compiling all that it chooses among.
Schedule resolve(Schedule requested, const Layer &layer);

/// The only phase of a forward pass.
PhaseKind forward_phase();

/// The phases of a layer under a resolved schedule; throws std::logic_error for others.
std::vector<PhaseKind> phases(Schedule schedule, Pass pass, const Layer &layer);

} // namespace gradweave::compiler
