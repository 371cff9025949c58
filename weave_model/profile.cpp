#include "weave_model/profile.hpp"

namespace gradweave::weave_model {
namespace {

std::uint64_t blocks_along(std::uint64_t whole, std::uint64_t part) { return (whole + part - 1) / part; }

} // namespace

double layer_seconds(const compiler::Layer &layer, const Arrays &arrays) {
  const bool results = arrays.stationary == Stationary::kResults;
  const std::uint64_t held =
      blocks_along(results ? layer.m : layer.k, arrays.rows) * blocks_along(layer.n, arrays.cols);
  const std::uint64_t cycles = layer.groups * held * (results ? layer.k : layer.m);
  return static_cast<double>(blocks_along(cycles, arrays.count)) / arrays.hertz;
}

Model profile_of(const compiler::Network &network, const Arrays &arrays) {
  Model model{network.name, {}};
  for (const compiler::Layer &layer : network.layers)
    model.layers.push_back(
        {layer_seconds(layer, arrays), std::uint64_t{layer.groups} * layer.k * layer.n * arrays.element_bytes});
  return model;
}

} // namespace gradweave::weave_model
