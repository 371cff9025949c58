// SumSquares and ClipFactor: clipping by the norm of all gradients together, as torch's clip_grad_norm_ does it.
#include "graph/operators/loops/entry.hpp"
#include "graph/operators/loops/function_cost.hpp"
#include "graph/operators/loops/lines.hpp"

#include <algorithm>

namespace gradweave::graph {
namespace {

/// Columns first, rows ascending; then the sums of the columns, ascending.
struct SumSquaresRun {
  template <class A> static void run(Kernel<A> &k) {
    const std::size_t rows = k.in_shape(0).rows(), cols = k.in_shape(0).cols();
    const WalkValue sums = k.temporary(cols);
    LineWalk of_columns = columns_as_lanes(rows, cols);
    of_columns.in = {strided(input(0), 1, cols)};
    of_columns.out = {by_lane(sums)};
    walk_lines(k, of_columns, 1, [](auto &lines) {
      auto sum = lines.variable(0);
      lines.loop([&](const auto &at) { sum(at) = A::fma(at.in(0), at.in(0), sum(at)); });
      lines.once([&](const auto &at) { at.out(0, sum(at)); });
    });
    LineWalk of_sums = rows_as_lanes(1, cols);
    of_sums.in = {by_step(sums)};
    of_sums.out = {by_lane(output(0))};
    walk_lines(k, of_sums, 1, [](auto &lines) {
      auto sum = lines.variable(0);
      lines.loop([&](const auto &at) { sum(at) = A::add(sum(at), at.in(0)); });
      lines.once([&](const auto &at) { at.out(0, sum(at)); });
    });
  }
};

struct ClipFactorRun {
  /// The chain goes over the inputs, as many at a time as a walk has operands beside what it goes on from.
  template <class A> static void run(Kernel<A> &k) {
    constexpr std::size_t kAtOnce = 4;
    WalkValue sum = k.temporary(1);
    for (std::size_t i = 0; i < k.inputs(); i += kAtOnce) {
      const std::size_t count = std::min(kAtOnce, k.inputs() - i);
      const bool goes_on = i > 0;
      LineWalk walk = rows_as_lanes(1, 1);
      for (std::size_t j = 0; j < count; ++j)
        walk.in.push_back(a_number(input(i + j)));
      if (goes_on) walk.in.push_back(a_number(sum));
      sum = k.temporary(1);
      walk.out = {a_number(sum)};
      walk_lines(k, walk, 1, [=](auto &lines) {
        auto total = lines.variable(0);
        lines.once([&](const auto &at) {
          if (goes_on) total(at) = at.in(count);
          for (std::size_t j = 0; j < count; ++j)
            total(at) = A::add(total(at), at.in(j));
          at.out(0, total(at));
        });
      });
    }
    const auto max_norm = real_attribute(k, "max_norm");
    const bool gives_norm = k.has_out(1);
    LineWalk walk = rows_as_lanes(1, 1);
    walk.in = {a_number(sum)};
    walk.out = {a_number(output(0))};
    if (gives_norm) walk.out.push_back(a_number(output(1)));
    walk_lines(k, walk, 40, [=](auto &lines) {
      auto norm = lines.variable(0);
      lines.once([&](const auto &at) {
        norm(at) = A::sqrt(at.in(0));
        if (gives_norm) at.out(1, norm(at));
        at.out(0, A::min(A::div(max_norm, A::add(norm(at), number<A>(1e-6))), number<A>(1)));
      });
    });
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
  squares.of_step = true;
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
  factor.of_step = true;
  factor.infer = infer_clip_factor;
  factor.operations = [](const OpView &op) {
    return static_cast<double>(op.op.inputs.size()) + 2 + function_cost::sqrt() + function_cost::divide();
  };
  factor.lower = walks<Walk::kWhole>;
  executes<ClipFactorRun>(factor);
  return {squares, factor};
}

} // namespace gradweave::graph
