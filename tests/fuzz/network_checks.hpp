// What holds of every network that a frontend accepts.
#pragma once

#include "graph/frontend/load_network.hpp"
#include "graph/frontend/network_file.hpp"
#include "tests/fuzz/fuzz_target.hpp"

#include <algorithm>
#include <string>

namespace gradweave::fuzz {

inline void require_sound(const compiler::Network &network) {
  using compiler::kMaxDimension;
  require(!network.layers.empty(), "a network without layers was accepted");
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const compiler::Layer &layer = network.layers[i];
    require(layer.index == i && !layer.name.empty(), "a layer without name or with a wrong index");
    require(layer.m >= 1 && layer.m <= kMaxDimension, "M out of range");
    require(layer.groups >= 1 && layer.k >= 1 && std::uint64_t{layer.groups} * layer.k <= kMaxDimension,
            "K out of range");
    require(layer.n >= 1 && std::uint64_t{layer.groups} * layer.n <= kMaxDimension, "N out of range");
    if (!layer.conv) continue;
    require(layer.conv->m() == layer.m && layer.conv->k() == layer.k && layer.conv->n() == layer.n,
            "a convolution that is not its product");
  }
  const std::string all = "0-" + std::to_string(network.layers.size() - 1);
  const bool is_a_name = std::any_of(network.layers.begin(), network.layers.end(),
                                     [&](const compiler::Layer &layer) { return layer.name == all; });
  require(compiler::select_layers(network, all).size() == (is_a_name ? 1 : network.layers.size()),
          "the range of all layers does not select them, or a layer's name not that layer");
  compiler::count_parameters(network);
}

/// Parses `text` with and without a batch given by the user.
template <typename Parse> void parse_network(const Parse &parse, std::string_view text, const char *file) {
  for (const std::optional<std::uint32_t> batch : {std::optional<std::uint32_t>(), std::optional<std::uint32_t>(3)}) {
    try {
      require_sound(parse(text, file, batch));
    } catch (const ConfigError &rejection) {
      require_place(rejection, file);
    }
  }
}

} // namespace gradweave::fuzz
