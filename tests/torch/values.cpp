#include "tests/torch/values.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace gradweave::graph {
namespace {

/// What an int32 tensor's elements have to be below.
std::int32_t limit_of(const Graph &graph, TensorId id) {
  std::int32_t limit = 1000;
  for (const Op &op : graph.ops)
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      if (op.inputs[i] != id) continue;
      const Shape &x = graph.tensors[op.inputs[0]].shape;
      if (op.type->name == "Gather") {
        const std::int64_t axis = op.attributes.integer("axis");
        const auto at = static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(x.rank()) : axis);
        limit = std::min(limit, static_cast<std::int32_t>(x[at]));
      } else if (op.type->name == "SoftmaxCrossEntropy")
        limit = std::min(limit, static_cast<std::int32_t>(x.cols()));
      else if (op.type->name == "Where")
        limit = std::min(limit, 2);
    }
  return limit;
}

/// Of a normal distribution around `mean`.
struct Spread {
  double mean = 0, deviation = 1;
};

Spread spread_of(const Tensor &tensor) {
  if (tensor.role == Role::kState) return {tensor.initial == "ones" ? 1.0 : 0.0, 0};
  if (tensor.role != Role::kParameter) return {};
  if (tensor.initial == "ones") return {1, 0.1};
  if (tensor.shape.rank() < 2) return {0, 0.1};
  // A product of as many terms as there are rows to a column keeps its operands' size.
  const std::size_t groups = tensor.shape.rank() == 5 ? tensor.shape[0] : 1;
  return {0, std::sqrt(2.0 / (static_cast<double>(tensor.shape.elements()) / groups / tensor.shape.cols()))};
}

} // namespace

template <class A> void set_values(Execution<A> &run, const Graph &graph, std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    const Tensor &tensor = graph.tensors[id];
    if (tensor.computed() || tensor.role == Role::kConstant) continue;
    const std::size_t elements = tensor.shape.elements();
    if (!is_real(tensor.type)) {
      std::uniform_int_distribution<std::int32_t> index(0, limit_of(graph, id) - 1);
      std::vector<std::int32_t> values(elements);
      std::generate(values.begin(), values.end(), [&] { return index(dice); });
      run.set_index(id, std::move(values));
      continue;
    }
    const Spread spread = spread_of(tensor);
    std::normal_distribution<double> normal;
    std::vector<typename A::Value> values(elements);
    for (auto &value : values)
      value = static_cast<float>(spread.mean + spread.deviation * normal(dice)); // what both arithmetics have
    run.set(id, std::move(values));
  }
}

template void set_values(Execution<Contract> &, const Graph &, std::uint64_t);
template void set_values(Execution<Reference> &, const Graph &, std::uint64_t);

} // namespace gradweave::graph
