// Networks from files.
#pragma once

#include "graph/ir/graph.hpp"
#include "graph/network.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gradweave::compiler {

/// What a caller asks of a network beside its file.
struct NetworkOptions {
  std::optional<std::uint32_t> batch = {}; ///< in the place of the file's
  /// Of a .graph its variables, of an ONNX file its symbolic dimensions.
  std::map<std::string, std::int64_t, std::less<>> dims = {};
  std::string until = {}; ///< of both: the op, node or tensor that the graph ends with; empty: all of it
};

/// Reads a network: the layers of a .graph or .onnx (graph/layers.hpp), .toml, a plain GEMM list (.csv, lines
/// name,M,K,N), or a topology of SCALE-Sim (.csv, told by its header); models/README.md and docs/onnx.md have the
/// formats. The first layer has no dX unless its entry says so. Throws ConfigError naming file, line or node, field,
/// value and remedy, also if a batch is given but no layer of the file depends on one, or `dims` or `until` of a list
/// of layers.
Network load_network(const std::filesystem::path &file, const NetworkOptions &options);
Network load_network(const std::filesystem::path &file, std::optional<std::uint32_t> batch = {});

/// Whether load_graph() reads files of the name: .graph and .onnx.
bool is_graph_file(const std::filesystem::path &file);

/// Reads a whole network, with the weights that the file has. Throws ConfigError as load_network().
graph::Graph load_graph(const std::filesystem::path &file, const NetworkOptions &options);
graph::Graph load_graph(const std::filesystem::path &file, std::optional<std::uint32_t> batch = {});

/// Picks layers by a comma-separated list of names, numbers from 0, and ranges a-b (also a..b); empty: all. Keeps
/// network order. Throws std::invalid_argument that names the bad item and what exists.
std::vector<Layer> select_layers(const Network &network, const std::string &selection);

} // namespace gradweave::compiler
