// What the network frontends share: limits, error form, checks that hold for every format.
#pragma once

#include "compiler/network.hpp"

#include <string_view>
#include <unordered_map>

namespace gradweave::compiler {

/// Largest M, K or N; larger tensors would not fit any device this compiler knows.
inline constexpr std::int64_t kMaxDimension = std::int64_t{1} << 24;

/// Throws ConfigError "FILE:LINE: message"; line 0 leaves the line out.
[[noreturn]] void fail(const std::filesystem::path &file, std::size_t line, std::string_view message);

/// `value` as a dimension; throws ConfigError unless it is 1 to kMaxDimension.
std::uint32_t checked_dimension(const std::filesystem::path &file, std::size_t line, std::string_view field,
                                std::int64_t value);

/// Collects layers, giving each its index, and refuses empty, unprintable and repeated names.
class LayerList {
public:
  explicit LayerList(const std::filesystem::path &file) : file_(file) {}
  /// Throws ConfigError naming `line` if the name is not acceptable.
  void add(Layer layer, std::size_t line);
  /// The layers; throws ConfigError if there are none.
  std::vector<Layer> take();

private:
  const std::filesystem::path &file_;
  std::vector<Layer> layers_;
  std::unordered_map<std::string, std::size_t> line_of_;
};

/// The whole file; throws ConfigError if it cannot be read.
std::string read_text(const std::filesystem::path &file);

Network load_network_toml(const std::filesystem::path &file, std::optional<std::uint32_t> batch);
Network load_network_csv(const std::filesystem::path &file);

} // namespace gradweave::compiler
