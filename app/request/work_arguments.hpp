// Work as users ask for it: in the words of the command line, which the Python module shares.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::cli {

/// In a batch.
inline constexpr std::uint32_t kMostSamples = 1U << 24U;

/// What cosim, simulate and compile have in common: the work.
struct WorkArguments {
  std::string model = "bert_tiny", npu = "small", schedule = "rearrange", pass = "backward", layers;
  std::uint32_t batch = 0; ///< 0: as the network says
  /// Options of the compiler that were given (compiler::option_forms()), as they were written.
  std::map<std::string_view, std::string> compile = {};
  std::string plan_cache = {};       ///< directory, or off; empty: the usual one
  std::vector<std::string> set = {}; ///< TABLE.FIELD=VALUE each
  std::string convolution = "image"; ///< what convolutions read; or im2col
  std::string until = {};            ///< the op, node or tensor that the network ends with; empty: all of it
};

} // namespace gradweave::cli
