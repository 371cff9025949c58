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

LineWalk repeated_elements(const Shape &large, const std::vector<const Shape *> &small) {
  return repeated_elements(RepeatWalk(large, small));
}

LineWalk repeated_elements(const RepeatWalk &walk) {
  LineWalk result;
  result.elementwise = true;
  result.lanes = {walk.dims.back()};
  result.steps.assign(walk.dims.begin(), walk.dims.end() - 1);
  if (result.steps.empty()) result.steps = {1};
  const auto operand = [&result](WalkValue value, std::vector<std::size_t> strides) {
    WalkOperand made{value, {strides.back()}, {}, 0};
    strides.pop_back();
    made.steps = strides.empty() ? std::vector<std::size_t>(result.steps.size(), 0) : std::move(strides);
    return made;
  };
  for (std::size_t s = 0; s < walk.strides.size(); ++s)
    result.in.push_back(operand(input(s), walk.strides[s]));
  std::vector<std::size_t> dense(walk.dims.size(), 1);
  for (std::size_t d = dense.size(); d-- > 1;)
    dense[d - 1] = dense[d] * walk.dims[d];
  result.out.push_back(operand(output(0), std::move(dense)));
  return result;
}

LineWalk repeated_folds(const RepeatWalk &walk, WalkValue large, WalkValue small) {
  LineWalk result;
  WalkOperand from{large, {}, {}, 0}, to{small, {}, {}, 0};
  std::size_t stride = 1;
  for (std::size_t d = walk.dims.size(); d-- > 0; stride *= walk.dims[d]) {
    const bool repeats = walk.strides[0][d] == 0;
    (repeats ? result.steps : result.lanes).insert((repeats ? result.steps : result.lanes).begin(), walk.dims[d]);
    (repeats ? from.steps : from.lanes).insert((repeats ? from.steps : from.lanes).begin(), stride);
    (repeats ? to.steps : to.lanes).insert((repeats ? to.steps : to.lanes).begin(), walk.strides[0][d]);
  }
  for (auto *dims : {&result.lanes, &result.steps})
    if (dims->empty()) dims->push_back(1);
  for (auto *strides : {&from.lanes, &from.steps, &to.lanes, &to.steps})
    if (strides->empty()) strides->push_back(0);
  result.in = {std::move(from)};
  result.out = {std::move(to)};
  return result;
}

LineWalk folds_of_few(const LineWalk &fold) {
  constexpr std::size_t kMost = 5; // operands of a walk
  std::size_t steps = 1;
  for (const std::size_t dim : fold.steps)
    steps *= dim;
  const WalkOperand &of = fold.in[0];
  LineWalk few{fold.lanes, {1}, {}, {}, true};
  if (steps > kMost || of.lanes.back() != 1) return few;
  for (std::size_t step = 0; step < steps; ++step) {
    WalkOperand operand{of.value, of.lanes, {0}, of.first};
    for (std::size_t d = fold.steps.size(), left = step; d-- > 0; left /= fold.steps[d])
      operand.first += left % fold.steps[d] * of.steps[d];
    few.in.push_back(std::move(operand));
  }
  few.out = {{fold.out[0].value, fold.out[0].lanes, {0}, fold.out[0].first}};
  return few;
}

void give_summed(Derivation &d, std::size_t i, TensorId gradient) {
  const Shape shape = d.shape(i);
  if (d.build.shape(gradient) == shape) return d.give(i, gradient);
  const std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
  d.give(i, d.build.add("SumTo", {gradient}, {{"shape", dims}}, d.name(i)));
}

} // namespace gradweave::graph
