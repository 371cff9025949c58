// What losses share that are a mean over all elements of a tensor and a target of its shape.
#pragma once

#include "graph/operators/loops/entry.hpp"
#include "graph/operators/loops/lines.hpp"

namespace gradweave::graph {

/// 1 / elements of an input.
template <class A> typename A::Value share_of_elements(const KernelOp &k, std::size_t input) {
  return number<A>(1.0 / static_cast<double>(k.in_shape(input).elements()));
}

/// Output 0: the mean of terms of inputs 0 and 1. Each row is a chain of its own, sum = fold(sum, x, target) from +0,
/// and the rows' sums are added ascending from +0 (N14): an order that no machine matters to.
template <class A, typename Fold> void mean_of_terms(Kernel<A> &k, std::size_t work, Fold fold) {
  const std::size_t rows = k.in_shape(0).rows(), cols = k.in_shape(0).cols();
  const WalkValue sums = k.temporary(rows);
  LineWalk of_rows = rows_as_lanes(rows, cols);
  of_rows.in = {strided(input(0), cols, 1), strided(input(1), cols, 1)};
  of_rows.out = {by_lane(sums)};
  walk_lines(k, of_rows, work, [&fold](auto &lines) {
    auto sum = lines.variable(0);
    lines.loop([&](const auto &at) { sum(at) = fold(sum(at), at.in(0), at.in(1)); });
    lines.once([&](const auto &at) { at.out(0, sum(at)); });
  });
  const auto share = share_of_elements<A>(k, 0);
  LineWalk of_sums = rows_as_lanes(1, rows);
  of_sums.in = {by_step(sums)};
  of_sums.out = {by_lane(output(0))};
  walk_lines(k, of_sums, 1, [share](auto &lines) {
    auto sum = lines.variable(0);
    lines.loop([&](const auto &at) { sum(at) = A::add(sum(at), at.in(0)); });
    lines.once([&](const auto &at) { at.out(0, A::mul(sum(at), share)); });
  });
}

/// Output 0 = f(x, target) (dloss share); x, target and dloss are inputs 1, 2 and 0.
template <class A, typename F> void slope_of_terms(Kernel<A> &k, std::size_t work, typename A::Value share, F f) {
  LineWalk walk = elements_walk(k.out_shape(0).elements(), {input(1), input(2)}, {output(0)});
  walk.in.push_back(a_number(input(0)));
  walk_lines(k, walk, work, [&f, share](auto &lines) {
    auto factor = lines.variable(0);
    lines.once([&](const auto &at) { factor(at) = A::mul(at.in(2), share); });
    lines.loop([&](const auto &at) { at.out(0, A::mul(f(at.in(0), at.in(1)), factor(at))); });
  });
}

inline void require_target(const Inference &op, std::size_t x) {
  op.require(op.shape(x) == op.shape(x + 1),
             "x is " + op.shape(x).text() + " and target " + op.shape(x + 1).text() + "; they must be equal");
}

inline void infer_elementwise_loss(Inference &op) {
  require_target(op, 0);
  op.set(0, {});
}

inline void infer_elementwise_loss_gradient(Inference &op) {
  op.require(op.shape(0).elements() == 1, "dloss is " + op.shape(0).text() + "; it must be one number");
  require_target(op, 1);
  op.set(0, op.shape(1));
}

} // namespace gradweave::graph
