// Softmax over the last dimension, of scores that are scaled and masked; and its gradient from P.
#include "graph/operators/loops/broadcast.hpp"
#include "graph/operators/loops/function_cost.hpp"

#include <limits>

namespace gradweave::graph {
namespace {

std::vector<std::uint32_t> without_last(const Shape &shape) {
  return {shape.dims().begin(), shape.dims().end() - (shape.rank() > 0 ? 1 : 0)};
}

/// Rows of x as lanes; operands: x, and the mask where there is one, repeated to x.
LineWalk masked_rows(const Shape &x, const Shape *mask) {
  const Shape rows(without_last(x)), mask_rows(mask == nullptr ? std::vector<std::uint32_t>{} : without_last(*mask));
  const RepeatWalk repeat(rows, {&mask_rows});
  LineWalk walk{repeat.dims, {x.cols()}, {}, {}, false};
  WalkOperand of_x{input(0), repeat.dims, {1}, 0};
  std::size_t stride = x.cols();
  for (std::size_t d = repeat.dims.size(); d-- > 0; stride *= repeat.dims[d])
    of_x.lanes[d] = stride;
  walk.in.push_back(of_x);
  if (mask == nullptr) return walk;
  WalkOperand of_mask{input(1), repeat.strides[0], {mask->cols() == x.cols() ? 1U : 0U}, 0};
  for (std::size_t &lane : of_mask.lanes)
    lane *= mask->cols();
  walk.in.push_back(of_mask);
  return walk;
}

struct SoftmaxRun {
  /// Powers are computed twice: to keep them, in fp32, takes longer, and more of the scratchpad.
  template <class A> static void run(Kernel<A> &k) {
    const Shape &x = k.in_shape(0);
    const bool masked = k.has_in(1);
    const auto scale = real_attribute(k, "scale");
    LineWalk walk = masked_rows(x, masked ? &k.in_shape(1) : nullptr);
    walk.out = {walk.in[0]};
    walk.out[0].value = output(0);
    walk_lines(k, walk, 60, [=](auto &lines) {
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      const auto score = [=](const auto &at) {
        return masked ? A::fma(at.in(0), scale, at.in(1)) : A::mul(at.in(0), scale);
      };
      auto most = lines.variable(-kInfinity), sum = lines.variable(0);
      const auto power = [&](const auto &at) { return A::exp_below(A::sub(score(at), most(at))); };
      lines.loop([&](const auto &at) { most(at) = A::max(most(at), score(at)); });
      // Of a row that is -infinity throughout, all powers are 0; so is P.
      lines.once([&](const auto &at) {
        most(at) = A::select(A::eq(most(at), number<A>(-kInfinity)), number<A>(0), most(at));
      });
      lines.loop([&](const auto &at) { sum(at) = A::add(sum(at), power(at)); });
      lines.once([&](const auto &at) { sum(at) = A::reciprocal(A::max(sum(at), number<A>(1))); });
      lines.loop([&](const auto &at) { at.out(0, A::mul(power(at), sum(at))); });
    });
  }
};

struct SoftmaxGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    const Shape &x = k.in_shape(0);
    const auto scale = real_attribute(k, "scale");
    LineWalk walk = rows_as_lanes(x.rows(), x.cols());
    walk.in = {strided(input(0), x.cols(), 1), strided(input(1), x.cols(), 1)};
    walk.out = {strided(output(0), x.cols(), 1)};
    walk_lines(k, walk, 8, [=](auto &lines) {
      auto mean = lines.variable(0);
      lines.loop([&](const auto &at) { mean(at) = A::fma(at.in(1), at.in(0), mean(at)); });
      lines.loop([&](const auto &at) { at.out(0, A::mul(A::mul(at.in(1), A::sub(at.in(0), mean(at))), scale)); });
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

unsigned softmax_operations() { return 5 + function_cost::exp_below(); }

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
