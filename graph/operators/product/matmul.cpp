// MatMul: products of matrices that are both computed, one for each index of the leading dimensions; of attention.
#include "graph/operators/loops/entry.hpp"
#include "graph/operators/loops/matrix_product.hpp"
#include "graph/operators/move/block.hpp"

#include <fmt/format.h>

namespace gradweave::graph {
namespace {

struct MatMulGeometry {
  std::size_t batch = 1, m = 0, k = 0, n = 0;
  bool transposed_a = false, transposed_b = false;
  bool one_b = false; ///< the same right side for all
};

MatMulGeometry matmul_geometry(const Attributes &attributes, const Shape &a, const Shape &b) {
  MatMulGeometry g;
  g.transposed_a = attributes.integer("trans_a") != 0;
  g.transposed_b = attributes.integer("trans_b") != 0;
  g.m = a.back(g.transposed_a ? 0 : 1), g.k = a.back(g.transposed_a ? 1 : 0);
  g.n = b.back(g.transposed_b ? 1 : 0);
  g.one_b = b.rank() == 2;
  if (g.one_b && !g.transposed_a)
    g.m *= a.count(0, a.rank() - 2);
  else
    g.batch = a.count(0, a.rank() - 2);
  return g;
}

struct MatMulRun {
  template <class A> static void run(Kernel<A> &k) {
    using V = typename A::Value;
    const MatMulGeometry g = matmul_geometry(k.attributes(), k.in_shape(0), k.in_shape(1));
    const auto product = [&](std::size_t i, unsigned threads) {
      const Matrix<V> a{k.in(0) + i * g.m * g.k, g.transposed_a ? g.m : g.k, 1};
      const Matrix<V> b{k.in(1) + i * g.k * g.n, g.transposed_b ? g.k : g.n, 1};
      accumulate_product(g.transposed_a ? a.transposed() : a, g.transposed_b ? b.transposed() : b, g.m, g.n, g.k,
                         k.out(0) + i * g.m * g.n, threads);
    };
    if (g.batch < k.threads()) {
      for (std::size_t i = 0; i < g.batch; ++i)
        product(i, k.threads());
      return;
    }
    k.parallel(g.batch, g.m * g.n * g.k, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        product(i, 1);
    });
  }
};

bool matmul_flag(const Inference &op, std::string_view name) {
  const std::int64_t value = op.attributes().integer(name);
  op.require(value == 0 || value == 1, fmt::format("attribute '{}' = {} must be 0 or 1", name, value));
  return value != 0;
}

void infer_matmul(Inference &op) {
  const Shape &a = op.shape(0), &b = op.shape(1);
  const bool transposed_a = matmul_flag(op, "trans_a"), transposed_b = matmul_flag(op, "trans_b");
  op.require(a.rank() >= 2 && b.rank() >= 2,
             fmt::format("a is {} and b {}; both need rows and columns", a.text(), b.text()));
  const bool same_batch = a.rank() == b.rank() && std::equal(a.dims().begin(), a.dims().end() - 2, b.dims().begin());
  op.require(same_batch || (b.rank() == 2 && !transposed_a),
             fmt::format("a is {} and b {}: all but the last two dimensions must be equal, or b a single matrix and "
                         "'trans_a' 0",
                         a.text(), b.text()));
  const std::uint32_t k_of_a = a.back(transposed_a ? 1 : 0), k_of_b = b.back(transposed_b ? 0 : 1);
  op.require(k_of_a == k_of_b,
             fmt::format("a is {}{} and b {}{}: {} columns meet {} rows", a.text(), transposed_a ? " transposed" : "",
                         b.text(), transposed_b ? " transposed" : "", k_of_a, k_of_b));
  Shape y = a;
  y.set(a.rank() - 2, a.back(transposed_a ? 0 : 1));
  y.set(a.rank() - 1, b.back(transposed_b ? 1 : 0));
  op.set(0, y);
}

Attributes matmul_attributes(bool a, bool b) { return {{"trans_a", std::int64_t{a}}, {"trans_b", std::int64_t{b}}}; }

/// As one matrix of all rows.
TensorId as_one_matrix(Builder &build, TensorId x) {
  if (build.shape(x).rank() == 2) return x;
  return build.add("Reshape", {x}, {{"shape", std::vector<std::int64_t>{-1, build.shape(x).cols()}}});
}

void derive_matmul(Derivation &d) {
  const MatMulGeometry g = matmul_geometry(d.attributes(), d.shape(0), d.shape(1));
  TensorId a = d.input(0), dy = d.gradient();
  const TensorId b = d.input(1);
  const auto product = [&](TensorId left, TensorId right, bool transpose_left, bool transpose_right, std::size_t of) {
    return d.build.add("MatMul", {left, right}, matmul_attributes(transpose_left, transpose_right), d.name(of));
  };
  // y = a b: da = dy b^T and db = a^T dy. Of a transposed operand the gradient is the transposed of that.
  if (d.wants(0))
    d.give(0, g.transposed_a ? product(b, dy, g.transposed_b, true, 0) : product(dy, b, false, !g.transposed_b, 0));
  if (!d.wants(1)) return;
  if (g.one_b) a = as_one_matrix(d.build, a), dy = as_one_matrix(d.build, dy);
  d.give(1, g.transposed_b ? product(dy, a, true, g.transposed_a, 1) : product(a, dy, !g.transposed_a, false, 1));
}

Lowering lower_matmul(const OpView &op) {
  const MatMulGeometry g = matmul_geometry(op.op.attributes, op.input(0).shape, op.input(1).shape);
  Product product{ProductKind::kForward, static_cast<std::uint32_t>(g.m), static_cast<std::uint32_t>(g.k),
                  static_cast<std::uint32_t>(g.n), static_cast<std::uint32_t>(g.batch)};
  product.grouping = Product::Grouping::kBatch;
  product.transposed_a = g.transposed_a;
  product.transposed_b = g.transposed_b;
  return {product};
}

double matmul_operations(const OpView &op) {
  const MatMulGeometry g = matmul_geometry(op.op.attributes, op.input(0).shape, op.input(1).shape);
  return double(g.batch) * double(g.m) * double(g.k) * double(g.n);
}

} // namespace

std::vector<Operator> matmul_operators() {
  Operator op;
  op.name = "MatMul";
  op.summary = "y = a b, a product for each index of the leading dimensions";
  op.inputs = {{"a", Takes::kOperand}, {"b", Takes::kOperand}};
  op.outputs = {{"y", Gives::kSum}};
  op.attributes = {{"trans_a", AttributeKind::kInteger, std::int64_t{0}, "1: a lies transposed, [..., k, m]"},
                   {"trans_b", AttributeKind::kInteger, std::int64_t{0}, "1: b lies transposed, [..., n, k]"}};
  op.infer = infer_matmul;
  op.derive = derive_matmul;
  op.operations = matmul_operations;
  op.lower = lower_matmul;
  executes_golden<MatMulRun>(op);
  return {op};
}

} // namespace gradweave::graph
