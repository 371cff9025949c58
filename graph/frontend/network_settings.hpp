// Fields of a network that are to have other values than its file says.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace gradweave::compiler {

/// By field: "batch", another variable of a .graph ("sequence"), a key at the top of a .toml, or NAME.KEY of one of its
/// layers. The value is text, as it would stand in a .toml.
struct NetworkSettings {
  NetworkSettings() = default;
  /// What most callers set, samples in a batch; nothing: as the file says.
  NetworkSettings(std::optional<std::uint32_t> batch) { // NOLINT(google-explicit-constructor)
    if (batch) values.emplace("batch", std::to_string(*batch));
  }
  NetworkSettings(std::uint32_t batch) // NOLINT(google-explicit-constructor)
      : NetworkSettings(std::optional(batch)) {}

  std::map<std::string, std::string, std::less<>> values;
};

} // namespace gradweave::compiler
