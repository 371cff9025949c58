// What updates of parameters share: which elements they touch, and shapes that must agree.
#pragma once

#include "graph/operators/loops/entry.hpp"

#include <vector>

namespace gradweave::graph {

/// Fails unless the inputs that are given have the shape of the first, w.
void require_like_parameter(const Inference &op, std::initializer_list<std::size_t> inputs);
/// Fails unless the constants have so many elements; and the factor, where given, one.
void require_constants(const Inference &op, std::size_t constants, std::uint32_t count, std::size_t factor);
/// Fails unless w has rows that ids can name.
void require_rows(const Inference &op, std::size_t ids);

/// For each row of a matrix of `rows` rows, whether one of `count` ids names it. Throws GraphError where an id names
/// none.
std::vector<bool> touched_rows(const Op &op, const std::int32_t *ids, std::size_t count, std::size_t rows);

/// Calls update(begin, end) for all elements of w or, where input `ids` is given, for those of the rows that it names;
/// copy(begin, end) for the others.
template <class A, typename Update, typename Copy>
void update_elements(const Kernel<A> &k, std::size_t ids, Update update, Copy copy) {
  const Shape &w = k.in_shape(0);
  constexpr std::size_t kWork = 60; // operations an element
  if (!k.has_in(ids)) return k.parallel(w.elements(), kWork, update);
  const std::size_t rows = w[0], cols = w.elements() / rows;
  const std::vector<bool> touched = touched_rows(k.op(), k.index_in(ids), k.in_shape(ids).elements(), rows);
  k.parallel(rows, cols * kWork, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row)
      if (touched[row])
        update(row * cols, (row + 1) * cols);
      else
        copy(row * cols, (row + 1) * cols);
  });
}

} // namespace gradweave::graph
