// Golden execution of the lanes of a walk (graph/golden/line_walk.hpp), side by side in vectors.
#pragma once

#include "graph/golden/kernel.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace gradweave::graph {

/// A block of lanes. What operators run on it is their text: see walk_lines() in lines.hpp. A section works on arrays
/// of its own, which no pointer can alias, and everything in it is inlined: so its lanes become vectors. Lanes beyond
/// the last one compute what the first one does, and write nothing.
template <class A> class GoldenLines {
public:
  using Arithmetic = A;
  using Value = typename A::Value;
  using Index = typename A::Index;
  static constexpr std::size_t kLanes = 64, kOperands = 5, kResults = 4;
  using Line = std::array<Value, kLanes>;

  /// A lane in a step, or in a section that is run once.
  class At {
  public:
    Value in(std::size_t i) const {
      switch (i) {
      case 0:
        return in0_[lane_];
      case 1:
        return in1_[lane_];
      case 2:
        return in2_[lane_];
      case 3:
        return in3_[lane_];
      default:
        return in4_[lane_];
      }
    }
    /// Of a lane that is not there, the first one's.
    Index index(std::size_t i) const { return lines_.in_[i].index(lane_ < lines_.lanes_ ? lane_ : 0); }
    Index step() const { return step_; }
    void out(std::size_t o, Value value) const {
      written_ |= 1U << o;
      (o == 0 ? out0_ : o == 1 ? out1_ : o == 2 ? out2_ : out3_)[lane_] = value;
    }
    std::size_t lane() const { return lane_; }

  private:
    friend class GoldenLines;
    const GoldenLines &lines_;
    const Line &in0_, &in1_, &in2_, &in3_, &in4_;
    Line &out0_, &out1_, &out2_, &out3_;
    unsigned &written_;
    Index step_;
    std::size_t lane_;
    At(const GoldenLines &lines, const Line &in0, const Line &in1, const Line &in2, const Line &in3, const Line &in4,
       Line &out0, Line &out1, Line &out2, Line &out3, unsigned &written, Index step, std::size_t lane)
        : lines_(lines), in0_(in0), in1_(in1), in2_(in2), in3_(in3), in4_(in4), out0_(out0), out1_(out1), out2_(out2),
          out3_(out3), written_(written), step_(step), lane_(lane) {}
  };

  /// A variable of each lane.
  class Variable {
  public:
    explicit Variable(Value value) { values_.fill(value); }
    Value &operator()(const At &at) { return values_[at.lane()]; }

  private:
    Line values_;
  };

  /// Lanes [lane, lane + kLanes) as far as they are there, and the steps [begin, end).
  [[gnu::noinline]] GoldenLines(Kernel<A> &k, const LineWalk &walk, std::size_t lane, std::size_t lanes,
                                std::size_t begin, std::size_t end)
      : walk_(walk), lanes_(std::min(kLanes, lanes - lane)), begin_(begin), end_(end) {
    for (std::size_t i = 0; i < walk.in.size(); ++i) {
      const WalkOperand &operand = walk.in[i];
      const std::size_t first = place_lanes(operand, lane, in_[i]);
      if (operand.value.kind == WalkValue::Kind::kInput && !is_real(k.in_tensor(operand.value.number).type))
        in_[i].indices = k.index_in(operand.value.number) + first;
      else
        in_[i].values = k.read(operand.value) + first;
    }
    for (std::size_t o = 0; o < walk.out.size(); ++o) {
      const std::size_t first = place_lanes(walk.out[o], lane, out_[o]);
      out_[o].values = k.write(walk.out[o].value) + first;
    }
  }

  [[gnu::noinline]] ~GoldenLines() = default;
  GoldenLines(const GoldenLines &) = delete;
  GoldenLines &operator=(const GoldenLines &) = delete;

  static Index index(std::int32_t value) { return value; }
  static Variable variable(double value) { return Variable(static_cast<Value>(value)); }

  /// body(at), once a step.
  template <class Body> [[gnu::always_inline]] void loop(Body body) {
    for (std::size_t step = begin_; step < end_; ++step)
      run(step, body);
  }
  /// body(at), once; operands are those of the first step.
  template <class Body> [[gnu::always_inline]] void once(Body body) { run(begin_, body); }

private:
  /// Where the lanes of an operand are in a step: `stride` apart or, where they cross dimensions, at offsets.
  template <class V> struct Place {
    V *values = nullptr;
    const std::int32_t *indices = nullptr;
    std::size_t stride = 0, at = 0;      ///< at: where the step is
    std::vector<std::ptrdiff_t> offsets; ///< from the first lane: a later one may lie before it

    std::ptrdiff_t offset(std::size_t lane) const {
      return static_cast<std::ptrdiff_t>(at) +
             (offsets.empty() ? static_cast<std::ptrdiff_t>(lane * stride) : offsets[lane]);
    }
    Index index(std::size_t lane) const { return indices[offset(lane)]; }
  };

  static std::size_t offset(const std::vector<std::size_t> &dims, const std::vector<std::size_t> &strides,
                            std::size_t index) {
    if (dims.size() == 1) return index * strides[0];
    std::size_t result = 0;
    for (std::size_t d = dims.size(); d-- > 0; index /= dims[d])
      result += index % dims[d] * strides[d];
    return result;
  }

  /// Where the block's first lane is.
  template <class V> std::size_t place_lanes(const WalkOperand &operand, std::size_t lane, Place<V> &place) {
    const std::size_t first = offset(walk_.lanes, operand.lanes, lane);
    place.stride = operand.lanes.back();
    if (walk_.lanes.size() > 1 && lane % walk_.lanes.back() + lanes_ > walk_.lanes.back())
      for (std::size_t i = 0; i < kLanes; ++i)
        place.offsets.push_back(
            i < lanes_ ? static_cast<std::ptrdiff_t>(offset(walk_.lanes, operand.lanes, lane + i) - first) : 0);
    return operand.first + first;
  }

  /// These two move whole lines and are the same for all operators: out of line, they are compiled once.
  [[gnu::noinline]] void fetch(std::size_t i, Line &line) const {
    if (i >= walk_.in.size() || in_[i].values == nullptr) return;
    const Place<const Value> &place = in_[i];
    const Value *const from = place.values + place.at;
    if (!place.offsets.empty())
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        line[lane] = from[place.offsets[lane]];
    else if (place.stride == 0)
      line.fill(from[0]);
    else if (place.stride == 1 && lanes_ == kLanes)
      std::copy_n(from, kLanes, line.begin());
    else
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        line[lane] = from[lane < lanes_ ? lane * place.stride : 0];
  }

  [[gnu::noinline]] void store(std::size_t o, unsigned written, const Line &line) const {
    if ((written >> o & 1U) == 0) return;
    const Place<Value> &place = out_[o];
    if (place.offsets.empty() && place.stride == 1 && lanes_ == kLanes)
      std::copy_n(line.begin(), kLanes, place.values + place.at);
    else
      for (std::size_t lane = 0; lane < lanes_; ++lane)
        place.values[place.offset(lane)] = line[lane];
  }

  [[gnu::noinline]] void seek(std::size_t step) {
    for (std::size_t i = 0; i < walk_.in.size(); ++i)
      in_[i].at = offset(walk_.steps, walk_.in[i].steps, step);
    for (std::size_t o = 0; o < walk_.out.size(); ++o)
      out_[o].at = offset(walk_.steps, walk_.out[o].steps, step);
  }

  template <class Body> [[gnu::always_inline]] void run(std::size_t step, Body &body) {
    seek(step);
    Line in0{}, in1{}, in2{}, in3{}, in4{}, out0, out1, out2, out3;
    fetch(0, in0);
    fetch(1, in1);
    fetch(2, in2);
    fetch(3, in3);
    fetch(4, in4);
    unsigned written = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      body(At(*this, in0, in1, in2, in3, in4, out0, out1, out2, out3, written, static_cast<Index>(step), lane));
    store(0, written, out0);
    store(1, written, out1);
    store(2, written, out2);
    store(3, written, out3);
  }

  const LineWalk &walk_;
  std::size_t lanes_, begin_, end_;
  std::array<Place<const Value>, kOperands> in_;
  std::array<Place<Value>, kResults> out_;
};

} // namespace gradweave::graph
