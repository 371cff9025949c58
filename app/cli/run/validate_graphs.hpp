// gradweave validate --graphs
#pragma once

#include "app/cli/common/arguments.hpp"
#include "base/process/process_pool.hpp"

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace gradweave::cli {

struct ValidateGraphsArguments {
  std::uint64_t count = 0; ///< 0: not asked for
  std::uint32_t ops = 8, shrink = 4;
  std::string backend = "functional", keep;
};

void add_graph_options(CLI::App &command, ValidateGraphsArguments &a);

/// What other modes of validate have, too.
struct ValidateCommon {
  std::string program, npu, json; ///< NPU empty: drawn
  std::uint64_t seed = 1;
  unsigned jobs = 1;
  bool quiet = false;
};

/// Random graphs on an NPU against the golden execution. Returns the exit code.
int validate_graphs(const ValidateGraphsArguments &a, const ValidateCommon &common, const SignalGuard &signals);

} // namespace gradweave::cli
