#include "graph/onnx/fold/node_view.hpp"

#include "graph/ir/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace gradweave::graph::onnx {

std::string NodeView::where() const { return fmt::format("{}: {}", file_, describe(node_)); }

void NodeView::fail(std::string_view message) const { throw GraphError(fmt::format("{}: {}", where(), message)); }

template <class T> T NodeView::get(std::string_view name, T fallback, std::string_view kind) const {
  const auto found = node_.attributes.find(name);
  if (found == node_.attributes.end()) return fallback;
  if (const T *value = std::get_if<T>(&found->second)) return *value;
  fail(fmt::format("attribute '{}' is no {}", name, kind));
}

std::int64_t NodeView::integer(std::string_view name, std::int64_t fallback) const {
  return get<std::int64_t>(name, fallback, "whole number");
}

double NodeView::real(std::string_view name, double fallback) const { return get<double>(name, fallback, "number"); }

std::vector<std::string> NodeView::texts(std::string_view name, std::vector<std::string> fallback) const {
  return get<std::vector<std::string>>(name, std::move(fallback), "list of texts");
}

std::string NodeView::text(std::string_view name, std::string fallback) const {
  return get<std::string>(name, std::move(fallback), "text");
}

std::vector<std::int64_t> NodeView::integers(std::string_view name, std::vector<std::int64_t> fallback) const {
  return get<std::vector<std::int64_t>>(name, std::move(fallback), "list of whole numbers");
}

std::size_t NodeView::axis(std::int64_t value, std::size_t rank, std::string_view what) const {
  const auto count = static_cast<std::int64_t>(rank);
  if (value < -count || value >= count)
    fail(fmt::format("{} {} is none of a tensor of {} dimensions", what, value, rank));
  return static_cast<std::size_t>(value < 0 ? value + count : value);
}

std::vector<std::size_t> NodeView::axes(const std::vector<std::int64_t> &values, std::size_t rank) const {
  std::vector<std::size_t> all;
  for (const std::int64_t value : values)
    all.push_back(axis(value, rank, "axes:"));
  std::sort(all.begin(), all.end());
  if (std::adjacent_find(all.begin(), all.end()) != all.end())
    fail(fmt::format("axes {} name one twice", text_of(values)));
  return all;
}

std::vector<std::int64_t> broadcast_dims(const NodeView &node, const std::vector<std::int64_t> &a,
                                         const std::vector<std::int64_t> &b) {
  std::vector<std::int64_t> dims(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t of_a = i < a.size() ? a[a.size() - 1 - i] : 1, of_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (of_a != of_b && of_a != 1 && of_b != 1)
      node.fail(fmt::format("inputs of {} and {} do not fit: dimensions must be equal or 1", text_of(a), text_of(b)));
    dims[dims.size() - 1 - i] = of_a == 1 ? of_b : of_a;
  }
  return dims;
}

std::int64_t product_of(const std::vector<std::int64_t> &dims) {
  std::int64_t product = 1;
  for (const std::int64_t dim : dims)
    product *= dim;
  return product;
}

std::string text_of(const std::vector<std::int64_t> &dims) { return fmt::format("[{}]", fmt::join(dims, ", ")); }

} // namespace gradweave::graph::onnx
