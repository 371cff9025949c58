// Softmax over the last dimension, of scores that are scaled and masked; and its gradient from P.
#include "graph/operators/loops/broadcast.hpp"
#include "graph/operators/loops/function_cost.hpp"
#include "graph/operators/loops/rows.hpp"

#include <limits>

namespace gradweave::graph {
namespace {

/// z = scale x + mask, rounded once; without a mask scale x.
template <class A> class MaskedScores {
public:
  using Value = typename A::Value;

  explicit MaskedScores(const Kernel<A> &k)
      : x_(k.in(0)), mask_(k.has_in(1) ? k.in(1) : nullptr), cols_(k.in_shape(0).cols()),
        scale_(real_attribute(k, "scale")) {
    if (mask_ == nullptr) return;
    mask_step_ = k.in_shape(1).rank() > 0 && k.in_shape(1).cols() == cols_ ? 1 : 0;
    // Where each row finds its part of the mask.
    const Shape rows(without_last(k.in_shape(0))), mask_rows(without_last(k.in_shape(1)));
    const std::size_t mask_cols = k.in_shape(1).cols();
    const RepeatWalk walk(rows, {&mask_rows});
    begins_.reserve(rows.elements());
    for (std::size_t row = 0; row < rows.elements(); ++row)
      begins_.push_back((walk.offset(0, row / walk.inner()) + row % walk.inner() * walk.strides[0].back()) * mask_cols);
  }

  void row(std::size_t row, Value *z) const {
    const Value *const x = x_ + row * cols_;
    const Value scale = scale_;
    if (mask_ == nullptr) {
      for (std::size_t i = 0; i < cols_; ++i)
        z[i] = A::mul(x[i], scale);
      return;
    }
    const Value *const mask = mask_ + begins_[row];
    for (std::size_t i = 0; i < cols_; ++i)
      z[i] = A::fma(x[i], scale, mask[i * mask_step_]);
  }

private:
  static std::vector<std::uint32_t> without_last(const Shape &shape) {
    return {shape.dims().begin(), shape.dims().end() - (shape.rank() > 0 ? 1 : 0)};
  }

  const Value *x_, *mask_;
  std::size_t cols_, mask_step_ = 0;
  Value scale_;
  std::vector<std::size_t> begins_;
};

struct SoftmaxRun {
  template <class A> static void run(Kernel<A> &k) {
    using Value = typename A::Value;
    constexpr Value kInfinity = std::numeric_limits<Value>::infinity();
    const MaskedScores<A> scores(k);
    const std::size_t cols = k.in_shape(0).cols();
    for_rows(k, k.in_shape(0), 40, [&](std::size_t row) {
      Value *const p = k.out(0) + row * cols;
      scores.row(row, p);
      const Value most = row_maximum<A>(p, cols);
      // Of a row that is -infinity throughout, all powers are 0; so is P.
      const Value sum = row_exponentials<A>(p, cols, most == -kInfinity ? Value{0} : most);
      const Value share = A::reciprocal(A::max(sum, Value{1}));
      for (std::size_t i = 0; i < cols; ++i)
        p[i] = A::mul(p[i], share);
    });
  }
};

struct SoftmaxGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    using Value = typename A::Value;
    const std::size_t cols = k.in_shape(0).cols();
    const Value scale = real_attribute(k, "scale");
    for_rows(k, k.in_shape(0), 8, [&](std::size_t row) {
      const Value *const dp = k.in(0) + row * cols;
      const Value *const p = k.in(1) + row * cols;
      Value *const dx = k.out(0) + row * cols;
      const Value mean = row_product<A>(
          cols, [p](std::size_t i) { return p[i]; }, [dp](std::size_t i) { return dp[i]; });
      for (std::size_t i = 0; i < cols; ++i)
        dx[i] = A::mul(A::mul(p[i], A::sub(dp[i], mean)), scale);
    });
  }
};

void infer_softmax(Inference &op) {
  op.require(op.shape(0).rank() >= 1, "x is a scalar; it needs a dimension to be distributed over");
  if (op.has(1)) require_broadcasts(op, op.shape(1), op.shape(0));
  op.set(0, op.shape(0));
}

void infer_softmax_gradient(Inference &op) {
  op.require(op.shape(0) == op.shape(1) && op.shape(0).rank() >= 1,
             "dy is " + op.shape(0).text() + " and y " + op.shape(1).text() + "; they must be equal, and no scalars");
  op.set(0, op.shape(0));
}

void derive_softmax(Derivation &d) {
  if (d.wants(0)) d.give(0, d.build.add("SoftmaxGradient", {d.gradient(), d.output(0)}, d.attributes(), d.name(0)));
  if (d.wants(1)) give_summed(d, 1, d.build.add("SoftmaxGradient", {d.gradient(), d.output(0)}));
}

unsigned softmax_operations() { return 5 + function_cost::exp(); }

} // namespace

std::vector<Operator> softmax_operators() {
  const AttributeSpec scale{"scale", AttributeKind::kReal, 1.0, "factor of x, before the mask is added"};
  Operator softmax;
  softmax.name = "Softmax";
  softmax.summary = "e^z / sum of e^z over the last dimension, z = scale x + mask";
  softmax.inputs = {{"x", Takes::kSum}, {"mask", Takes::kReal, true}};
  softmax.outputs = {{"y", Gives::kActivation}};
  softmax.attributes = {scale};
  softmax.infer = infer_softmax;
  softmax.derive = derive_softmax;
  softmax.operations = operations_per_element<softmax_operations>;
  softmax.lower = walks<Walk::kRows>;
  executes<SoftmaxRun>(softmax);

  Operator gradient;
  gradient.name = "SoftmaxGradient";
  gradient.summary = "scale y (dy - sum of y dy over the last dimension)";
  gradient.inputs = {{"dy"}, {"y"}};
  gradient.outputs = {{"dx", Gives::kActivation}};
  gradient.attributes = {scale};
  gradient.infer = infer_softmax_gradient;
  gradient.operations = operations_per_element<4>;
  gradient.lower = walks<Walk::kRows>;
  executes<SoftmaxGradientRun>(gradient);
  return {softmax, gradient};
}

} // namespace gradweave::graph
