#include "graph/operators/norm/normalization.hpp"

namespace gradweave::graph {

Shape statistics_of(const Shape &x) { return Shape(std::vector<std::uint32_t>(x.dims().begin(), x.dims().end() - 1)); }

void check_normalized(const Inference &op, std::size_t x, std::size_t scale) {
  op.require(op.shape(x).rank() >= 1 && op.shape(scale) == Shape{op.shape(x).cols()},
             "x is " + op.shape(x).text() + " and '" + op.tensor(scale).name + "' " + op.shape(scale).text() +
                 "; it must have one element for each column of x");
  if (op.attributes().has("epsilon")) op.require(op.attributes().real("epsilon") >= 0, "epsilon must not be negative");
}

void check_gradient_rows(const Inference &op, std::initializer_list<std::size_t> statistics) {
  op.require(op.shape(1).rank() >= 1 && op.shape(0) == op.shape(1),
             "dy is " + op.shape(0).text() + " and x " + op.shape(1).text() + "; they must be equal, and no scalars");
  for (const std::size_t i : statistics)
    op.require(op.shape(i) == statistics_of(op.shape(1)), "x is " + op.shape(1).text() + " and '" + op.tensor(i).name +
                                                              "' " + op.shape(i).text() +
                                                              "; there must be one number a row");
}

void refuse_gradients_of_statistics(Derivation &d) {
  for (std::size_t o = 1; o < d.op().outputs.size(); ++o)
    if (d.op().outputs[o] != kNone && d.gradient(o) != kNone)
      d.build.fail(describe(d.op()) + ": no gradient passes through '" + d.build.tensor(d.output(o)).name +
                   "'; compute it by ops of its own");
}

} // namespace gradweave::graph
