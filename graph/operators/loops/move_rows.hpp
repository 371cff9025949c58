// Elements that change places, as rows that are moved.
#pragma once

#include "graph/operators/loops/lines.hpp"

#include <algorithm>
#include <cstddef>

namespace gradweave::graph {

template <class A, typename Element>
void copy_rows(const Kernel<A> &k, const RowMove &move, const Element *from, Element *to) {
  std::size_t rows = 1;
  for (const std::size_t dim : move.rows)
    rows *= dim;
  k.parallel(rows, move.length, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      std::size_t rest = row, source = move.from.first, target = move.to.first;
      for (std::size_t d = move.rows.size(); d-- > 0; rest /= move.rows[d]) {
        source += rest % move.rows[d] * move.from.steps[d];
        target += rest % move.rows[d] * move.to.steps[d];
      }
      std::copy_n(from + source, move.length, to + target);
    }
  });
}

/// Moves rows, of whole numbers too, all bits as they are; or writes down that they are to be moved.
template <class A> void move_rows(Kernel<A> &k, const RowMove &move) {
  if constexpr (std::is_same_v<A, Recorded>)
    k.add(move);
  else if (k.of_indices(move.from.value))
    copy_rows(k, move, k.index_in(move.from.value.number), k.index_out(move.to.value.number));
  else
    copy_rows(k, move, k.read(move.from.value), k.write(move.to.value));
}

/// All elements become `value`.
template <class A>
void fill_elements(Kernel<A> &k, const WalkValue &elements, std::size_t count, typename A::Value value) {
  walk_lines(k, elements_walk(count, {}, {elements}), 1,
             [value](auto &lines) { lines.loop([value](const auto &at) { at.out(0, value); }); });
}

} // namespace gradweave::graph
