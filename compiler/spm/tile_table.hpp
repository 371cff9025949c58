// The distinct tiles that a plan's products touch, and when each is needed next.
#pragma once

#include "compiler/ir/program.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/run_order.hpp"
#include "compiler/spm/tile.hpp"
#include "sw_models/config/npu_config.hpp"

namespace gradweave::compiler {

struct TileTable {
  std::vector<Tile> tiles;
  TileForms forms;          ///< of the tiles
  std::vector<Needs> needs; ///< one entry a product, in the order in which they run
  /// Of the tiles of each product, what it takes of them; empty: all products take all.
  std::vector<std::array<TilePart, 4>> parts;
  std::vector<bool> stored; ///< of each binding: its tiles go to memory as soon as they are complete

  /// Tiles of two phases are one if the phases cut the tensor alike, or one is a part of the other and may be
  /// (PhasePlan::takes_parts).
  TileTable(const std::vector<PhasePlan> &plans, const std::vector<Slice> &order, const std::vector<Layer> &layers,
            const Layout &layout, const std::vector<ReductionPlans> &reductions, const NpuConfig &npu);
};

} // namespace gradweave::compiler
