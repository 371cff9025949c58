// Bias: a vector added to each row; and the gradient of the vector, the sums of dY's columns.
#include "graph/operators/loops/columns.hpp"
#include "graph/operators/loops/entry.hpp"

namespace gradweave::graph {
namespace {

struct BiasRun {
  template <class A> static void run(Kernel<A> &k) {
    const std::size_t cols = k.out_shape(0).cols();
    const auto *x = k.in(0);
    const auto *b = k.in(1);
    auto *y = k.out(0);
    k.parallel(k.out_shape(0).rows(), cols, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row)
        for (std::size_t j = 0; j < cols; ++j)
          y[row * cols + j] = A::add(x[row * cols + j], b[j]);
    });
  }
};

struct BiasGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    const auto *dy = k.in(0);
    if (k.has_in(1)) std::copy_n(k.in(1), k.out_shape(0).elements(), k.out(0));
    fold_columns<A>(k, k.in_shape(0).rows(), k.in_shape(0).cols(), k.out(0),
                    [dy](auto sum, std::size_t i, std::size_t, std::size_t) { return A::add(sum, dy[i]); });
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
