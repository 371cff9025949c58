#include "tests/memory_model/random_iteration.hpp"

#include <algorithm>

namespace gradweave::test {
namespace {

using memory_model::Access;
using memory_model::Iteration;
using memory_model::Step;

std::uint32_t add_tensor(Iteration &iteration, const std::string &name, std::uint64_t bytes, bool in_memory,
                         bool weight, bool to_memory) {
  iteration.tensors.push_back({name, bytes, std::max<std::uint64_t>(1, bytes / 8), in_memory, to_memory, weight});
  return static_cast<std::uint32_t>(iteration.tensors.size() - 1);
}

} // namespace

Iteration random_iteration(std::mt19937 &random, std::uint32_t layers) {
  const auto below = [&random](std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>(0, most)(random);
  };
  Iteration iteration;
  iteration.name = "random";
  struct Layer {
    std::uint32_t x, y, w;
    bool product;
  };
  std::vector<Layer> chain;
  std::vector<std::uint32_t> values{add_tensor(iteration, "x", 64 + below(200), true, false, false)};
  for (std::uint32_t i = 0; i < layers; ++i) {
    const bool product = below(1) == 0;
    Layer layer{values[values.size() - 1 - std::min<std::size_t>(values.size() - 1, below(4) == 0 ? 1 + below(2) : 0)],
                0, memory_model::kNever, product};
    if (product) layer.w = add_tensor(iteration, "w" + std::to_string(i), 16 + below(100), true, true, false);
    layer.y = add_tensor(iteration, "y" + std::to_string(i), 64 + below(200), false, false, false);
    Step step{"layer" + std::to_string(i),
              product ? "Gemm" : "Relu",
              false,
              product,
              100.0 + below(product ? 4000 : 100),
              {}};
    step.accesses = {{layer.x, true, false, 1, product ? 1U : 0U}, {layer.y, false, true, 1, 0}};
    if (product) step.accesses.push_back({layer.w, true, false, 1, 1});
    iteration.steps.push_back(step);
    values.push_back(layer.y);
    chain.push_back(layer);
  }
  std::vector<std::uint32_t> gradients(iteration.tensors.size(), memory_model::kNever);
  gradients[chain.back().y] = add_tensor(iteration, "dy", iteration.tensors[chain.back().y].bytes, true, false, false);
  for (std::uint32_t i = layers; i-- > 0;) {
    const Layer &layer = chain[i];
    if (gradients[layer.y] == memory_model::kNever) continue; // nobody reads it
    Step step = iteration.steps[i];
    step.backward = true;
    step.operations *= 2;
    step.accesses = {{gradients[layer.y], true, false, 1, layer.product ? 2U : 0U}};
    step.accesses.push_back({layer.product ? layer.x : layer.y, true, false, 1, layer.product ? 1U : 0U});
    if (layer.x != 0) {
      const bool more = gradients[layer.x] != memory_model::kNever;
      if (!more) {
        const std::uint32_t dx = add_tensor(iteration, "d" + iteration.tensors[layer.x].name,
                                            iteration.tensors[layer.x].bytes, false, false, false);
        gradients[layer.x] = dx;
      }
      step.accesses.push_back({gradients[layer.x], more, true, 1, 0});
    }
    if (layer.product) {
      step.accesses.push_back({layer.w, true, false, 1, 1});
      step.accesses.push_back({add_tensor(iteration, "d" + iteration.tensors[layer.w].name,
                                          iteration.tensors[layer.w].bytes, false, true, true),
                               false, true, 1, 0});
    }
    iteration.steps.push_back(step);
  }
  return iteration;
}

} // namespace gradweave::test
