// Broadcasting as numpy and ONNX have it: shapes are aligned at their last dimensions, and a dimension of 1, or one
// that is not there, is repeated.
#pragma once

#include "graph/operators/loops/entry.hpp"
#include "graph/operators/loops/lines.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace gradweave::graph {

/// Of two tensors; fails unless each pair of dimensions agrees or has a 1.
Shape broadcast_shape(const Inference &op, const Shape &a, const Shape &b);
/// Fails unless `small`, repeated, is `large`.
void require_broadcasts(const Inference &op, const Shape &small, const Shape &large);
/// Infers two inputs that are broadcast.
void infer_broadcast(Inference &op);

/// What a position in a large shape is in a small one that is repeated in it. Dimensions that are walked alike are
/// merged, those of 1 dropped.
struct RepeatWalk {
  RepeatWalk(const Shape &large, const std::vector<const Shape *> &small);

  std::vector<std::size_t> dims;                 ///< of the large shape, outermost first, at least one
  std::vector<std::vector<std::size_t>> strides; ///< of each small one; 0 where it is repeated; the last one is 0 or 1

  std::size_t inner() const { return dims.back(); }
  /// Where row `row` of the large shape, which has inner() elements, begins in a small one.
  std::size_t offset(std::size_t small, std::size_t row) const;
};

/// The walk of output 0's elements and those of inputs 0, 1, ..., which are repeated to its shape: the last dimension
/// as lanes.
LineWalk repeated_elements(const Shape &large, const std::vector<const Shape *> &small);
LineWalk repeated_elements(const RepeatWalk &walk);
/// Dimensions along which the small shape is repeated as steps, which a reduction runs along, the others as lanes.
/// Operands: one of the large shape, which is read, and one of the small one.
LineWalk repeated_folds(const RepeatWalk &walk, WalkValue large, WalkValue small);

/// Calls body(at, length, offsets) for parts of rows that make up [begin, end) of the large shape.
template <std::size_t N, typename F>
void walk_rows(const RepeatWalk &walk, std::size_t begin, std::size_t end, F body) {
  for (std::size_t at = begin; at < end;) {
    const std::size_t row = at / walk.inner(), column = at % walk.inner();
    const std::size_t length = std::min(walk.inner() - column, end - at);
    std::array<std::size_t, N> offsets{};
    for (std::size_t s = 0; s < N; ++s)
      offsets[s] = walk.offset(s, row) + column * walk.strides[s].back();
    body(at, length, offsets);
    at += length;
  }
}

/// out[i] = f(a[i], b[i]), both repeated to the result's shape.
template <class A, typename F> void zip_repeated(Kernel<A> &k, F f) {
  if constexpr (kRecords<A>)
    record_elements(k, repeated_elements(k.out_shape(0), {&k.in_shape(0), &k.in_shape(1)}),
                    [&f](const auto &at) { at.out(0, f(at.in(0), at.in(1))); });
  else
    zip_repeated(k, k.out(0), f);
}

/// The same for golden execution, to results of any type.
template <class A, typename T, typename F> void zip_repeated(Kernel<A> &k, T *out, F f) {
  const RepeatWalk walk(k.out_shape(0), {&k.in_shape(0), &k.in_shape(1)});
  const auto *a = k.in(0);
  const auto *b = k.in(1);
  const bool a_stays = walk.strides[0].back() == 0, b_stays = walk.strides[1].back() == 0;
  k.parallel(k.out_shape(0).elements(), 8, [&](std::size_t begin, std::size_t end) {
    walk_rows<2>(walk, begin, end, [&](std::size_t at, std::size_t length, const std::array<std::size_t, 2> &from) {
      const auto *x = a + from[0];
      const auto *y = b + from[1];
      T *to = out + at;
      if (a_stays)
        for (std::size_t i = 0; i < length; ++i)
          to[i] = f(*x, y[b_stays ? 0 : i]);
      else if (b_stays)
        for (std::size_t i = 0; i < length; ++i)
          to[i] = f(x[i], *y);
      else
        for (std::size_t i = 0; i < length; ++i)
          to[i] = f(x[i], y[i]);
    });
  });
}

/// The walk of a fold of few steps, each of which is an operand: elements, as nothing is carried on. None, with no
/// operands, if there are more steps than operands, or if they lie side by side.
LineWalk folds_of_few(const LineWalk &fold);

/// Output 0: finish(chain), the chain being step(chain, x) of the elements x of input 0 at which the output, repeated,
/// is at its element, ascending, from `first`.
template <class A, typename Step, typename Finish>
void fold_repeated(Kernel<A> &k, const RepeatWalk &walk, double first, Step step, Finish finish) {
  const LineWalk fold = repeated_folds(walk, input(0), output(0)), few = folds_of_few(fold);
  if (const std::size_t steps = few.in.size(); steps != 0)
    return walk_lines(k, few, 4, [&](auto &lines) {
      lines.loop([&](const auto &at) {
        auto value = step(number<A>(first), at.in(0));
        for (std::size_t i = 1; i < steps; ++i)
          value = step(value, at.in(i));
        at.out(0, finish(value));
      });
    });
  walk_lines(k, fold, 4, [&](auto &lines) {
    auto value = lines.variable(first);
    lines.loop([&](const auto &at) { value(at) = step(value(at), at.in(0)); });
    lines.once([&](const auto &at) { at.out(0, finish(value(at))); });
  });
}

/// Output 0 = f(input 0), which is repeated.
template <class A, typename F> void repeat_input(Kernel<A> &k, const RepeatWalk &walk, F f) {
  walk_lines(k, repeated_elements(walk), 1,
             [&](auto &lines) { lines.loop([&](const auto &at) { at.out(0, f(at.in(0))); }); });
}

/// The gradient of input i: `gradient`, of the result's shape, summed over what the input is repeated along.
void give_summed(Derivation &d, std::size_t i, TensorId gradient);

} // namespace gradweave::graph
