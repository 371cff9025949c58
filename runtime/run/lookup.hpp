// Finds network descriptions and NPU configurations by name or path.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace gradweave::runtime {

/// The directory that holds models/ and configs/: $GRADWEAVE_HOME, else that of the running program's own tree
/// (own_tree.hpp). Throws ConfigError with the remedy if there is none.
std::filesystem::path home_directory();

/// Whether the name is that of a file of a network: it ends in .graph, .onnx, .toml or .csv.
bool is_network_file(const std::string &file);
/// Whether a network or an NPU is given by path: the text contains '/' or is_network_file().
bool is_path(const std::string &text);

/// A path as it is, else models/NAME.graph, .toml or .csv of the home directory.
/// Throws ConfigError listing what exists.
std::filesystem::path find_model(const std::string &name_or_path);
/// The same for configs/NAME.toml.
std::filesystem::path find_npu(const std::string &name_or_path);

/// The same for configs/systems/NAME.toml.
std::filesystem::path find_system(const std::string &name_or_path);

/// Built-in names, sorted.
std::vector<std::string> model_names();
std::vector<std::string> npu_names();

} // namespace gradweave::runtime
