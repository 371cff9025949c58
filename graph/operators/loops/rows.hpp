// Chains along the rows of a matrix, ascending.
#pragma once

#include "graph/golden/kernel.hpp"

#include <cstddef>

namespace gradweave::graph {

/// Calls body(row) for the rows of the tensor's last dimension on all threads. `work`: operations an element takes.
template <class A, typename F> void for_rows(const Kernel<A> &k, const Shape &shape, std::size_t work, F body) {
  k.parallel(shape.rows(), shape.cols() * work, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row)
      body(row);
  });
}

/// The largest one; NaN if one is.
template <class A> typename A::Value row_maximum(const typename A::Value *x, std::size_t count) {
  typename A::Value most = x[0];
  for (std::size_t i = 1; i < count; ++i)
    most = A::max(most, x[i]);
  return most;
}

/// ((+0 + term(0)) + term(1)) + ...
template <class A, typename Term> typename A::Value row_sum(std::size_t count, Term term) {
  typename A::Value sum = 0;
  for (std::size_t i = 0; i < count; ++i)
    sum = A::add(sum, term(i));
  return sum;
}

/// From +0: sum = a(i) b(i) + sum, each rounded once.
template <class A, typename Left, typename Right> typename A::Value row_product(std::size_t count, Left a, Right b) {
  typename A::Value sum = 0;
  for (std::size_t i = 0; i < count; ++i)
    sum = A::fma(a(i), b(i), sum);
  return sum;
}

/// x becomes e^(x - most); returns the sum of it. One pointer, for compilers make no vectors of two that may be equal.
template <class A> typename A::Value row_exponentials(typename A::Value *x, std::size_t count, typename A::Value most) {
  for (std::size_t i = 0; i < count; ++i)
    x[i] = A::exp(A::sub(x[i], most));
  return row_sum<A>(count, [x](std::size_t i) { return x[i]; });
}

} // namespace gradweave::graph
