// What a caller asks of a network beside its file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gradweave::compiler {

struct NetworkSettings {
  NetworkSettings() = default;
  /// What most callers set, samples in a batch; nothing: as the file says.
  NetworkSettings(std::optional<std::uint32_t> batch) { // NOLINT(google-explicit-constructor)
    if (batch) values.emplace("batch", std::to_string(*batch));
  }
  NetworkSettings(std::uint32_t batch) // NOLINT(google-explicit-constructor)
      : NetworkSettings(std::optional(batch)) {}

  /// Fields with other values than the file's: "batch", another variable of a .graph ("sequence"), a symbolic dimension
  /// of an .onnx file (INPUT.AXIS if it has no name), a key at the top of a .toml, or NAME.KEY of one of its layers.
  /// The value is text, as it would stand in a .toml.
  std::map<std::string, std::string, std::less<>> values;
  /// The op, node or tensor that a .graph or .onnx network ends with; empty: all of it.
  std::string until;
  /// Parameters of a .graph or .onnx that are not learned whatever its reader says, and those that are.
  std::vector<std::string> frozen, learned;
};

} // namespace gradweave::compiler
