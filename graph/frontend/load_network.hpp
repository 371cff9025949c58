// Networks from files.
#pragma once

#include "graph/ir/graph.hpp"
#include "graph/network.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gradweave::compiler {

/// Reads a network: the layers of a .graph (graph/layers.hpp), .toml, a plain GEMM list (.csv, lines name,M,K,N), or a
/// topology of SCALE-Sim (.csv, told by its header); models/README.md has the formats. The first layer has no dX unless
/// its entry says so. `batch` takes the place of the file's. Throws ConfigError naming file, line, field, value and
/// remedy, also if `batch` is given but no layer of the file depends on one.
Network load_network(const std::filesystem::path &file, std::optional<std::uint32_t> batch = {});

/// Reads a whole network, a .graph; `batch` is its variable of the name. Throws ConfigError as load_network().
graph::Graph load_graph(const std::filesystem::path &file, std::optional<std::uint32_t> batch = {});

/// Picks layers by a comma-separated list of names, numbers from 0, and ranges a-b (also a..b); empty: all. Keeps
/// network order. Throws std::invalid_argument that names the bad item and what exists.
std::vector<Layer> select_layers(const Network &network, const std::string &selection);

} // namespace gradweave::compiler
