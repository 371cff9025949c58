// SoftmaxCrossEntropy: the mean over rows of -log softmax(logits)[label]; and its gradient.
#include "graph/ir/error.hpp"
#include "graph/operators/loops/entry.hpp"
#include "graph/operators/loops/function_cost.hpp"
#include "graph/operators/loops/lines.hpp"

#include <fmt/format.h>

#include <limits>

namespace gradweave::graph {
namespace {

/// Labels come with the data of a step: they are checked when they are there.
template <class A> void check_labels(const Kernel<A> &k, std::size_t logits) {
  if constexpr (!kRecords<A>) {
    const std::int32_t *const labels = k.index_in(logits + 1);
    const std::int64_t ignored = k.attributes().integer("ignore_index");
    const std::size_t classes = k.in_shape(logits).cols();
    for (std::size_t row = 0; row < k.in_shape(logits).rows(); ++row)
      if (labels[row] != ignored && (labels[row] < 0 || static_cast<std::size_t>(labels[row]) >= classes))
        throw GraphError(fmt::format("{}: label {} of row {} is none of the {} classes, and not ignore_index = {}",
                                     describe(k.op()), labels[row], row, classes, ignored));
  }
}

std::int32_t ignored_label(const KernelOp &k) {
  return static_cast<std::int32_t>(k.attributes().integer("ignore_index"));
}

/// 1 / rows that count; 1 if none does.
template <class A> typename A::Value share_of_counted(typename A::Value counted) {
  return A::div(number<A>(1), A::max(counted, number<A>(1)));
}

struct SoftmaxCrossEntropyRun {
  /// Of each row its loss; then the mean of those that count.
  template <class A> static void run(Kernel<A> &k) {
    check_labels(k, 0);
    const std::size_t rows = k.in_shape(0).rows(), classes = k.in_shape(0).cols();
    const WalkValue losses = k.temporary(rows);
    LineWalk of_rows = rows_as_lanes(rows, classes);
    of_rows.in = {strided(input(0), classes, 1), by_lane(input(1))};
    of_rows.out = {by_lane(losses)};
    walk_lines(k, of_rows, 40, [](auto &lines) {
      auto most = lines.variable(-std::numeric_limits<double>::infinity());
      auto sum = lines.variable(0), chosen = lines.variable(0);
      lines.loop([&](const auto &at) { // instructions enough for the line that it waits for
        most(at) = A::max(most(at), at.in(0));
        chosen(at) = A::select(A::is_step(at.index(1), at.step()), at.in(0), chosen(at));
      });
      lines.loop([&](const auto &at) { sum(at) = A::add(sum(at), A::exp_below(A::sub(at.in(0), most(at)))); });
      lines.once([&](const auto &at) { at.out(0, A::add(A::sub(most(at), chosen(at)), A::log(sum(at)))); });
    });
    const std::int32_t ignored = ignored_label(k);
    LineWalk of_losses = rows_as_lanes(1, rows);
    of_losses.in = {by_step(losses), by_step(input(1))};
    of_losses.out = {by_lane(output(0))};
    walk_lines(k, of_losses, 1, [ignored](auto &lines) {
      auto total = lines.variable(0), counted = lines.variable(0);
      lines.loop([&](const auto &at) {
        const auto left_out = A::same(at.index(1), lines.index(ignored));
        total(at) = A::select(left_out, total(at), A::add(total(at), at.in(0)));
        counted(at) = A::select(left_out, counted(at), A::add(counted(at), number<A>(1)));
      });
      lines.once([&](const auto &at) { at.out(0, A::mul(total(at), share_of_counted<A>(counted(at)))); });
    });
  }
};

struct SoftmaxCrossEntropyGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    check_labels(k, 1);
    const std::size_t rows = k.in_shape(1).rows(), classes = k.in_shape(1).cols();
    const WalkValue factor = k.temporary(1), powers = k.temporary(rows * classes), most = k.temporary(rows),
                    scales = k.temporary(rows);
    find_factor(k, factor);
    mark_labels(k, powers, most);
    find_powers(k, powers, most, scales);
    LineWalk of_elements = rows_as_lanes(rows, classes);
    of_elements.elementwise = true;
    of_elements.in = {strided(powers, classes, 1), by_lane(scales), a_number(factor)};
    of_elements.out = {strided(output(0), classes, 1)};
    walk_lines(k, of_elements, 8, [](auto &lines) {
      lines.loop([&](const auto &at) {
        const auto p = A::mul(at.in(0), at.in(1)); // -p at the label
        const auto off = A::select(A::is_negative(p), A::sub(-p, number<A>(1)), p);
        at.out(0, A::select(A::is_negative(at.in(1)), number<A>(0), A::mul(off, at.in(2))));
      });
    });
  }

private:
  /// The largest of each row; and -1 at its label, 1 elsewhere: the loop has time for that, as it waits for lines.
  template <class A> static void mark_labels(Kernel<A> &k, const WalkValue &marks, const WalkValue &most) {
    const std::size_t rows = k.in_shape(1).rows(), classes = k.in_shape(1).cols();
    LineWalk walk = rows_as_lanes(rows, classes);
    walk.in = {strided(input(1), classes, 1), by_lane(input(2))};
    walk.out = {strided(marks, classes, 1), by_lane(most)};
    walk_lines(k, walk, 4, [](auto &lines) {
      auto largest = lines.variable(-std::numeric_limits<double>::infinity());
      lines.loop([&](const auto &at) {
        largest(at) = A::max(largest(at), at.in(0));
        at.out(0, A::select(A::is_step(at.index(1), at.step()), number<A>(-1), number<A>(1)));
      });
      lines.once([&](const auto &at) { at.out(1, largest(at)); });
    });
  }

  /// Powers in the places of the marks, with their signs; and the factor of each row, -1 if it does not count.
  template <class A>
  static void find_powers(Kernel<A> &k, const WalkValue &powers, const WalkValue &most, const WalkValue &scales) {
    const std::int32_t ignored = ignored_label(k);
    const std::size_t rows = k.in_shape(1).rows(), classes = k.in_shape(1).cols();
    LineWalk walk = rows_as_lanes(rows, classes);
    walk.in = {strided(input(1), classes, 1), strided(powers, classes, 1), by_lane(most), by_lane(input(2))};
    walk.out = {strided(powers, classes, 1), by_lane(scales)};
    walk_lines(k, walk, 40, [ignored](auto &lines) {
      auto sum = lines.variable(0);
      lines.loop([&](const auto &at) {
        const auto power = A::exp_below(A::sub(at.in(0), at.in(2)));
        sum(at) = A::add(sum(at), power);
        at.out(0, A::mul(power, at.in(1)));
      });
      lines.once([&](const auto &at) {
        const auto left_out = A::same(at.index(3), lines.index(ignored));
        at.out(1, A::select(left_out, number<A>(-1), A::reciprocal(sum(at))));
      });
    });
  }

  /// dloss / rows that count.
  template <class A> static void find_factor(Kernel<A> &k, const WalkValue &factor) {
    const std::int32_t ignored = ignored_label(k);
    const std::size_t labels = k.has_in(3) ? 3 : 2;
    LineWalk walk = rows_as_lanes(1, k.in_shape(labels).elements());
    walk.in = {by_step(input(labels)), a_number(input(0))};
    walk.out = {by_lane(factor)};
    walk_lines(k, walk, 1, [ignored](auto &lines) {
      auto counted = lines.variable(0);
      lines.loop([&](const auto &at) {
        const auto left_out = A::same(at.index(0), lines.index(ignored));
        counted(at) = A::select(left_out, counted(at), A::add(counted(at), number<A>(1)));
      });
      lines.once([&](const auto &at) { at.out(0, A::mul(at.in(1), share_of_counted<A>(counted(at)))); });
    });
  }
};

void check_labelled_rows(const Inference &op, std::size_t logits) {
  const Shape &x = op.shape(logits);
  op.require(x.rank() >= 1, "logits are a scalar; the last dimension is that of the classes");
  const Shape rows(std::vector<std::uint32_t>(x.dims().begin(), x.dims().end() - 1));
  op.require(op.shape(logits + 1) == rows, "logits are " + x.text() + " and labels " + op.shape(logits + 1).text() +
                                               "; there must be a label for each row, " + rows.text());
  const std::int64_t ignored = op.attributes().integer("ignore_index");
  op.require(ignored > INT32_MIN / 2 && ignored <= INT32_MAX,
             fmt::format("attribute 'ignore_index' = {} must be above -2^30, and of 32 bits", ignored));
}

void infer_cross_entropy(Inference &op) {
  check_labelled_rows(op, 0);
  op.set(0, {});
}

void infer_cross_entropy_gradient(Inference &op) {
  op.require(op.shape(0).elements() == 1, "dloss is " + op.shape(0).text() + "; it must be one number");
  check_labelled_rows(op, 1);
  op.set(0, op.shape(1));
}

void derive_cross_entropy(Derivation &d) {
  d.give(0,
         d.build.add("SoftmaxCrossEntropyGradient", {d.gradient(), d.input(0), d.input(1)}, d.attributes(), d.name(0)));
}

double cross_entropy_operations(const OpView &op) {
  return (3 + function_cost::exp_below()) * static_cast<double>(op.input(0).shape.elements());
}
unsigned cross_entropy_gradient_operations() { return 5 + function_cost::exp_below(); }

} // namespace

std::vector<Operator> softmax_cross_entropy_operators() {
  const AttributeSpec ignore_index{"ignore_index", AttributeKind::kInteger, std::int64_t{-100},
                                   "label of rows that do not count"};
  Operator loss;
  loss.name = "SoftmaxCrossEntropy";
  loss.summary = "mean over the rows of -log softmax(logits)[label]";
  loss.inputs = {{"logits", Takes::kSum}, {"labels", Takes::kIndex}};
  loss.outputs = {{"loss", Gives::kFp32}};
  loss.attributes = {ignore_index};
  loss.infer = infer_cross_entropy;
  loss.derive = derive_cross_entropy;
  loss.operations = cross_entropy_operations;
  loss.lower = walks<Walk::kWhole>;
  executes<SoftmaxCrossEntropyRun>(loss);

  Operator gradient;
  gradient.name = "SoftmaxCrossEntropyGradient";
  gradient.summary = "(softmax(logits) - [the label's]) dloss / rows, those of the whole batch if that is given";
  gradient.inputs = {
      {"dloss", Takes::kFp32}, {"logits", Takes::kSum}, {"labels", Takes::kIndex}, {"whole", Takes::kIndex, true}};
  gradient.outputs = {{"dlogits", Gives::kSum}};
  gradient.attributes = {ignore_index};
  gradient.infer = infer_cross_entropy_gradient;
  gradient.operations = operations_per_element<cross_entropy_gradient_operations>;
  gradient.lower = walks<Walk::kRows>;
  executes<SoftmaxCrossEntropyGradientRun>(gradient);
  return {loss, gradient};
}

} // namespace gradweave::graph
