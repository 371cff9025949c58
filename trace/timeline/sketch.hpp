// A run thinned to what a page has room for: when each engine was at work, and how full the scratchpad was.
#pragma once

#include "trace/timeline/run.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::runtime::timeline {

/// Commands of an engine, one or several.
struct SketchBar {
  std::uint64_t begin = 0, end = 0; ///< cycles of the run: first, and first behind it
  std::uint32_t tensor = 0;         ///< of SketchRow::tensors: the one that most of its cycles belong to
  std::uint32_t commands = 0;
};

struct SketchRow {
  std::string engine; ///< "load", "store", "compute0", ...
  std::vector<std::string> tensors;
  std::vector<SketchBar> bars; ///< in order of time; they do not overlap
};

struct Sketch {
  std::uint64_t cycles = 0;            ///< of the run
  std::uint64_t commands = 0;          ///< of those that began
  std::uint64_t grain = 0;             ///< bars and gaps shorter than so many cycles may be drawn as one; 0: none are
  std::vector<SketchRow> rows;         ///< of the engines that did something
  std::uint64_t spm_rows = 0;          ///< of the scratchpad, all banks
  std::uint64_t interval = 0;          ///< cycles to a value of `occupied`
  std::vector<std::uint32_t> occupied; ///< most scratchpad rows that held something still needed, of each interval
};

/// Draws with at most `most_bars` bars (but one a row at least) and as many values of occupancy as there are intervals
/// of a power of two cycles, `most_values` at most. `tensors`: what each command moves or makes; empty: nothing. Where
/// commands of an engine overlap, the later one begins where the earlier one ends. Throws TimelineError.
Sketch sketch(const Run &run, const std::vector<std::string> &tensors, std::size_t most_bars, std::size_t most_values);

} // namespace gradweave::runtime::timeline
