// An operator's text on lanes: one template for golden execution, fp64, and the programs of the vector unit.
#pragma once

#include "graph/operators/loops/golden_lines.hpp"
#include "graph/operators/loops/recorded_lines.hpp"

#include <algorithm>
#include <type_traits>

namespace gradweave::graph {

/// A block of lanes, with all that the text calls inlined.
template <class A, class Text>
[[gnu::flatten]] void run_part(Kernel<A> &k, const LineWalk &walk, std::size_t lane, std::size_t lanes,
                               std::size_t begin, std::size_t end, const Text &text) {
  GoldenLines<A> part(k, walk, lane, lanes, begin, end);
  text(part);
}

/// Runs text(lines) for the lanes of a walk, or writes it down. The text declares variables of a lane
/// (`auto sum = lines.variable(0)`) and sections, up to three loops with what is run once before, between and behind:
///
///   lines.loop([&](const auto &at) { sum(at) = A::add(sum(at), at.in(0)); });
///   lines.once([&](const auto &at) { at.out(0, sum(at)); });
///
/// at.in(i) and at.index(i) are operand i of the walk, a number or a whole number, at.out(o, v) gives result o, at
/// most once a section, and at.step() is the number of the step. `work`: operations an element takes.
template <class A, class Text> void walk_lines(Kernel<A> &k, const LineWalk &walk, std::size_t work, Text text) {
  if constexpr (std::is_same_v<A, Recorded>) {
    record_lines(k, walk, text);
  } else {
    constexpr std::size_t kLanes = GoldenLines<A>::kLanes;
    std::size_t lanes = 1, steps = 1;
    for (const std::size_t dim : walk.lanes)
      lanes *= dim;
    for (const std::size_t dim : walk.steps)
      steps *= dim;
    const std::size_t blocks = (lanes + kLanes - 1) / kLanes;
    const std::size_t cuts = walk.elementwise ? steps : 1; // so many parts may run at once
    k.parallel(blocks * cuts, kLanes * steps / cuts * work, [&](std::size_t begin, std::size_t end) {
      while (begin < end) { // what is of one block
        const std::size_t block = begin / cuts, stop = std::min(end, (block + 1) * cuts);
        const std::size_t first = walk.elementwise ? begin % cuts : 0;
        run_part(k, walk, block * kLanes, lanes, first, walk.elementwise ? first + stop - begin : steps, text);
        begin = stop;
      }
    });
  }
}

} // namespace gradweave::graph
