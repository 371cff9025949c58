#include "graph/build/inference.hpp"

#include <fmt/format.h>

namespace gradweave::graph {

std::string describe(const Op &op) {
  const std::string text = fmt::format("op '{}' ({})", op.name, op.type->name);
  return op.where.empty() ? text : op.where + ": " + text;
}

void Inference::fail(std::string_view message) const {
  throw GraphError(fmt::format("{}: {}", describe(op_), message));
}

std::size_t Inference::axis(std::int64_t value, std::size_t input) const {
  const auto rank = static_cast<std::int64_t>(shape(input).rank());
  if (value < -rank || value >= rank)
    fail(fmt::format("axis {} is none of {}, whose axes are {} to {}", value, shape(input).text(), -rank, rank - 1));
  return static_cast<std::size_t>(value < 0 ? value + rank : value);
}

} // namespace gradweave::graph
