#include "graph/operators/optimizer/update.hpp"

#include "graph/ir/error.hpp"

#include <fmt/format.h>

namespace gradweave::graph {

void require_like_parameter(const Inference &op, std::initializer_list<std::size_t> inputs) {
  for (const std::size_t i : inputs)
    if (op.has(i))
      op.require(op.shape(i) == op.shape(0), "w is " + op.shape(0).text() + " and '" + op.tensor(i).name + "' " +
                                                 op.shape(i).text() + "; they must be equal");
}

void require_constants(const Inference &op, std::size_t constants, std::uint32_t count, std::size_t factor) {
  op.require(op.shape(constants) == Shape{count},
             "constants are " + op.shape(constants).text() + "; they must be " + Shape{count}.text());
  op.require(!op.has(factor) || op.shape(factor).elements() == 1,
             "factor must be one number" + (op.has(factor) ? ", and is " + op.shape(factor).text() : ""));
}

void require_rows(const Inference &op, std::size_t ids) {
  op.require(op.has(ids) && op.shape(0).rank() >= 1, "w is a scalar; it has no rows that ids could name");
}

std::vector<UpdatedRange> updated_ranges(const KernelOp &k, std::size_t ids, const std::int32_t *values) {
  const std::size_t elements = k.in_shape(0).elements();
  if (!k.has_in(ids)) return {{0, elements}};
  if (values == nullptr)
    throw GraphError(fmt::format("{}: which rows are updated is not known without '{}'; give its values",
                                 describe(k.op()), k.in_tensor(ids).name));
  const std::size_t rows = k.in_shape(0)[0], cols = elements / rows;
  std::vector<bool> touched(rows);
  for (std::size_t i = 0; i < k.in_shape(ids).elements(); ++i) {
    if (values[i] < 0 || static_cast<std::size_t>(values[i]) >= rows)
      throw GraphError(
          fmt::format("{}: id {} at {} is none of the {} rows of w", describe(k.op()), values[i], i, rows));
    touched[static_cast<std::size_t>(values[i])] = true;
  }
  std::vector<UpdatedRange> ranges;
  for (std::size_t row = 0; row < rows; ++row) {
    if (!touched[row]) continue;
    if (row > 0 && touched[row - 1])
      ranges.back().end += cols;
    else
      ranges.push_back({row * cols, (row + 1) * cols});
  }
  return ranges;
}

} // namespace gradweave::graph
