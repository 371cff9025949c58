// Broadcasting as numpy and ONNX have it: shapes are aligned at their last dimensions, and a dimension of 1, or one
// that is not there, is repeated.
#pragma once

#include "graph/operators/loops/entry.hpp"

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

/// out[j] = step(out[j], i) for all positions i of the large shape at which the small one is at j, ascending.
template <class A, typename Step>
void fold_repeated(const Kernel<A> &k, const RepeatWalk &walk, typename A::Value *out, Step step) {
  const std::size_t outer = walk.dims.size() > 1 && walk.strides[0].front() != 0 ? walk.dims.front() : 1;
  std::size_t elements = 1;
  for (const std::size_t dim : walk.dims)
    elements *= dim;
  const std::size_t part = elements / outer;
  k.parallel(outer, part * 4, [&](std::size_t begin, std::size_t end) {
    walk_rows<1>(walk, begin * part, end * part,
                 [&](std::size_t at, std::size_t length, const std::array<std::size_t, 1> &from) {
                   typename A::Value *to = out + from[0];
                   if (walk.strides[0].back() == 0) {
                     typename A::Value value = *to;
                     for (std::size_t i = 0; i < length; ++i)
                       value = step(value, at + i);
                     *to = value;
                   } else {
                     for (std::size_t i = 0; i < length; ++i)
                       to[i] = step(to[i], at + i);
                   }
                 });
  });
}

/// The gradient of input i: `gradient`, of the result's shape, summed over what the input is repeated along.
void give_summed(Derivation &d, std::size_t i, TensorId gradient);

} // namespace gradweave::graph
