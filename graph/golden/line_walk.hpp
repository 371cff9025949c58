// A walk: lanes that each go through the same steps, and where each finds its elements. A reduction runs along the
// steps of a lane, ascending; nothing passes from lane to lane. Golden execution runs walks with values, and the vector
// unit as jobs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::graph {

/// A tensor of an op, or values between its walks.
struct WalkValue {
  enum class Kind : std::uint8_t { kInput, kOutput, kTemporary } kind = Kind::kInput;
  std::size_t number = 0;

  bool operator==(const WalkValue &o) const { return kind == o.kind && number == o.number; }
};
inline WalkValue input(std::size_t i) { return {WalkValue::Kind::kInput, i}; }
inline WalkValue output(std::size_t o) { return {WalkValue::Kind::kOutput, o}; }

/// What a walk reads or writes: the element of a lane and a step is `first`, and as many strides further for each
/// dimension as the lane, or step, has there. Elements; 0: repeated.
struct WalkOperand {
  WalkValue value;
  std::vector<std::size_t> lanes, steps; ///< strides, a dimension each
  std::size_t first = 0;
};

struct LineWalk {
  std::vector<std::size_t> lanes, steps; ///< dimensions, outermost first; at least one each
  std::vector<WalkOperand> in, out;
  /// No step depends on another: all may run at once, or as lanes.
  bool elementwise = false;
};

/// The walk of a matrix whose rows are lanes and whose columns are steps.
inline LineWalk rows_as_lanes(std::size_t rows, std::size_t cols) { return {{rows}, {cols}, {}, {}, false}; }
/// The walk of a matrix whose columns are lanes and whose rows are steps.
inline LineWalk columns_as_lanes(std::size_t rows, std::size_t cols) { return {{cols}, {rows}, {}, {}, false}; }

/// Operands of a walk with one dimension of lanes and one of steps.
inline WalkOperand strided(WalkValue value, std::size_t lane, std::size_t step, std::size_t first = 0) {
  return {value, {lane}, {step}, first};
}
inline WalkOperand by_lane(WalkValue value) { return strided(value, 1, 0); } ///< a vector, an element a lane
inline WalkOperand by_step(WalkValue value) { return strided(value, 0, 1); } ///< a vector, an element a step
/// One element for all.
inline WalkOperand a_number(WalkValue value, std::size_t which = 0) { return strided(value, 0, 0, which); }

/// The walk of `count` elements that all operands have side by side.
inline LineWalk elements_walk(std::size_t count, const std::vector<WalkValue> &in, const std::vector<WalkValue> &out) {
  LineWalk walk{{count}, {1}, {}, {}, true};
  for (const WalkValue &value : in)
    walk.in.push_back(by_lane(value));
  for (const WalkValue &value : out)
    walk.out.push_back(by_lane(value));
  return walk;
}

} // namespace gradweave::graph
