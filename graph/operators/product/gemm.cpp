// Gemm: the product of a layer, Y = X W, with X as many rows as its leading dimensions have; and the products of its
// gradients, dX = dY W^T and dW = X^T dY.
#include "graph/operators/loops/entry.hpp"
#include "graph/operators/loops/matrix_product.hpp"

#include <algorithm>

namespace gradweave::graph {
namespace {

/// Columns are the last dimension, rows all before it.
template <class A> Matrix<typename A::Value> matrix(const Kernel<A> &k, std::size_t input) {
  return {k.in(input), k.in_shape(input).cols(), 1};
}

struct ForwardRun {
  template <class A> static void run(Kernel<A> &k) {
    const Shape &x = k.in_shape(0), &w = k.in_shape(1);
    accumulate_product(matrix(k, 0), matrix(k, 1), x.rows(), w.cols(), x.cols(), k.out(0), k.threads());
  }
};

struct InputGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    const Shape &dy = k.in_shape(0), &w = k.in_shape(1);
    accumulate_product(matrix(k, 0), matrix(k, 1).transposed(), dy.rows(), w.rows(), dy.cols(), k.out(0), k.threads());
  }
};

struct WeightGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    const Shape &x = k.in_shape(0), &dy = k.in_shape(1);
    // An initial value goes on with the chain of an earlier micro-batch (N9).
    if (k.has_in(2)) std::copy_n(k.in(2), k.out_shape(0).elements(), k.out(0));
    accumulate_product(matrix(k, 0).transposed(), matrix(k, 1), x.cols(), dy.cols(), x.rows(), k.out(0), k.threads());
  }
};

Shape with_last(const Shape &shape, std::uint32_t last) {
  Shape result = shape;
  result.set(shape.rank() - 1, last);
  return result;
}

void infer_forward(Inference &op) {
  op.require(op.shape(0).rank() >= 1, "x is a scalar; it needs columns");
  op.require(op.shape(1).rank() == 2, "w is " + op.shape(1).text() + "; it has rows and columns");
  op.require(op.shape(0).cols() == op.shape(1)[0], "x is " + op.shape(0).text() + " and w " + op.shape(1).text() +
                                                       ": the columns of x must be the rows of w");
  op.set(0, with_last(op.shape(0), op.shape(1).cols()));
}

void infer_input_gradient(Inference &op) {
  op.require(op.shape(1).rank() == 2 && op.shape(0).rank() >= 1 && op.shape(0).cols() == op.shape(1).cols(),
             "dy is " + op.shape(0).text() + " and w " + op.shape(1).text() + ": the columns of both must be as many");
  op.set(0, with_last(op.shape(0), op.shape(1)[0]));
}

void infer_weight_gradient(Inference &op) {
  op.require(op.shape(0).rank() >= 1 && op.shape(1).rank() >= 1 && op.shape(0).rows() == op.shape(1).rows(),
             "x is " + op.shape(0).text() + " and dy " + op.shape(1).text() + ": the rows of both must be as many");
  const Shape dw{op.shape(0).cols(), op.shape(1).cols()};
  op.require(!op.has(2) || op.shape(2) == dw, "the initial value must be of the result's shape, " + dw.text());
  op.set(0, dw);
}

void derive_forward(Derivation &d) {
  if (d.wants(0)) d.give(0, d.build.add("GemmInputGradient", {d.gradient(), d.input(1)}, {}, d.name(0)));
  if (d.wants(1)) d.give(1, d.build.add("GemmWeightGradient", {d.input(0), d.gradient()}, {}, d.name(1)));
}

Lowering lower_forward(const OpView &op) {
  const Shape &x = op.input(0).shape, &w = op.input(1).shape;
  return {Product{ProductKind::kForward, static_cast<std::uint32_t>(x.rows()), x.cols(), w.cols()}};
}

Lowering lower_input_gradient(const OpView &op) {
  const Shape &dy = op.input(0).shape, &w = op.input(1).shape;
  return {Product{ProductKind::kInputGradient, static_cast<std::uint32_t>(dy.rows()), w[0], w.cols()}};
}

Lowering lower_weight_gradient(const OpView &op) {
  const Shape &x = op.input(0).shape, &dy = op.input(1).shape;
  return {Product{ProductKind::kWeightGradient, static_cast<std::uint32_t>(x.rows()), x.cols(), dy.cols()}};
}

/// Of any of the three.
double multiply_adds(const OpView &op) {
  const Product product = *op.op.type->lower(op).product;
  return double(product.m) * product.k * product.n;
}

} // namespace

std::vector<Operator> gemm_operators() {
  Operator forward;
  forward.name = "Gemm";
  forward.summary = "y = x w, each row of x with the matrix w";
  forward.inputs = {{"x", Takes::kOperand}, {"w", Takes::kOperand}};
  forward.outputs = {{"y", Gives::kSum}};
  forward.infer = infer_forward;
  forward.derive = derive_forward;
  forward.operations = multiply_adds;
  forward.lower = lower_forward;
  executes_golden<ForwardRun>(forward);

  Operator dx;
  dx.name = "GemmInputGradient";
  dx.summary = "dx = dy w^T";
  dx.inputs = {{"dy", Takes::kOperand}, {"w", Takes::kOperand}};
  dx.outputs = {{"dx", Gives::kSum}};
  dx.infer = infer_input_gradient;
  dx.operations = multiply_adds;
  dx.lower = lower_input_gradient;
  executes_golden<InputGradientRun>(dx);

  Operator dw;
  dw.name = "GemmWeightGradient";
  dw.summary = "dw = x^T dy, the rows of both ascending, from the initial value";
  dw.inputs = {{"x", Takes::kOperand}, {"dy", Takes::kOperand}, {"initial", Takes::kFp32, true}};
  dw.outputs = {{"dw", Gives::kFp32}};
  dw.infer = infer_weight_gradient;
  dw.operations = multiply_adds;
  dw.lower = lower_weight_gradient;
  executes_golden<WeightGradientRun>(dw);
  return {forward, dx, dw};
}

} // namespace gradweave::graph
