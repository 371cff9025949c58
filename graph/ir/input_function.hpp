// Inputs that nobody feeds, because they follow from others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::graph {

/// Elements of a tensor, of the type that it has.
struct InputValues {
  std::vector<float> real = {};
  std::vector<std::int32_t> whole = {};
};

/// What a network computes of its inputs before any of its operators runs: masks, positions and columns of ids, on the
/// host.
class InputFunction {
public:
  InputFunction() = default;
  InputFunction(const InputFunction &) = delete;
  InputFunction &operator=(const InputFunction &) = delete;
  virtual ~InputFunction() = default;

  /// Names of the inputs that it takes.
  virtual const std::vector<std::string> &sources() const = 0;
  /// The values of the input for those of sources(), both in the orders of their tensors. Throws GraphError that names
  /// the node of the file for what it cannot take.
  virtual InputValues compute(const std::vector<const InputValues *> &values) const = 0;
};

} // namespace gradweave::graph
