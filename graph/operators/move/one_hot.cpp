// OneHot: masks of what indices name.
#include "graph/operators/loops/axis_walk.hpp"
#include "graph/operators/loops/entry.hpp"

#include <fmt/format.h>

namespace gradweave::graph {
namespace {

struct OneHotRun {
  template <class A> static void run(Kernel<A> &k) {
    const AxisWalk axis(k.out_shape(0), axis_of(k, k.out_shape(0).rank()));
    const bool wraps = k.attributes().integer("wraps") != 0;
    if constexpr (kRecords<A>)
      record(k, axis, wraps);
    else
      mark(k, axis, wraps);
  }

private:
  static void record(Kernel<Recorded> &k, const AxisWalk &axis, bool wraps) {
    LineWalk walk = axis.walk();
    walk.in = {axis.without_axis(input(0))};
    walk.out = {axis.with_axis(output(0))};
    const auto depth = Recorded::Value::index(-static_cast<std::int32_t>(axis.along));
    record_lines(k, walk, [wraps, depth](auto &lines) {
      using A = Recorded;
      lines.loop([&](const auto &at) {
        const auto one = A::Value::index(1);
        auto other = A::Value::index(0);
        if (wraps) other = A::select(A::same(at.index(0), A::iadd(at.step(), depth)), one, other);
        at.out(0, A::select(A::is_step(at.index(0), at.step()), one, other));
      });
    });
  }

  template <class A> static void mark(Kernel<A> &k, const AxisWalk &axis, bool wraps) {
    const std::int32_t *const index = k.index_in(0);
    std::int32_t *const y = k.index_out(0);
    k.parallel(axis.outer * axis.along * axis.inner, 2, [=](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto place = static_cast<std::int32_t>(i / axis.inner % axis.along);
        const std::size_t of = i / (axis.inner * axis.along) * axis.inner + i % axis.inner;
        y[i] = index[of] == place || (wraps && index[of] == place - static_cast<std::int32_t>(axis.along)) ? 1 : 0;
      }
    });
  }
};

void infer_one_hot(Inference &op) {
  const Shape &x = op.shape(0);
  const std::int64_t depth = op.attributes().integer("depth"), rank = static_cast<std::int64_t>(x.rank());
  const std::int64_t axis = op.attributes().integer("axis");
  if (axis < -rank - 1 || axis > rank)
    op.fail(fmt::format("attribute 'axis' = {} must be {} to {} for indices {}", axis, -rank - 1, rank, x.text()));
  if (depth < 1 || depth > INT32_MAX) op.fail(fmt::format("attribute 'depth' = {} must be 1 to {}", depth, INT32_MAX));
  const std::int64_t wraps = op.attributes().integer("wraps");
  if (wraps != 0 && wraps != 1) op.fail(fmt::format("attribute 'wraps' = {} must be 0 or 1", wraps));
  std::vector<std::uint32_t> dims(x.dims().begin(), x.dims().end());
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis < 0 ? axis + rank + 1 : axis),
              static_cast<std::uint32_t>(depth));
  op.set(0, Shape(std::move(dims)));
}

} // namespace

std::vector<Operator> one_hot_operators() {
  Operator op;
  op.name = "OneHot";
  op.summary = "along a new axis 1 at the place that an index names, else 0";
  op.inputs = {{"indices", Takes::kIndex}};
  op.outputs = {{"y", Gives::kIndex}};
  op.attributes = {{"depth", AttributeKind::kInteger, {}, "elements of the new axis"},
                   {"axis", AttributeKind::kInteger, std::int64_t{-1}, "which one of the result it is"},
                   {"wraps", AttributeKind::kInteger, std::int64_t{0}, "1: indices from -depth on count from the end"}};
  op.infer = infer_one_hot;
  op.operations = operations_per_element<1>;
  op.lower = walks<Walk::kWhole>;
  executes<OneHotRun>(op);
  return {op};
}

} // namespace gradweave::graph
