// SoftmaxCrossEntropy: the mean over rows of -log softmax(logits)[label]; and its gradient.
#include "graph/ir/error.hpp"
#include "graph/operators/loops/entry.hpp"
#include "graph/operators/loops/function_cost.hpp"
#include "graph/operators/loops/rows.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph {
namespace {

/// Rows of logits and their labels.
template <class A> struct LabelledRows {
  using Value = typename A::Value;

  LabelledRows(const Kernel<A> &k, std::size_t logits_input)
      : logits(k.in(logits_input)), labels(k.index_in(logits_input + 1)), rows(k.in_shape(logits_input).rows()),
        classes(k.in_shape(logits_input).cols()), ignored(k.attributes().integer("ignore_index")) {
    const std::size_t whole = k.has_in(logits_input + 2) ? logits_input + 2 : logits_input + 1;
    for (std::size_t row = 0; row < k.in_shape(whole).elements(); ++row)
      counted += k.index_in(whole)[row] == ignored ? 0 : 1;
    for (std::size_t row = 0; row < rows; ++row) {
      if (labels[row] == ignored) continue;
      if (labels[row] < 0 || static_cast<std::size_t>(labels[row]) >= classes)
        throw GraphError(fmt::format("{}: label {} of row {} is none of the {} classes, and not ignore_index = {}",
                                     describe(k.op()), labels[row], row, classes, ignored));
    }
  }

  bool counts(std::size_t row) const { return labels[row] != ignored; }
  /// 1 / rows that count; 1 if none does.
  Value share() const { return A::div(Value{1}, static_cast<Value>(std::max<std::size_t>(1, counted))); }

  const Value *logits;
  const std::int32_t *labels;
  std::size_t rows, classes, counted = 0;
  std::int64_t ignored;
};

struct SoftmaxCrossEntropyRun {
  template <class A> static void run(Kernel<A> &k) {
    using Value = typename A::Value;
    const LabelledRows<A> in(k, 0);
    std::vector<Value> losses(in.rows);
    k.parallel(in.rows, in.classes * 40, [&](std::size_t begin, std::size_t end) {
      std::vector<Value> powers(in.classes);
      for (std::size_t row = begin; row < end; ++row) {
        if (!in.counts(row)) continue;
        const Value *x = in.logits + row * in.classes;
        const Value most = row_maximum<A>(x, in.classes);
        std::copy_n(x, in.classes, powers.data());
        const Value sum = row_exponentials<A>(powers.data(), in.classes, most);
        losses[row] = A::add(A::sub(most, x[in.labels[row]]), A::log(sum));
      }
    });
    Value total = 0;
    for (std::size_t row = 0; row < in.rows; ++row)
      if (in.counts(row)) total = A::add(total, losses[row]);
    k.out(0)[0] = A::mul(total, in.share());
  }
};

struct SoftmaxCrossEntropyGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    using Value = typename A::Value;
    const LabelledRows<A> in(k, 1);
    const Value factor = A::mul(k.in(0)[0], in.share());
    k.parallel(in.rows, in.classes * 40, [&](std::size_t begin, std::size_t end) {
      for (std::size_t row = begin; row < end; ++row) {
        Value *out = k.out(0) + row * in.classes;
        if (!in.counts(row)) continue; // +0
        const Value *x = in.logits + row * in.classes;
        const Value most = row_maximum<A>(x, in.classes);
        std::copy_n(x, in.classes, out);
        const Value scale = A::reciprocal(row_exponentials<A>(out, in.classes, most));
        for (std::size_t i = 0; i < in.classes; ++i)
          out[i] = A::mul(out[i], scale);
        out[in.labels[row]] = A::sub(out[in.labels[row]], Value{1});
        for (std::size_t i = 0; i < in.classes; ++i)
          out[i] = A::mul(out[i], factor);
      }
    });
  }
};

void check_labelled_rows(const Inference &op, std::size_t logits) {
  const Shape &x = op.shape(logits);
  op.require(x.rank() >= 1, "logits are a scalar; the last dimension is that of the classes");
  const Shape rows(std::vector<std::uint32_t>(x.dims().begin(), x.dims().end() - 1));
  op.require(op.shape(logits + 1) == rows, "logits are " + x.text() + " and labels " + op.shape(logits + 1).text() +
                                               "; there must be a label for each row, " + rows.text());
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
  return (3 + function_cost::exp()) * static_cast<double>(op.input(0).shape.elements());
}
unsigned cross_entropy_gradient_operations() { return 5 + function_cost::exp(); }

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
