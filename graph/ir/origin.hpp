// How a tensor lies in the file of another framework that it came from.
#pragma once

#include "graph/ir/shape.hpp"

#include <algorithm>
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

/// Calls visit(element of the tensor, the same in the file) for all. Where neighbours here are none there, in blocks in
/// which both lie close together: a matrix that lies transposed would miss the cache at each element.
template <typename Visit> void for_places(const Origin &origin, Visit visit) {
  constexpr std::size_t kBlock = 32;
  const std::size_t rank = origin.order.size(), count = origin.cut.elements();
  std::vector<std::size_t> dims(rank), here(rank), there(rank), index(rank);
  std::size_t lead = rank; // the dimension that is the file's last one
  for (std::size_t i = 0; i < rank; ++i) {
    dims[i] = origin.cut[origin.order[i]];
    there[i] = origin.cut.count(origin.order[i] + 1, rank);
    if (there[i] == 1 && dims[i] > 1) lead = i;
  }
  for (std::size_t i = rank, step = 1; i-- > 0; step *= dims[i])
    here[i] = step;
  if (rank == 0) {
    visit(std::size_t{0}, std::size_t{0});
    return;
  }
  const std::size_t last = rank - 1;
  const std::size_t leads = lead < last ? dims[lead] : 1, lasts = dims[last];
  const std::size_t lead_here = lead < last ? here[lead] : 0, lead_there = lead < last ? 1 : 0;
  for (std::size_t done = 0, h = 0, t = 0; done < count; done += leads * lasts) {
    for (std::size_t a0 = 0; a0 < leads; a0 += kBlock)
      for (std::size_t b0 = 0; b0 < lasts; b0 += kBlock)
        for (std::size_t a = a0; a < std::min(leads, a0 + kBlock); ++a)
          for (std::size_t b = b0; b < std::min(lasts, b0 + kBlock); ++b)
            visit(h + a * lead_here + b, t + a * lead_there + b * there[last]);
    for (std::size_t axis = last; axis-- > 0;) { // the next of all other dimensions
      if (axis == lead) continue;
      h += here[axis], t += there[axis];
      if (++index[axis] < dims[axis]) break;
      h -= here[axis] * dims[axis], t -= there[axis] * dims[axis];
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
