// The compiler's plan before encoding: DMA moves and tile products in a legal serial order, with places in the
// scratchpad.
#pragma once

#include "compiler/ir/reductions.hpp"
#include "compiler/ir/tile.hpp"
#include "isa/command.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace gradweave::compiler {

struct VectorSection;

/// Scratchpad rows [first, first + rows).
struct RowRange {
  std::uint32_t first = 0, rows = 0;
  std::uint32_t end() const { return first + rows; }
};

/// Where tiles may be placed. The two operands of a product come from different areas, so that areas in different
/// macro-banks let the array read both in a cycle.
struct SpmSplit {
  RowRange shared; ///< dY (backward), X (forward)
  RowRange other;  ///< X and W (backward), W (forward)
  RowRange result; ///< partial sums and results
};

/// What a place in the scratchpad costs a new tile, in rows of traffic. The best weights differ from layer to layer.
struct PlacementPolicy {
  double reload = 4;   ///< for each row of a live tile that has to come back, by distance of its next use
  double conflict = 1; ///< for each row in a macro-bank that the array's other operand is read from
};

/// How a phase is cut into parts.
struct PhaseParts {
  Dim dim = Dim::kM;
  std::uint32_t count = 1; ///< at most the extent; 1: not cut
  std::uint32_t cores = 1; ///< part p runs on core p mod cores; at most `count`
  Reduction reduction = Reduction::kChain;
  /// The cores take tiles along the dimension by turns, and chains of sums go from core to core; `count` is `cores`.
  Sharing sharing = Sharing::kParts;

  bool by_turns() const { return sharing == Sharing::kTurns && count > 1; }
};

/// One phase with the decisions that the search takes.
struct PhasePlan {
  PhaseKind kind{};
  std::uint32_t layer = 0; ///< index among the layers compiled together
  PhaseParts parts;
  TileShape tile;
  LoopOrder loops{};
  SpmSplit split;
  /// Runs together with the phases before it, back to the last that is not woven (run_order()).
  bool woven = false;
  /// Runs behind the phases before it, as one with them: what is woven with these is spread over it, too.
  bool joined = false;
  /// Tiles of activations that it reads, and those that are computed or also read so and have rows and all columns in
  /// common with them, are parts of one tile (join_tiles()).
  bool takes_parts = false;
  bool starts_empty = false; ///< no tile of the phases before it stays in the scratchpad
  /// Tiles stay for the phases up to so many after this one; what only later ones need is given up. 0: for all.
  std::uint32_t reach = 0;
  std::uint32_t window = 1; ///< products that may be executing while the operands of the next one are loaded
  PlacementPolicy policy;
  std::vector<TileProduct> products;
  /// Of a layer that the vector unit computes: its products are the pieces of this, and the rest decides nothing.
  std::shared_ptr<const VectorSection> section = {};
};

/// A tile in the scratchpad; panels follow one another without gaps. Or some rows of one, in each of its panels.
struct Place {
  RowRange rows; ///< of a part those in the first panel
  std::uint32_t pstride = 0;
  std::uint32_t guard = 0;  ///< rows before the first of the tile
  std::uint32_t panels = 0; ///< of a part of a tile; 0: all of it
  std::uint32_t rot = 0;    ///< lane of the first element of the first row

  /// Calls f with each run of rows that follow one another.
  template <typename F> void for_runs(const F &f) const {
    if (panels == 0) return f(rows);
    for (std::uint32_t panel = 0; panel < panels; ++panel)
      f(RowRange{rows.first + panel * pstride, rows.rows});
  }
};

struct Action {
  /// kGate: LOADs behind it find in memory what was stored of the binding's tensor, and the rows of the vector unit
  /// free. kPiece: commands of a VectorSection. kDone: all that its section stores of the binding's tensor.
  enum class Kind : std::uint8_t { kLoad, kStore, kGemm, kAdd, kGate, kPiece, kDone };
  Kind kind = Kind::kGemm;
  // LOAD and STORE
  Tensor tensor{};           ///< of a GEMM: its result
  std::uint32_t layer = 0;   ///< whose tensor it is
  std::int32_t binding = -1; ///< index of the tensor's binding
  Rect rect;
  bool fp32 = false;
  bool spill = false;
  std::uint64_t dram_addr = 0;
  std::uint32_t pitch = 0;
  Place place;
  // GEMM and ADD
  std::uint32_t product = 0; ///< index over all phases
  std::uint8_t core = 0;
  bool acc = false, out_bf16 = false;
  Place a, b, cin, cout; ///< ADD: the sums a and cin

  bool computes() const { return kind == Kind::kGemm || kind == Kind::kAdd; }
  bool moves() const { return kind == Kind::kLoad || kind == Kind::kStore; }
};

/// Device memory that a program takes.
struct Room {
  std::uint64_t data_bytes = 0; ///< tensors and spill space
  std::uint64_t commands = 0;

  /// The stream begins at a page behind the data.
  std::uint64_t bytes() const {
    constexpr std::uint64_t kPage = 4096;
    return commands == 0 ? data_bytes : (data_bytes + kPage - 1) / kPage * kPage + commands * isa::kCommandBytes;
  }
};

struct Program {
  std::vector<Layer> layers;
  std::vector<ReductionPlans> reductions; ///< of each layer
  std::vector<TileProduct> products;      ///< of all phases
  std::vector<Action> actions;
  std::map<std::pair<std::uint32_t, Tensor>, std::shared_ptr<const VectorSection>> sections; ///< by layer and result
  std::uint64_t dram_bytes = 0;    ///< tensors and spill space
  std::uint64_t more_commands = 0; ///< than one an action
  Room room() const { return {dram_bytes, actions.size() + more_commands}; }
  std::uint64_t visits = 0; ///< segments of the scratchpad that were looked at while tiles were placed

  /// What it took to make, in tile products of a scratchpad with few tiles: the measure of a search's effort.
  std::uint64_t work() const {
    constexpr std::uint64_t kVisitsOfAProduct = 2000;
    return products.size() + visits / kVisitsOfAProduct;
  }
};

/// Plans of all phases, with what follows from them.
struct TimedPlan {
  std::vector<PhasePlan> plans;
  Program program;
  std::uint64_t cycles = 0; ///< by the timing model
};

} // namespace gradweave::compiler
