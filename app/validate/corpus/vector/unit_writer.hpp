// Commands of a vector unit for a program and its tiles.
#pragma once

#include "base/random/dice.hpp"
#include "isa/command.hpp"
#include "isa/vector/program.hpp"
#include "sw_models/vector/unit_state.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::corpus {

using Operation = decltype(isa::Decoded::op);

/// A program, and what it is run on.
struct VectorWork {
  isa::vector::Words words;
  std::vector<isa::VectorTile> tiles; ///< each in a slot of its own
  std::uint32_t elements = 1, steps = 1;
};

/// Knows what a unit holds, so that a run needs only what is new.
class UnitWriter {
public:
  UnitWriter(std::uint8_t unit, Dice &dice) : unit_(unit), dice_(dice) {}

  /// Legal programs that are in the memory.
  const std::vector<isa::vector::Words> &programs() const { return programs_; }

  /// Whether the slot holds a tile.
  bool holds(std::uint32_t slot) const { return state_.slot(slot).slot != isa::kNoSlot; }

  /// PROGRAMs for the words, anywhere in the memory, if they are not there; TILEs for tiles that the slots do not hold,
  /// and for some that they do; in any order; then the VECTOR.
  std::vector<Operation> run(const VectorWork &work);

private:
  std::uint32_t place(const isa::vector::Words &words, std::vector<Operation> &out);
  void describe(const std::vector<isa::VectorTile> &tiles, std::vector<Operation> &out);

  std::uint8_t unit_;
  Dice &dice_;
  vector::UnitState state_;
  std::vector<isa::vector::Words> programs_;
  std::vector<std::uint32_t> first_; ///< word of each program
};

} // namespace gradweave::corpus
