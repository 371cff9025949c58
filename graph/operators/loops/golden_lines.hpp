// Golden execution of the lanes of a walk (graph/golden/line_walk.hpp), side by side in vectors.
#pragma once

#include "graph/golden/kernel.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace gradweave::graph {

/// A block of lanes. What operators run on it is their text: see walk_lines() in lines.hpp. Lanes beyond the last one
/// compute what its first one does, and write nothing.
template <class A> class GoldenLines {
public:
  using Arithmetic = A;
  using Value = typename A::Value;
  using Index = typename A::Index;
  static constexpr std::size_t kLanes = 64, kOperands = 5, kResults = 4;

  /// A lane in a step, or in a section that is run once.
  class At {
  public:
    At(GoldenLines &lines, std::size_t lane) : lines_(lines), lane_(lane) {}
    Value in(std::size_t i) const { return lines_.in_[i][lines_.in_lanes_[i][lane_]]; }
    Index index(std::size_t i) const { return lines_.index_[i][lines_.in_lanes_[i][lane_]]; }
    Index step() const { return lines_.step_; }
    void out(std::size_t o, Value value) const {
      lines_.results_[o][lane_] = value;
      lines_.written_ |= 1U << o;
    }
    std::size_t lane() const { return lane_; }

  private:
    GoldenLines &lines_;
    std::size_t lane_;
  };

  /// A variable of each lane.
  class Variable {
  public:
    explicit Variable(Value value) { values_.fill(value); }
    Value &operator()(const At &at) { return values_[at.lane()]; }

  private:
    std::array<Value, kLanes> values_;
  };

  /// Lanes [lane, lane + kLanes) as far as they are there, and the steps [begin, end).
  GoldenLines(Kernel<A> &k, const LineWalk &walk, std::size_t lane, std::size_t lanes, std::size_t begin,
              std::size_t end)
      : walk_(walk), lanes_(std::min(kLanes, lanes - lane)), begin_(begin), end_(end) {
    for (std::size_t i = 0; i < walk.in.size(); ++i) {
      const WalkOperand &operand = walk.in[i];
      const bool whole =
          operand.value.kind == WalkValue::Kind::kInput && !is_real(k.in_tensor(operand.value.number).type);
      const std::size_t first = place_lanes(operand, lane, in_lanes_[i]);
      if (whole)
        index_begin_[i] = k.index_in(operand.value.number) + first;
      else
        in_begin_[i] = k.read(operand.value) + first;
    }
    for (std::size_t o = 0; o < walk.out.size(); ++o) {
      const std::size_t first = place_lanes(walk.out[o], lane, out_lanes_[o]);
      out_begin_[o] = k.write(walk.out[o].value) + first;
    }
  }

  static Value constant(double value) { return static_cast<Value>(value); }
  static Index index(std::int32_t value) { return value; }
  static Variable variable(double value) { return Variable(static_cast<Value>(value)); }

  /// body(at), once a step.
  template <class Body> [[gnu::flatten]] void loop(Body body) {
    for (std::size_t step = begin_; step < end_; ++step) {
      go_to(step);
      run(body);
    }
  }
  /// body(at), once; operands are those of the first step.
  template <class Body> [[gnu::flatten]] void once(Body body) {
    go_to(begin_);
    run(body);
  }

private:
  /// Offsets of lanes from that of the block's first one, which is returned.
  std::size_t place_lanes(const WalkOperand &operand, std::size_t lane, std::array<std::uint32_t, kLanes> &offsets) {
    const std::size_t first = offset(walk_.lanes, operand.lanes, lane);
    if (walk_.lanes.size() == 1)
      for (std::size_t i = 0; i < kLanes; ++i)
        offsets[i] = static_cast<std::uint32_t>(i < lanes_ ? i * operand.lanes[0] : 0);
    else
      for (std::size_t i = 0; i < kLanes; ++i) // unsigned differences: a later lane may lie before the first one
        offsets[i] = static_cast<std::uint32_t>(i < lanes_ ? offset(walk_.lanes, operand.lanes, lane + i) - first : 0);
    return operand.first + first;
  }

  static std::size_t offset(const std::vector<std::size_t> &dims, const std::vector<std::size_t> &strides,
                            std::size_t index) {
    std::size_t result = 0;
    for (std::size_t d = dims.size(); d-- > 0; index /= dims[d])
      result += index % dims[d] * strides[d];
    return result;
  }

  void go_to(std::size_t step) {
    step_ = static_cast<std::int32_t>(step);
    for (std::size_t i = 0; i < walk_.in.size(); ++i) {
      const std::size_t at = offset(walk_.steps, walk_.in[i].steps, step);
      in_[i] = in_begin_[i] + at;
      index_[i] = index_begin_[i] + at;
    }
    for (std::size_t o = 0; o < walk_.out.size(); ++o)
      out_[o] = out_begin_[o] + offset(walk_.steps, walk_.out[o].steps, step);
  }

  template <class Body> [[gnu::always_inline]] void run(Body &body) {
    written_ = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      body(At(*this, lane));
    for (std::size_t o = 0; o < walk_.out.size(); ++o)
      if ((written_ >> o & 1U) != 0)
        for (std::size_t lane = 0; lane < lanes_; ++lane)
          out_[o][out_lanes_[o][lane]] = results_[o][lane];
  }

  const LineWalk &walk_;
  std::size_t lanes_, begin_, end_;
  std::int32_t step_ = 0;
  unsigned written_ = 0;
  std::array<const Value *, kOperands> in_begin_{}, in_{};
  std::array<const std::int32_t *, kOperands> index_begin_{}, index_{};
  std::array<Value *, kResults> out_begin_{}, out_{};
  std::array<std::array<std::uint32_t, kLanes>, kOperands> in_lanes_{};
  std::array<std::array<std::uint32_t, kLanes>, kResults> out_lanes_{};
  std::array<std::array<Value, kLanes>, kResults> results_{};
};

} // namespace gradweave::graph
