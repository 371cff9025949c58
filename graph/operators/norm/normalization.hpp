// What the normalizations of rows share: shapes, statistics, attributes.
#pragma once

#include "graph/operators/loops/entry.hpp"
#include "graph/operators/loops/lines.hpp"

#include <initializer_list>

namespace gradweave::graph {

inline AttributeSpec epsilon_attribute() {
  return {"epsilon", AttributeKind::kReal, 1e-5, "added to the mean square before its root is taken"};
}

/// The walk of rows as lanes, and 1 / columns.
inline LineWalk normalized_rows(const Shape &x) { return rows_as_lanes(x.rows(), x.cols()); }
template <class A> typename A::Value share_of_columns(const Shape &x) {
  return number<A>(1.0 / static_cast<double>(x.cols()));
}
/// A matrix of that walk.
inline WalkOperand of_rows(const Shape &x, WalkValue value) { return strided(value, x.cols(), 1); }

/// One number a row.
Shape statistics_of(const Shape &x);
/// Fails unless `scale`, an input, has one element for each column of x, another one; and epsilon is not negative.
void check_normalized(const Inference &op, std::size_t x, std::size_t scale);
/// Fails unless dy, the first input, is of the shape of x, the second, and the statistics are one number a row.
void check_gradient_rows(const Inference &op, std::initializer_list<std::size_t> statistics);
/// Throws GraphError if the loss depends on a result behind the first.
void refuse_gradients_of_statistics(Derivation &d);

} // namespace gradweave::graph
