// The compiler's plan before encoding: DMA moves and tile products in a legal serial order, with places in the
// scratchpad.
#pragma once

#include "compiler/ir/grid/tile_form.hpp"
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

/// Where a tile lies: its first row, and its form by number (Program::forms).
struct Spot {
  std::uint32_t row = 0, form = 0;
};

/// A command, or several, before encoding. A program has as many as commands: they are as small as these.
struct Action {
  /// kGate: LOADs behind it find in memory what was stored of the binding's tensor, and the first of a section the rows
  /// of the vector unit free. kPiece: commands of a VectorSection. kRows: what its pieces so far store of the binding's
  /// tensor. kDone: all that it stores.
  enum class Kind : std::uint8_t { kLoad, kStore, kGemm, kAdd, kGate, kPiece, kRows, kDone };
  static constexpr std::int32_t kLast = -1;
  /// Of a LOAD or STORE, in device memory.
  struct Memory {
    std::uint64_t address = 0;
    std::uint32_t pitch = 0;
    /// Of a LOAD of elements, or a gate: the action that stores what it needs, by index; kLast: the last one that
    /// stores anything of the tensor.
    std::int32_t stored_by = kLast;
  };
  /// Of a GEMM; of an ADD the sums a and cin.
  struct Operands {
    Spot a, b, cin;
  };

  Kind kind = Kind::kGemm;
  Tensor tensor{}; ///< that is moved, or the result
  std::uint8_t core = 0;
  bool fp32 = false, spill = false;   ///< of a LOAD or STORE
  bool acc = false, out_bf16 = false; ///< of a GEMM or ADD
  std::uint32_t layer = 0;            ///< whose tensor it is
  std::int32_t binding = -1;          ///< index of the tensor's binding
  std::uint32_t product = 0;          ///< index over all phases
  std::uint32_t row = 0, col = 0;     ///< first element of the tile in the tensor; its size is that of the form
  Spot place;                         ///< of what is moved, or of the result
  union {
    Operands in;   ///< if it computes
    Memory memory; ///< if it moves, or is a gate
  };

  Action() : in() {}
  bool computes() const { return kind == Kind::kGemm || kind == Kind::kAdd; }
  bool moves() const { return kind == Kind::kLoad || kind == Kind::kStore; }
};
static_assert(sizeof(Action) <= isa::kCommandBytes);
/// A program of so many takes the most memory that a compilation does, with its stream beside it: what was freed is
/// given back to the system before each step that takes more (give_back_memory()).
inline constexpr std::size_t kManyActions = 100'000;

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
  TileForms forms;                                                                           ///< of their tiles
  std::map<std::pair<std::uint32_t, Tensor>, std::shared_ptr<const VectorSection>> sections; ///< by layer and result
  std::uint64_t dram_bytes = 0;    ///< tensors and spill space
  std::uint64_t more_commands = 0; ///< than one an action
  Room room() const { return {dram_bytes, actions.size() + more_commands}; }
  std::uint64_t visits = 0; ///< segments of the scratchpad that were looked at while tiles were placed

  const TileForm &form(const Action &a) const { return forms[a.place.form]; }
  Rect rect(const Action &a) const { return form(a).rect(a.row, a.col); }
  Place place(const Spot &spot) const { return forms[spot.form].place(spot.row); }

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
