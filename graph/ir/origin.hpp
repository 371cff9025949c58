// How a tensor lies in the file of another framework that it came from.
#pragma once

#include "graph/ir/shape.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::graph {

/// Weights of a convolution, [out, in, rows, columns] there, are [groups, rows, columns, in, out] here; images,
/// channels first there, have them last here. Every such arrangement is some dimensions cut into several, and all of
/// them in another order.
struct Origin {
  Shape shape;                      ///< there
  Shape cut;                        ///< the same elements there, dimensions cut
  std::vector<std::uint32_t> order; ///< the tensor has these dimensions of `cut` in this order
  std::vector<float> values = {};   ///< in the order of the tensor; empty: the file has none, or they were not read

  bool operator==(const Origin &o) const { return shape == o.shape && cut == o.cut && order == o.order; }
};

/// Calls visit(element of the tensor, the same in the file) for all, ascending by the first.
template <typename Visit> void for_places(const Origin &origin, Visit visit) {
  const std::size_t rank = origin.order.size();
  std::vector<std::size_t> dims(rank), steps(rank), index(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    dims[i] = origin.cut[origin.order[i]];
    steps[i] = origin.cut.count(origin.order[i] + 1, rank);
  }
  const std::size_t count = origin.cut.elements();
  std::size_t there = 0;
  for (std::size_t here = 0; here < count; ++here) {
    visit(here, there);
    for (std::size_t axis = rank; axis-- > 0;) {
      there += steps[axis];
      if (++index[axis] < dims[axis]) break;
      there -= steps[axis] * dims[axis];
      index[axis] = 0;
    }
  }
}

/// Elements of the file, in the tensor's order.
template <class T> std::vector<T> from_file(const Origin &origin, const std::vector<T> &values) {
  std::vector<T> result(values.size());
  for_places(origin, [&](std::size_t here, std::size_t there) { result[here] = values[there]; });
  return result;
}

/// Elements of the tensor, in the file's order.
template <class T> std::vector<T> to_file(const Origin &origin, const std::vector<T> &values) {
  std::vector<T> result(values.size());
  for_places(origin, [&](std::size_t here, std::size_t there) { result[there] = values[here]; });
  return result;
}

} // namespace gradweave::graph
