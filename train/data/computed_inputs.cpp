#include "train/data/computed_inputs.hpp"

#include "graph/ir/error.hpp"
#include "train/data/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::runtime::train {
namespace {

graph::InputValues values_of(const graph::Graph &forward, const std::vector<Fed> &fed, const std::string &name) {
  const graph::TensorId id = forward.find(name);
  const auto found = std::find_if(fed.begin(), fed.end(), [id](const Fed &f) { return f.input == id; });
  if (found == fed.end()) throw DataError(fmt::format("input '{}' of graph '{}' is given nowhere", name, forward.name));
  return {found->values.real, found->values.index};
}

} // namespace

void add_computed(const graph::Graph &forward, std::vector<Fed> &fed) {
  for (graph::TensorId id = 0; id < forward.tensors.size(); ++id) {
    const graph::Tensor &tensor = forward.tensors[id];
    if (!tensor.function) continue;
    std::vector<graph::InputValues> values;
    for (const std::string &source : tensor.function->sources())
      values.push_back(values_of(forward, fed, source));
    std::vector<const graph::InputValues *> sources;
    for (const graph::InputValues &value : values)
      sources.push_back(&value);
    try {
      graph::InputValues computed = tensor.function->compute(sources);
      Fed &input = fed.emplace_back();
      input.input = id;
      input.values.real = std::move(computed.real);
      input.values.index = std::move(computed.whole);
    } catch (const graph::GraphError &error) {
      throw DataError(error.what());
    }
  }
}

} // namespace gradweave::runtime::train
