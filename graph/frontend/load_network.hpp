// Networks from files.
#pragma once

#include "graph/frontend/network_settings.hpp"
#include "graph/ir/graph.hpp"
#include "graph/network.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace gradweave::compiler {

/// Reads a network: the layers of a .graph or .onnx (graph/layers.hpp), .toml, a plain GEMM list (.csv, lines
/// name,M,K,N), or a topology of SCALE-Sim (.csv, told by its header); models/README.md and docs/onnx.md have the
/// formats. The first layer has no dX unless its entry says so. Settings are checked as the file's values are. Throws
/// ConfigError naming file, line or node, field, value and remedy, also if one is set that the file does not have.
Network load_network(const std::filesystem::path &file, const NetworkSettings &settings = {});

/// Whether load_graph() reads files of the name: .graph and .onnx.
bool is_graph_file(const std::filesystem::path &file);

/// Reads a whole network: its structure. Throws ConfigError as load_network().
graph::Graph load_graph(const std::filesystem::path &file, const NetworkSettings &settings = {});

/// The same, and the weights that the file has.
graph::Graph load_graph_and_weights(const std::filesystem::path &file, const NetworkSettings &settings = {});

/// Picks layers by a comma-separated list of names, numbers from 0, and ranges a-b (also a..b); empty: all. What is
/// the name of a layer is that layer, be it a number, too. Keeps network order. Throws std::invalid_argument that names
/// the bad item and what exists.
std::vector<Layer> select_layers(const Network &network, const std::string &selection);

} // namespace gradweave::compiler
