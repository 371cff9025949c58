// ArgMax: where along an axis the largest element is. Its result are whole numbers, so it has no derivative.
#include "graph/operators/loops/axis_walk.hpp"
#include "graph/operators/loops/entry.hpp"

#include <limits>

namespace gradweave::graph {
namespace {

/// Whether x takes the place of the largest so far: the first NaN stays, else the first of the largest or, with `last`,
/// the last one. As a mask of what stays.
template <class A, class V> auto stays(const V &most, const V &x, bool last) {
  return last ? A::lt(x, most) : A::le(x, most);
}

struct ArgMaxRun {
  template <class A> static void run(Kernel<A> &k) {
    const AxisWalk axis(k.in_shape(0), axis_of(k, k.in_shape(0).rank()));
    const bool last = k.attributes().integer("select_last_index") != 0;
    if constexpr (kRecords<A>)
      record(k, axis, last);
    else
      find(k, axis, last);
  }

private:
  static void record(Kernel<Recorded> &k, const AxisWalk &axis, bool last) {
    LineWalk walk = axis.walk();
    walk.in = {axis.with_axis(input(0))};
    walk.out = {axis.without_axis(output(0))};
    record_lines(k, walk, [last](auto &lines) {
      using A = Recorded;
      auto most = lines.variable(-std::numeric_limits<double>::infinity()), place = lines.variable(0);
      lines.loop([&](const auto &at) {
        const Recorded::Value before = most(at), x = at.in(0);
        const auto kept = A::select(A::eq(before, before), stays<A>(before, x, last), number<A>(-1));
        most(at) = A::select(kept, before, x);
        place(at) = A::select(kept, place(at), at.step());
      });
      lines.once([&](const auto &at) { at.out(0, place(at)); });
    });
  }

  template <class A> static void find(Kernel<A> &k, const AxisWalk &axis, bool last) {
    const auto *const x = k.in(0);
    std::int32_t *const y = k.index_out(0);
    k.parallel(axis.outer * axis.inner, axis.along * 3, [=](std::size_t begin, std::size_t end) {
      for (std::size_t result = begin; result < end; ++result) {
        const auto *const from = x + result / axis.inner * axis.along * axis.inner + result % axis.inner;
        auto most = static_cast<typename A::Value>(-std::numeric_limits<double>::infinity());
        std::int32_t place = 0;
        for (std::size_t i = 0; i < axis.along; ++i) {
          const auto next = from[i * axis.inner];
          if (!A::eq(most, most) || stays<A>(most, next, last)) continue;
          most = next;
          place = static_cast<std::int32_t>(i);
        }
        y[result] = place;
      }
    });
  }
};

void infer_arg_max(Inference &op) {
  const Shape &x = op.shape(0);
  const std::size_t axis = op.axis(op.attributes().integer("axis"));
  for (const char *flag : {"keepdims", "select_last_index"}) {
    const std::int64_t value = op.attributes().integer(flag);
    op.require(value == 0 || value == 1,
               "attribute '" + std::string(flag) + "' = " + std::to_string(value) + " must be 0 or 1");
  }
  const bool keeps = op.attributes().integer("keepdims") == 1;
  std::vector<std::uint32_t> dims;
  for (std::size_t d = 0; d < x.rank(); ++d)
    if (d != axis || keeps) dims.push_back(d == axis ? 1 : x[d]);
  op.set(0, Shape(std::move(dims)));
}

} // namespace

std::vector<Operator> arg_max_operators() {
  Operator op;
  op.name = "ArgMax";
  op.summary = "the place of the largest element along an axis, of several the first";
  op.inputs = {{"x", Takes::kSum}};
  op.outputs = {{"y", Gives::kIndex}};
  op.attributes = {{"axis", AttributeKind::kInteger, std::int64_t{0}, "along which is looked"},
                   {"keepdims", AttributeKind::kInteger, std::int64_t{1}, "1: the axis stays, as a dimension of 1"},
                   {"select_last_index", AttributeKind::kInteger, std::int64_t{0}, "1: of several the last"}};
  op.infer = infer_arg_max;
  op.operations = operations_per_input<4>;
  op.lower = walks<Walk::kWhole>;
  executes<ArgMaxRun>(op);
  return {op};
}

} // namespace gradweave::graph
