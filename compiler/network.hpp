// Network descriptions: a list of layers, each the GEMM Y(M,N) = X(M,K) W(K,N) and its backward products.
#pragma once

#include "sw_models/npu_config.hpp" // ConfigError

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gradweave::compiler {

struct Layer {
  std::string name;
  std::uint32_t m = 0, k = 0, n = 0;
  bool dx = true;          ///< the layer's input gradient is needed
  std::uint32_t index = 0; ///< position in the network, from 0
};

struct Network {
  std::string name;
  std::string description;
  std::vector<Layer> layers;
};

/// Reads a network (.toml, format in models/README.md) or a plain GEMM list (.csv, lines name,M,K,N).
/// The first layer has no dX unless its entry says so. `batch` takes the place of the file's. Throws ConfigError naming
/// file, line, field, value and remedy, also if `batch` is given but no layer of the file depends on one.
Network load_network(const std::filesystem::path &file, std::optional<std::uint32_t> batch = {});

/// Picks layers by a comma-separated list of names, numbers from 0, and ranges a-b (also a..b); empty: all. Keeps
/// network order. Throws std::invalid_argument that names the bad item and what exists.
std::vector<Layer> select_layers(const Network &network, const std::string &selection);

} // namespace gradweave::compiler
