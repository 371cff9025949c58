#include "graph/operators/loops/broadcast.hpp"

namespace gradweave::graph {
namespace {

/// A dimension counted from the last one; 1 where the shape has none.
std::size_t from_end(const Shape &shape, std::size_t d) { return d < shape.rank() ? shape.back(d) : 1; }

} // namespace

Shape broadcast_shape(const Inference &op, const Shape &a, const Shape &b) {
  std::vector<std::uint32_t> dims(std::max(a.rank(), b.rank()));
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const std::size_t of_a = from_end(a, d), of_b = from_end(b, d);
    op.require(of_a == of_b || of_a == 1 || of_b == 1,
               "the shapes are " + a.text() + " and " + b.text() +
                   "; from the last dimension on, each pair must be equal or have a 1");
    dims[dims.size() - 1 - d] = static_cast<std::uint32_t>(std::max(of_a, of_b));
  }
  return Shape(std::move(dims));
}

void require_broadcasts(const Inference &op, const Shape &small, const Shape &large) {
  bool fits = small.rank() <= large.rank();
  for (std::size_t d = 0; fits && d < small.rank(); ++d)
    fits = small.back(d) == large.back(d) || small.back(d) == 1;
  op.require(fits, small.text() + " cannot be repeated to " + large.text() +
                       "; from the last dimension on, each of its dimensions must be equal or 1");
}

void infer_broadcast(Inference &op) { op.set(0, broadcast_shape(op, op.shape(0), op.shape(1))); }

RepeatWalk::RepeatWalk(const Shape &large, const std::vector<const Shape *> &small)
    : strides(small.size(), std::vector<std::size_t>{}) {
  std::vector<std::size_t> steps(small.size(), 1);
  // From the last dimension on; outermost first in the end.
  for (std::size_t d = 0; d < large.rank(); ++d) {
    const std::size_t dim = large.back(d);
    if (dim == 1) continue;
    bool merges = !dims.empty();
    std::vector<std::size_t> stride(small.size());
    for (std::size_t s = 0; s < small.size(); ++s) {
      const bool there = from_end(*small[s], d) != 1;
      stride[s] = there ? steps[s] : 0;
      if (there) steps[s] *= dim;
      merges = merges && stride[s] == strides[s].back() * dims.back();
    }
    if (merges) {
      dims.back() *= dim;
      continue;
    }
    dims.push_back(dim);
    for (std::size_t s = 0; s < small.size(); ++s)
      strides[s].push_back(stride[s]);
  }
  if (dims.empty()) {
    dims.push_back(1);
    for (std::vector<std::size_t> &stride : strides)
      stride.push_back(0);
  }
  std::reverse(dims.begin(), dims.end());
  for (std::vector<std::size_t> &stride : strides)
    std::reverse(stride.begin(), stride.end());
}

std::size_t RepeatWalk::offset(std::size_t small, std::size_t row) const {
  std::size_t result = 0;
  for (std::size_t d = dims.size() - 1; d-- > 0;) {
    result += row % dims[d] * strides[small][d];
    row /= dims[d];
  }
  return result;
}

void give_summed(Derivation &d, std::size_t i, TensorId gradient) {
  const Shape shape = d.shape(i);
  if (d.build.shape(gradient) == shape) return d.give(i, gradient);
  const std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
  d.give(i, d.build.add("SumTo", {gradient}, {{"shape", dims}}, d.name(i)));
}

} // namespace gradweave::graph
