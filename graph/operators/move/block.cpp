#include "graph/operators/move/block.hpp"

#include <fmt/format.h>

namespace gradweave::graph {

std::vector<std::size_t> strides_of(const Shape &shape) {
  std::vector<std::size_t> strides(shape.rank(), 1);
  for (std::size_t axis = shape.rank(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

RowMove rows_of(const BlockMove &move, const WalkValue &from, const WalkValue &to) {
  RowMove rows{{}, 1, {from, {}, {}, move.from}, {to, {}, {}, move.to}};
  std::size_t dims = move.dims.size();
  for (; dims > 0 && move.from_strides[dims - 1] == rows.length && move.to_strides[dims - 1] == rows.length; --dims)
    rows.length *= move.dims[dims - 1];
  rows.rows.assign(move.dims.begin(), move.dims.begin() + static_cast<std::ptrdiff_t>(dims));
  rows.from.steps.assign(move.from_strides.begin(), move.from_strides.begin() + static_cast<std::ptrdiff_t>(dims));
  rows.to.steps.assign(move.to_strides.begin(), move.to_strides.begin() + static_cast<std::ptrdiff_t>(dims));
  return rows;
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
