// OneHot: masks of what indices name.
#include "graph/operators/loops/axis_walk.hpp"
#include "graph/operators/loops/entry.hpp"

#include <fmt/format.h>

namespace gradweave::graph {
namespace {

struct OneHotRun {
  template <class A> static void run(Kernel<A> &k) {
    const AxisWalk axis(k.out_shape(0), axis_of(k, k.out_shape(0).rank()));
    if constexpr (kRecords<A>)
      record(k, axis);
    else
      mark(k, axis);
  }

private:
  static void record(Kernel<Recorded> &k, const AxisWalk &axis) {
    LineWalk walk = axis.walk();
    walk.in = {axis.without_axis(input(0))};
    walk.out = {axis.with_axis(output(0))};
    record_lines(k, walk, [](auto &lines) {
      lines.loop([&](const auto &at) {
        const auto here = Recorded::is_step(at.index(0), at.step());
        at.out(0, Recorded::select(here, Recorded::Value::index(1), Recorded::Value::index(0)));
      });
    });
  }

  template <class A> static void mark(Kernel<A> &k, const AxisWalk &axis) {
    const std::int32_t *const index = k.index_in(0);
    std::int32_t *const y = k.index_out(0);
    k.parallel(axis.outer * axis.along * axis.inner, 2, [=](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::size_t place = i / axis.inner % axis.along;
        const std::size_t of = i / (axis.inner * axis.along) * axis.inner + i % axis.inner;
        y[i] = A::is_step(index[of], static_cast<std::int32_t>(place)) ? 1 : 0;
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
                   {"axis", AttributeKind::kInteger, std::int64_t{-1}, "which one of the result it is"}};
  op.infer = infer_one_hot;
  op.operations = operations_per_element<1>;
  op.lower = walks<Walk::kWhole>;
  executes<OneHotRun>(op);
  return {op};
}

} // namespace gradweave::graph
