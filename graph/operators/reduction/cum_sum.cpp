// CumSum: sums up to each element along an axis, ascending.
#include "graph/operators/loops/axis_walk.hpp"
#include "graph/operators/loops/entry.hpp"

namespace gradweave::graph {
namespace {

struct CumSumRun {
  template <class A> static void run(Kernel<A> &k) {
    const AxisWalk axis(k.in_shape(0), axis_of(k, k.in_shape(0).rank()));
    const bool exclusive = k.attributes().integer("exclusive") != 0;
    LineWalk walk = axis.walk();
    walk.in = {axis.with_axis(input(0))};
    walk.out = {axis.with_axis(output(0))};
    walk_lines(k, walk, 2, [exclusive](auto &lines) {
      auto sum = lines.variable(0);
      lines.loop([&](const auto &at) {
        if (exclusive) at.out(0, sum(at));
        sum(at) = A::add(sum(at), at.in(0));
        if (!exclusive) at.out(0, sum(at));
      });
    });
  }
};

void infer_cum_sum(Inference &op) {
  op.axis(op.attributes().integer("axis"));
  const std::int64_t exclusive = op.attributes().integer("exclusive");
  op.require(exclusive == 0 || exclusive == 1,
             "attribute 'exclusive' = " + std::to_string(exclusive) + " must be 0 or 1");
  op.set(0, op.shape(0));
}

/// The sums from each element on: those up to it, of the elements turned round.
void derive_cum_sum(Derivation &d) {
  const Shape &x = d.shape(0);
  const std::int64_t axis = d.attributes().integer("axis");
  const std::uint32_t along = x[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(x.rank()) : axis)];
  std::vector<double> places;
  for (std::uint32_t i = along; i-- > 0;)
    places.push_back(i);
  if (along == 1) places = {0};
  const TensorId back = d.build.constant(d.build.fresh("backwards"), {along}, std::move(places), ElementType::kInt32);
  const Attributes along_axis{{"axis", axis}};
  const TensorId turned = d.build.add("Gather", {d.gradient(), back}, along_axis);
  const TensorId sums = d.build.add("CumSum", {turned}, d.attributes());
  d.give(0, d.build.add("Gather", {sums, back}, along_axis, d.name(0)));
}

} // namespace

std::vector<Operator> cum_sum_operators() {
  Operator op;
  op.name = "CumSum";
  op.summary = "the sum of the elements up to each along an axis";
  op.inputs = {{"x", Takes::kSum}};
  op.outputs = {{"y", Gives::kSum}};
  op.attributes = {{"axis", AttributeKind::kInteger, std::int64_t{0}, "along which is summed"},
                   {"exclusive", AttributeKind::kInteger, std::int64_t{0}, "1: the element itself is left out"}};
  op.infer = infer_cum_sum;
  op.derive = derive_cum_sum;
  op.operations = operations_per_input<1>;
  op.lower = walks<Walk::kWhole>;
  executes<CumSumRun>(op);
  return {op};
}

} // namespace gradweave::graph
