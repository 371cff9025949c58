#include "graph/operators/move/block.hpp"

#include <fmt/format.h>

namespace gradweave::graph {

std::vector<std::size_t> strides_of(const Shape &shape) {
  std::vector<std::size_t> strides(shape.rank(), 1);
  for (std::size_t axis = shape.rank(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

std::vector<std::int64_t> numbers_of(const Shape &shape) { return {shape.dims().begin(), shape.dims().end()}; }

Shape shape_attribute(const Inference &op, std::string_view attribute) {
  std::vector<std::uint32_t> dims;
  for (const std::int64_t dim : op.attributes().integers(attribute)) {
    if (dim < 1 || dim > UINT32_MAX)
      op.fail(fmt::format("attribute '{}' = {} must have positive dimensions", attribute,
                          to_string(Attribute(op.attributes().integers(attribute)))));
    dims.push_back(static_cast<std::uint32_t>(dim));
  }
  return Shape(std::move(dims));
}

} // namespace gradweave::graph
