// What of an ONNX file's network is asked for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gradweave::graph::onnx {

struct ImportOptions {
  std::optional<std::uint32_t> batch = {}; ///< the symbolic first dimension of the inputs; 1 if it is not given
  /// Other symbolic dimensions, by their symbols, or as "INPUT.AXIS" where they have none; and the values of inputs
  /// that are a single whole number.
  std::map<std::string, std::int64_t, std::less<>> dims = {};
  std::string until = {}; ///< a node, or a value: the graph ends there; empty: with its outputs
  /// Initializers that are not learned, whoever reads them; those that are.
  std::vector<std::string> frozen = {}, learned = {};
  bool values = true; ///< whether parameters get their values (Tensor::origin)
};

} // namespace gradweave::graph::onnx
