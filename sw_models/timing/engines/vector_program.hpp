// Timing of a program on the vector unit (rtl/vector/gw_vector_unit.sv and what it holds).
#pragma once

#include "isa/vector/program.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace gradweave::timing {

/// What of a program its times depend on.
struct VectorSections {
  struct Section {
    std::vector<bool> issued;  ///< for each instruction whether it goes to the lanes: all but SETs do
    std::uint32_t tiles = 0;   ///< lines that it reads for each strip
    std::uint32_t shared = 0;  ///< lines that it reads once for all strips of a group
    std::uint32_t outputs = 0; ///< lines that it writes for each strip
    std::uint32_t length() const { return static_cast<std::uint32_t>(issued.size()); }
    bool reads() const { return tiles + shared != 0; }
    std::uint64_t lines_read(std::uint32_t strips) const { return std::uint64_t{tiles} * strips + shared; }
  };
  /// The instruction that stops the program with a fault.
  struct Place {
    std::uint32_t section = 0, instruction = 0;
  };

  /// `words`: the memory from the program's first word on. `fault`: what isa::vector::check() finds in them. `same`:
  /// a bit for each of t0 to t4, set where all strips read the same line (SAME_ELEMENT).
  VectorSections(const isa::vector::Words &words, const std::optional<isa::vector::Fault> &fault, unsigned same);

  std::array<Section, isa::vector::kSections> sections;
  bool no_program = false;    ///< a fault of the first two words
  std::optional<Place> fault; ///< of an instruction
};

/// Cycles from the one in which the unit is started, which is 0; at least one strip and one step.
struct VectorTimes {
  std::uint64_t done = 0;    ///< the unit says that it is done
  std::uint64_t active = 0;  ///< turns of instructions
  std::uint64_t stalled = 0; ///< cycles in which the next run of a section waited for its lines, or for room
  std::uint64_t lines_read = 0, lines_written = 0;
};

/// Follows the runs of sections one by one. `strips_at_once`: G. What is counted is counted up to and including cycle
/// `limit`, which `done` does not depend on.
VectorTimes time_program(const VectorSections &program, std::uint32_t strips_at_once, std::uint32_t strips,
                         std::uint32_t steps, std::uint64_t limit);

} // namespace gradweave::timing
