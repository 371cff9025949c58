// Resolves the network, NPU, layers and pass that cosim and compile share.
#pragma once

#include "compiler/compiler.hpp"
#include "runtime/cli/commands.hpp"

#include <vector>

namespace gradweave::cli {

struct Work {
  compiler::Network network;
  NpuConfig npu;
  std::vector<compiler::Layer> layers;
  compiler::Pass pass = compiler::Pass::kBackward;
};

/// Throws ConfigError for files, std::invalid_argument for the rest.
Work resolve(const WorkArguments &arguments);

} // namespace gradweave::cli
