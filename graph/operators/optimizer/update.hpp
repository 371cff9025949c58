// What updates of parameters share: which elements they touch, and shapes that must agree.
#pragma once

#include "graph/operators/loops/entry.hpp"
#include "graph/operators/loops/lines.hpp"
#include "graph/operators/loops/move_rows.hpp"

#include <utility>
#include <vector>

namespace gradweave::graph {

/// Fails unless the inputs that are given have the shape of the first, w.
void require_like_parameter(const Inference &op, std::initializer_list<std::size_t> inputs);
/// Fails unless the constants have so many elements; and the factor, where given, one.
void require_constants(const Inference &op, std::size_t constants, std::uint32_t count, std::size_t factor);
/// Fails unless w has rows that ids can name.
void require_rows(const Inference &op, std::size_t ids);

/// Elements of w that are updated: [begin, end) of its row-major elements.
struct UpdatedRange {
  std::size_t begin, end;
};
/// All of w as one range or, where input `ids` is given, the rows that it names, each once, as ranges of rows that
/// follow each other. Throws GraphError where an id names no row, and where the ids are not known.
std::vector<UpdatedRange> updated_ranges(const KernelOp &k, std::size_t ids, const std::int32_t *values);

template <class A> std::vector<UpdatedRange> updated_ranges(const Kernel<A> &k, std::size_t ids) {
  if constexpr (kRecords<A>)
    return updated_ranges(k, ids, k.has_indices(ids) ? k.index_in(ids) : nullptr);
  else
    return updated_ranges(k, ids, k.has_in(ids) ? k.index_in(ids) : nullptr);
}

/// Operands of a walk over the elements of a range.
inline WalkOperand in_range(WalkValue value, const UpdatedRange &range) { return strided(value, 1, 0, range.begin); }

/// Where ids are given: outputs begin as copies of inputs, for the elements that are not updated.
template <class A>
void keep_others(Kernel<A> &k, std::size_t ids, const std::vector<std::pair<std::size_t, std::size_t>> &in_and_out) {
  if (!k.has_in(ids)) return;
  const std::size_t count = k.in_shape(0).elements();
  for (const auto &[in, out] : in_and_out)
    move_rows(k, {{1}, count, {input(in), {}, {0}, 0}, {output(out), {}, {0}, 0}});
}

} // namespace gradweave::graph
