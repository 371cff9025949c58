// SumTo: what broadcasting has repeated, summed again: the gradient of broadcasting.
#include "graph/operators/loops/broadcast.hpp"

namespace gradweave::graph {
namespace {

struct SumToRun {
  template <class A> static void run(Kernel<A> &k) {
    fold_repeated(
        k, RepeatWalk(k.in_shape(0), {&k.out_shape(0)}), 0, [](auto sum, auto x) { return A::add(sum, x); },
        [](auto sum) { return sum; });
  }
};

void infer_sum_to(Inference &op) {
  std::vector<std::uint32_t> dims;
  for (const std::int64_t dim : op.attributes().integers("shape")) {
    op.require(dim > 0 && dim <= 0xFFFFFFFF,
               "shape has the dimension " + std::to_string(dim) + "; it must be positive");
    dims.push_back(static_cast<std::uint32_t>(dim));
  }
  const Shape shape(std::move(dims));
  require_broadcasts(op, shape, op.shape(0));
  op.set(0, shape);
}

} // namespace

std::vector<Operator> sum_to_operators() {
  Operator sum;
  sum.name = "SumTo";
  sum.summary = "x summed over what broadcasting repeated, row-major ascending";
  sum.inputs = {{"x", Takes::kSum}};
  sum.outputs = {{"y", Gives::kSum}};
  sum.attributes = {{"shape", AttributeKind::kIntegers, {}, "of the result, which broadcasts to that of x"}};
  sum.infer = infer_sum_to;
  sum.operations = operations_per_input<1>;
  sum.lower = walks<Walk::kWhole>;
  executes<SumToRun>(sum);
  return {sum};
}

} // namespace gradweave::graph
