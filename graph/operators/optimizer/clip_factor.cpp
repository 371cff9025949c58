// SumSquares and ClipFactor: clipping by the norm of all gradients together, as torch's clip_grad_norm_ does it.
#include "graph/operators/loops/columns.hpp"
#include "graph/operators/loops/entry.hpp"
#include "graph/operators/loops/function_cost.hpp"
#include "graph/operators/loops/rows.hpp"

namespace gradweave::graph {
namespace {

/// Columns first, rows ascending; then the sums of the columns, ascending.
struct SumSquaresRun {
  template <class A> static void run(Kernel<A> &k) {
    const auto *const x = k.in(0);
    std::vector<typename A::Value> sums(k.in_shape(0).cols());
    fold_columns<A>(k, k.in_shape(0).rows(), k.in_shape(0).cols(), sums.data(),
                    [x](auto sum, std::size_t i, std::size_t, std::size_t) { return A::fma(x[i], x[i], sum); });
    k.out(0)[0] = row_sum<A>(sums.size(), [&sums](std::size_t j) { return sums[j]; });
  }
};

struct ClipFactorRun {
  template <class A> static void run(Kernel<A> &k) {
    const auto squares = row_sum<A>(k.inputs(), [&k](std::size_t i) { return k.in(i)[0]; });
    const auto norm = A::sqrt(squares);
    const auto factor = A::div(real_attribute(k, "max_norm"), A::add(norm, number<A>(1e-6)));
    k.out(0)[0] = A::min(factor, number<A>(1));
    if (k.has_out(1)) k.out(1)[0] = norm;
  }
};

void infer_clip_factor(Inference &op) {
  for (std::size_t i = 0; i < op.inputs(); ++i)
    op.require(op.shape(i).elements() == 1,
               "'" + op.tensor(i).name + "' is " + op.shape(i).text() + "; it must be one sum of squares");
  op.require(op.attributes().real("max_norm") > 0, "max_norm must be positive");
  op.set(0, {});
  op.set(1, {});
}

} // namespace

std::vector<Operator> clip_factor_operators() {
  Operator squares;
  squares.name = "SumSquares";
  squares.summary = "sum of x^2: of each column, rows ascending, and of the columns, ascending";
  squares.inputs = {{"x", Takes::kFp32}};
  squares.outputs = {{"y", Gives::kFp32}};
  squares.infer = [](Inference &op) { op.set(0, {}); };
  squares.operations = operations_per_input<1>;
  squares.lower = walks<Walk::kWhole>;
  executes<SumSquaresRun>(squares);

  Operator factor;
  factor.name = "ClipFactor";
  factor.summary = "min(1, max_norm / (norm + 1e-6)), norm the root of the sum of all squares";
  factor.inputs = {{"squares", Takes::kFp32}};
  factor.variadic = true;
  factor.outputs = {{"factor", Gives::kFp32}, {"norm", Gives::kFp32, true}};
  factor.attributes = {{"max_norm", AttributeKind::kReal, {}, "largest norm that is let pass"}};
  factor.infer = infer_clip_factor;
  factor.operations = [](const OpView &op) {
    return static_cast<double>(op.op.inputs.size()) + 2 + function_cost::sqrt() + function_cost::divide();
  };
  factor.lower = walks<Walk::kWhole>;
  executes<ClipFactorRun>(factor);
  return {squares, factor};
}

} // namespace gradweave::graph
