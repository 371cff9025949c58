// Bias: a vector added to each row; and the gradient of the vector, the sums of dY's columns.
#include "graph/operators/loops/broadcast.hpp"

namespace gradweave::graph {
namespace {

struct BiasRun {
  template <class A> static void run(Kernel<A> &k) {
    zip_repeated<A>(k, [](auto x, auto b) { return A::add(x, b); });
  }
};

struct BiasGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    const std::size_t rows = k.in_shape(0).rows(), cols = k.in_shape(0).cols();
    const bool goes_on = k.has_in(1);
    LineWalk walk = columns_as_lanes(rows, cols);
    walk.in = {strided(input(0), 1, cols)};
    if (goes_on) walk.in.push_back(by_lane(input(1)));
    walk.out = {by_lane(output(0))};
    walk_lines(k, walk, 1, [goes_on](auto &lines) {
      auto sum = lines.variable(0);
      if (goes_on) lines.once([&](const auto &at) { sum(at) = at.in(1); });
      lines.loop([&](const auto &at) { sum(at) = A::add(sum(at), at.in(0)); });
      lines.once([&](const auto &at) { at.out(0, sum(at)); });
    });
  }
};

void infer_bias(Inference &op) {
  op.require(op.shape(0).rank() >= 1 && op.shape(1) == Shape{op.shape(0).cols()},
             "x is " + op.shape(0).text() + " and b " + op.shape(1).text() +
                 ": b must have one element for each column of x");
  op.set(0, op.shape(0));
}

void infer_bias_gradient(Inference &op) {
  op.require(op.shape(0).rank() >= 1, "dy is a scalar; it needs columns");
  const Shape db{op.shape(0).cols()};
  op.require(!op.has(1) || op.shape(1) == db, "the initial value must be of the result's shape, " + db.text());
  op.set(0, db);
}

void derive_bias(Derivation &d) {
  d.give(0, d.gradient());
  if (d.wants(1)) d.give(1, d.build.add("BiasGradient", {d.gradient()}, {}, d.name(1)));
}

} // namespace

std::vector<Operator> bias_operators() {
  Operator bias;
  bias.name = "Bias";
  bias.summary = "each row of x plus b";
  bias.inputs = {{"x", Takes::kSum}, {"b", Takes::kFp32}};
  bias.outputs = {{"y", Gives::kSum}};
  bias.infer = infer_bias;
  bias.derive = derive_bias;
  bias.operations = operations_per_element<1>;
  executes<BiasRun>(bias);

  Operator gradient;
  gradient.name = "BiasGradient";
  gradient.summary = "sums of the columns of dy, rows ascending, from the initial value";
  gradient.inputs = {{"dy"}, {"initial", Takes::kFp32, true}};
  gradient.outputs = {{"db", Gives::kFp32}};
  gradient.infer = infer_bias_gradient;
  gradient.operations = operations_per_input<1>;
  gradient.lower = walks<Walk::kColumns>;
  executes<BiasGradientRun>(gradient);
  return {bias, gradient};
}

} // namespace gradweave::graph
