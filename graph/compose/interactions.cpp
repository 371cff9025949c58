#include "graph/compose/interactions.hpp"

#include <fmt/format.h>

namespace gradweave::graph {

TensorId add_interactions(Builder &build, TensorId x, const std::string &name) {
  const Shape shape = build.shape(x);
  if (shape.rank() != 3 || shape[1] < 2)
    build.fail(fmt::format("'{}' is {}; interactions are those of [batch, two features or more, d]",
                           build.tensor(x).name, shape.text()));
  const std::int64_t features = shape[1];
  const TensorId all = build.add("MatMul", {x, x}, {{"trans_b", std::int64_t{1}}}, name + ".all");
  const TensorId flat =
      build.add("Reshape", {all}, {{"shape", std::vector<std::int64_t>{0, features * features}}}, name + ".flat");
  std::vector<double> below;
  for (std::int64_t row = 1; row < features; ++row)
    for (std::int64_t col = 0; col < row; ++col)
      below.push_back(static_cast<double>(row * features + col));
  const Shape pairs{static_cast<std::uint32_t>(below.size())};
  const TensorId indices = build.constant(name + ".pairs", pairs, std::move(below), ElementType::kInt32);
  return build.add("Gather", {flat, indices}, {{"axis", std::int64_t{1}}}, name);
}

} // namespace gradweave::graph
