#include "graph/onnx/value/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace gradweave::graph::onnx {

Kind kind_of(DataType type) {
  return is_real(type) ? Kind::kReal : type == DataType::kBool ? Kind::kTruth : Kind::kWhole;
}

std::string_view to_string(Kind kind) {
  return kind == Kind::kReal ? "real numbers" : kind == Kind::kWhole ? "whole numbers" : "truth values";
}

Order plain_order(std::size_t rank) {
  Order order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Order image_order(std::size_t rank) {
  Order order = plain_order(rank);
  if (rank > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

Dims ordered(const Dims &dims, const Order &order) {
  Dims result;
  for (const std::size_t axis : order)
    result.push_back(dims[axis]);
  return result;
}

std::size_t place_in(const Order &order, std::size_t axis) {
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), axis) - order.begin());
}

namespace {

Order long_axes(const Dims &dims, const Order &order) {
  Order result;
  for (const std::size_t axis : order)
    if (dims[axis] != 1) result.push_back(axis);
  return result;
}

} // namespace

bool same_elements(const Dims &dims, const Order &a, const Order &b) {
  return long_axes(dims, a) == long_axes(dims, b);
}

Shape shape_of(Builder &build, const std::string &name, const Dims &dims) {
  std::vector<std::uint32_t> result;
  for (const std::int64_t dim : dims) {
    if (dim < 1 || dim > UINT32_MAX)
      build.fail(fmt::format("'{}' has a dimension of {}; 1 to 2^32 - 1 are possible", name, dim));
    result.push_back(static_cast<std::uint32_t>(dim));
  }
  return Shape(std::move(result));
}

std::vector<std::int64_t> numbers(const Shape &shape) { return {shape.dims().begin(), shape.dims().end()}; }

} // namespace gradweave::graph::onnx
