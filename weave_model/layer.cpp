#include "weave_model/layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace gradweave::weave_model {
namespace {

std::uint64_t parts_of(std::uint64_t bytes, std::uint64_t most) { return (bytes + most - 1) / most; }

/// Bytes are shared out whole.
void add_parts(Model &model, const Layer &layer, std::uint64_t parts) {
  for (std::uint64_t i = 0; i < parts; ++i)
    model.layers.push_back(
        {layer.seconds / static_cast<double>(parts), layer.bytes / parts + (i < layer.bytes % parts ? 1U : 0U)});
}

} // namespace

double compute_seconds(const Model &model) {
  double seconds = 0;
  for (const Layer &layer : model.layers)
    seconds += layer.seconds;
  return seconds;
}

double fetch_seconds(const Model &model, const Npu &npu) {
  std::uint64_t bytes = 0;
  for (const Layer &layer : model.layers)
    bytes += layer.bytes;
  return npu.fetch_seconds(bytes);
}

Model fitted(const Model &model, const Npu &npu) {
  if (npu.buffer < 2)
    throw std::invalid_argument(fmt::format(
        "a weight buffer of {} bytes has no room for two parts of a layer; let it have at least 2", npu.buffer));
  if (!(npu.bandwidth > 0) || !std::isfinite(npu.bandwidth))
    throw std::invalid_argument(fmt::format("a bandwidth of {} bytes/s; let it be above 0 and finite", npu.bandwidth));
  if (model.layers.empty()) throw std::invalid_argument(fmt::format("model '{}' has no layers", model.name));
  Model parts{model.name, {}};
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Layer &layer = model.layers[i];
    if (!(layer.seconds > 0) || !std::isfinite(layer.seconds))
      throw std::invalid_argument(fmt::format("layer {} of model '{}' computes for {} s; let it be above 0 and finite",
                                              i, model.name, layer.seconds));
    add_parts(parts, layer, layer.bytes <= npu.buffer ? 1 : parts_of(layer.bytes, npu.buffer / 2));
  }
  return parts;
}

Model tiled(const Model &model, const TileLimits &limits) {
  if (limits.bytes == 0 || !(limits.seconds > 0))
    throw std::invalid_argument(
        fmt::format("tiles of {} bytes and {} s; let both be above 0", limits.bytes, limits.seconds));
  Model tiles{model.name, {}};
  for (const Layer &layer : model.layers) {
    const auto by_time = static_cast<std::uint64_t>(std::ceil(layer.seconds / limits.seconds));
    add_parts(tiles, layer, std::max({parts_of(layer.bytes, limits.bytes), by_time, std::uint64_t{1}}));
  }
  return tiles;
}

} // namespace gradweave::weave_model
