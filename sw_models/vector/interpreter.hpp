// The vector unit's programs, computed: what each instruction gives by clause N18, lane by lane. It knows no cycles.
//
// A command runs a program over `strips` and `steps`: for each strip, each section that is run once, and each loop's
// section for every step, in order. A section reads a line of each tile of its mask, and writes a line of each result
// of its mask; lines have a word a lane. Nothing goes from lane to lane, nor from strip to strip.
#pragma once

#include "isa/vector/program.hpp"

#include <cstdint>
#include <functional>

namespace gradweave::vector {

/// Which line: of which tile or result, of which run of which section of which strip.
struct LinePlace {
  unsigned tile;
  unsigned section;
  std::uint32_t strip;
  std::uint32_t step; ///< 0 in sections that are run once
};

struct Execution {
  std::uint32_t lanes = 1;
  std::uint32_t strips = 1;
  std::uint32_t steps = 1;
  /// So many strips go together from section to section and from step to step; 1: one after the other.
  std::uint32_t strips_in_turn = 1;
  std::function<void(const LinePlace &, std::uint32_t *line)> read;        ///< fills `lanes` words
  std::function<void(const LinePlace &, const std::uint32_t *line)> write; ///< takes `lanes` words
};

/// Strips in ascending order, in groups. The program is legal (isa::vector::check).
void interpret(const isa::vector::Program &program, const Execution &execution);

} // namespace gradweave::vector
