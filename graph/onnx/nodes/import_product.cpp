// Products of matrices.
#include "graph/onnx/nodes/importers.hpp"
#include "graph/onnx/nodes/product.hpp"
#include "graph/onnx/nodes/reshape.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph::onnx {
namespace {

Order last_behind(const Order &order, std::size_t last) {
  Order result;
  for (const std::size_t axis : order)
    if (axis != last) result.push_back(axis);
  result.push_back(last);
  return result;
}

/// x with its last dimension last, all others where they are.
struct Rows {
  TensorId tensor = kNone;
  Order order;
};

Rows rows_of(NodeImport &node, const Value &x) {
  if (x.tensor == kNone) return {node.place.plain(x), plain_order(x.rank())};
  if (x.channels != 0) return {x.tensor, plain_order(x.rank())};
  const Order order = last_behind(x.order, x.rank() - 1);
  return {node.place.in_order(x, order), order};
}

/// The weights of a layer, [K, N]; where x is a flattened image, the K rows in the order of its pixels.
TensorId weights_of_rows(NodeImport &node, const Value &x, const Value &w) {
  Arrangement arrangement{{{w.dims[0]}, {w.dims[1]}}, {0, 1}, w.dims};
  if (x.channels != 0) {
    arrangement.cuts[0] = {x.channels, w.dims[0] / x.channels};
    arrangement.order = {1, 0, 2};
  }
  return node.place.arranged(w, arrangement, "lecun");
}

/// x w, of weights [K, N]; `last`: it is the node's result.
Rows linear(NodeImport &node, const Value &x, const Value &w, bool last) {
  if (x.rank() < 1 || x.back() != w.dims[0])
    node.fail(fmt::format("input '{}' is {} and '{}' {}: the last dimension of one must be the first of the other",
                          x.name, text_of(x.dims), w.name, text_of(w.dims)));
  const Rows rows = rows_of(node, x);
  const std::vector<TensorId> inputs{rows.tensor, weights_of_rows(node, x, w)};
  return {last ? node.last("Gemm", inputs) : node.step("Gemm", inputs, {}, "product"), rows.order};
}

bool of_file(const Value &value) { return value.tensor == kNone; }

/// Whether the tensor has all dimensions but the last two in place, and these in one order or the other.
struct Side {
  TensorId tensor = kNone;
  bool transposed = false;
};

Side side_of(NodeImport &node, const Value &value) {
  const std::size_t rank = value.rank();
  Order swapped = plain_order(rank);
  std::swap(swapped[rank - 1], swapped[rank - 2]);
  if (of_file(value) || value.channels != 0) return {node.place.plain(value), false};
  // Where elements have to be moved anyway, rows stay rows.
  const bool lies = value.order == swapped || (value.order != plain_order(rank) && value.order.back() == rank - 2);
  return lies ? Side{node.place.in_order(value, swapped), true} : Side{node.place.plain(value), false};
}

/// Repeated along leading dimensions to those of `to`.
Side repeated_to(NodeImport &node, Side side, const Dims &to) {
  Dims own = numbers(node.build.shape(side.tensor));
  Dims wanted = to;
  wanted.insert(wanted.end(), own.end() - 2, own.end());
  if (own == wanted) return side;
  own.insert(own.begin(), wanted.size() - own.size(), 1);
  if (own != numbers(node.build.shape(side.tensor)))
    side.tensor = node.step("Reshape", {side.tensor}, {{"shape", own}}, "matrices");
  if (own != wanted) side.tensor = node.step("Expand", {side.tensor}, {{"shape", wanted}}, "repeated");
  return side;
}

/// `last`: the product is the node's result.
Value batched(NodeImport &node, const Value &a, const Value &b, bool last) {
  if (a.rank() < 2 || b.rank() < 2)
    node.fail(fmt::format("inputs are {} and {}; both need rows and columns", text_of(a.dims), text_of(b.dims)));
  if (a.back() != b.back(1))
    node.fail(fmt::format("inputs are {} and {}: the columns of one must be the rows of the other", text_of(a.dims),
                          text_of(b.dims)));
  Side left = side_of(node, a), right = side_of(node, b);
  if (b.rank() > 2 || left.transposed) {
    const Dims lead = broadcast_dims(node, {a.dims.begin(), a.dims.end() - 2}, {b.dims.begin(), b.dims.end() - 2});
    left = repeated_to(node, left, lead);
    right = repeated_to(node, right, lead);
  }
  const Attributes flags{{"trans_a", std::int64_t{left.transposed}}, {"trans_b", std::int64_t{right.transposed}}};
  const std::vector<TensorId> both{left.tensor, right.tensor};
  Value y;
  y.tensor = last ? node.last("MatMul", both, flags) : node.step("MatMul", both, flags, "product");
  y.dims = numbers(node.build.shape(y.tensor));
  y.order = plain_order(y.rank());
  return y;
}

void give_scaled_and_added(NodeImport &node, TensorId y, double alpha, double beta, bool added) {
  if (alpha != 1)
    y = added ? node.step("Scale", {y}, {{"value", alpha}}, "scaled") : node.last("Scale", {y}, {{"value", alpha}});
  if (!added) return node.give(y, {0, 1});
  const Value &c = node.real_in(2);
  const Dims dims = numbers(node.build.shape(y));
  if (broadcast_dims(node, dims, c.dims) != dims)
    node.fail(fmt::format("input 2 '{}' is {}; it must be repeated to {}", c.name, text_of(c.dims), text_of(dims)));
  const bool per_column = c.rank() >= 1 && c.back() == dims[1] && product_of(c.dims) == dims[1];
  if (per_column && beta == 1 && of_file(c)) {
    Arrangement arrangement{{}, plain_order(c.rank()), {dims[1]}};
    for (const std::int64_t dim : c.dims)
      arrangement.cuts.push_back({dim});
    return node.give(node.last("Bias", {y, node.place.arranged(c, arrangement, "zeros")}), {0, 1});
  }
  TensorId other = node.place.beside(c, {0, 1});
  if (beta != 1) other = node.step("Scale", {other}, {{"value", beta}}, "beta");
  node.give(node.last("Add", {y, other}), {0, 1});
}

} // namespace

Value matrix_product(NodeImport &node, const Value &a, const Value &b, bool last) {
  if (!of_file(b) || b.rank() != 2) return batched(node, a, b, last);
  const Rows rows = linear(node, a, b, last);
  Value y;
  y.tensor = rows.tensor;
  y.order = rows.order;
  y.dims = a.dims;
  y.dims.back() = b.dims[1];
  return y;
}

namespace {

/// A vector as a matrix: a row, or a column.
Value as_matrix(NodeImport &node, const Value &vector, bool column) {
  const Dims dims = column ? Dims{vector.dims[0], 1} : Dims{1, vector.dims[0]};
  if (!of_file(vector)) return reshaped_value(node, vector, dims, false);
  Value matrix;
  matrix.name = vector.name;
  matrix.tensor = node.place.arranged(vector, {{{vector.dims[0]}}, {0}, dims}, vector.known() ? "" : "lecun");
  matrix.dims = dims;
  matrix.order = plain_order(2);
  return matrix;
}

/// x times a vector of the file: a layer of one column.
Value layer_of_vector(NodeImport &node, const Value &x, const Value &vector) {
  if (x.back() != vector.dims[0])
    node.fail(fmt::format("input '{}' is {} and '{}' {}: the last dimension of one must be the first of the other",
                          x.name, text_of(x.dims), vector.name, text_of(vector.dims)));
  const Rows rows = rows_of(node, x);
  Arrangement column{{{vector.dims[0]}}, {0}, {vector.dims[0], 1}};
  if (x.channels != 0) {
    column.cuts = {{x.channels, vector.dims[0] / x.channels}};
    column.order = {1, 0};
  }
  Value y;
  y.tensor = node.step("Gemm", {rows.tensor, node.place.arranged(vector, column, "lecun")}, {}, "product");
  y.order = rows.order;
  y.dims = x.dims;
  y.dims.back() = 1;
  return y;
}

} // namespace

namespace {

/// An operand, with its last two dimensions changed if the attribute says so.
Value operand(NodeImport &node, std::size_t i, const char *turned) {
  const Value &value = node.real_in(i);
  if (node.integer(turned, 0) == 0 || value.rank() < 2) return value;
  if (value.channels != 0) node.fail(fmt::format("attribute '{}' of a flattened image", turned));
  Dims perm;
  for (std::size_t axis = 0; axis < value.rank(); ++axis)
    perm.push_back(static_cast<std::int64_t>(axis));
  std::swap(perm[value.rank() - 1], perm[value.rank() - 2]);
  return transposed(value, perm);
}

} // namespace

void import_matmul(NodeImport &node) { // attributes: onnxruntime's
  const Value a = operand(node, 0, "transA"), b = operand(node, 1, "transB");
  if (a.rank() == 0 || b.rank() == 0) node.fail("an input is a single number");
  if (node.integer("transBatchA", 0) != 0 || node.integer("transBatchB", 0) != 0)
    node.fail("attributes 'transBatchA' and 'transBatchB' are not taken");
  if (const double alpha = node.real("alpha", 1); alpha != 1) {
    if (a.rank() == 1 || b.rank() == 1) node.fail("attribute 'alpha' of a vector's product");
    const Value product = matrix_product(node, a, b, false);
    return node.give_like(node.last("Scale", {product.tensor}, {{"value", alpha}}), product);
  }
  const bool row = a.rank() == 1, column = b.rank() == 1;
  if (!row && !column) return node.give(matrix_product(node, a, b, true));
  const Value left = row ? as_matrix(node, a, false) : a;
  const Value product = column && of_file(b) && !b.known()
                            ? layer_of_vector(node, left, b)
                            : matrix_product(node, left, column ? as_matrix(node, b, true) : b, false);
  Dims dims = product.dims; // without the 1 of a vector
  if (column) dims.pop_back();
  if (row) dims.erase(dims.end() - (column ? 1 : 2));
  node.give(reshaped_value(node, product, dims, true));
}

void import_gemm(NodeImport &node) {
  Value a = node.real_in(0), b = node.real_in(1);
  if (a.rank() != 2 || b.rank() != 2)
    node.fail(fmt::format("inputs are {} and {}; both must be matrices", text_of(a.dims), text_of(b.dims)));
  if (node.integer("transA", 0) != 0) {
    if (a.channels != 0) node.fail("attribute 'transA' of a flattened image");
    a = transposed(std::move(a), {1, 0});
  }
  if (node.integer("transB", 0) != 0) {
    if (b.channels != 0) node.fail("attribute 'transB' of a flattened image");
    b = transposed(std::move(b), {1, 0});
  }
  const double alpha = node.real("alpha", 1), beta = node.real("beta", 1);
  const bool added = node.has_input(2) && beta != 0, scaled = alpha != 1;
  const bool plain = !added && !scaled;
  if (!of_file(b) && a.channels == 0) {
    // Both are computed.
    const Side left = side_of(node, a), right = side_of(node, b);
    if (a.back() != b.dims[0]) node.fail(fmt::format("inputs are {} and {}", text_of(a.dims), text_of(b.dims)));
    const Attributes flags{{"trans_a", std::int64_t{left.transposed}}, {"trans_b", std::int64_t{right.transposed}}};
    const std::vector<TensorId> both{left.tensor, right.tensor};
    const TensorId product = plain ? node.last("MatMul", both, flags) : node.step("MatMul", both, flags, "product");
    if (plain) return node.give(product, {0, 1});
    return give_scaled_and_added(node, product, alpha, beta, added);
  }
  const Rows product = linear(node, a, b, plain);
  if (plain) return node.give(product.tensor, product.order);
  give_scaled_and_added(node, product.tensor, alpha, beta, added);
}

} // namespace gradweave::graph::onnx
