// What commands leave in a vector unit: words of its program memory, and the tiles that its slots hold.
#pragma once

#include "isa/command.hpp"
#include "isa/vector/program.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace gradweave::vector {

/// Part of a tile in the scratchpad that a VECTOR reads or writes: rows x cols elements from row 0 and column 0 of the
/// panels on, the columns before the window among them.
struct TileUse {
  isa::VectorTile tile; ///< its slot: t0 to t4, then o0 to o3
  std::uint32_t rows = 0, cols = 0;
  unsigned first_section = 0, last_section = 0; ///< that use it
  bool in_loop = false;                         ///< one of these is a loop
  std::uint64_t lines = 0;                      ///< that each strip sees or writes of it

  bool is_result() const { return tile.slot >= isa::kOperandSlots; }
  /// How often each of these lines is read for `strips` strips on a unit of G = `strips_at_once`: once a strip, or once
  /// a group of 4 G strips, as it is the same for all.
  std::uint32_t lines_for(std::uint32_t strips, std::uint32_t strips_at_once) const {
    const std::uint32_t group = tile.same_element ? 4 * strips_at_once : 1;
    return (strips + group - 1) / group;
  }
};

class UnitState {
public:
  /// A run begins: no slot holds a tile. The program memory keeps what it has: zeros, at first.
  void begin_run() { slots_ = {}; }
  void take(const isa::ProgramCommand &program);
  void take(const isa::TileCommand &tiles);

  /// The memory from a word on.
  isa::vector::Words words(std::uint32_t first) const;
  /// Of t0 to t4, then o0 to o3; its own slot is kNoSlot where nothing is described.
  const isa::VectorTile &slot(std::uint32_t slot) const { return slots_.at(slot); }
  /// A bit for each of t0 to t4, set where all lanes read the same element.
  unsigned same_elements() const;

  /// Why the command cannot run: a fault of its program, or of the tiles that the program uses.
  std::optional<isa::vector::Fault> fault(const isa::VectorCommand &run) const;
  /// What a command without a fault reads, by ascending slots, then what it writes.
  std::vector<TileUse> uses(const isa::VectorCommand &run) const;

private:
  std::array<std::uint64_t, isa::kProgramWords> memory_{};
  std::array<isa::VectorTile, isa::kSlots> slots_;
};

} // namespace gradweave::vector
