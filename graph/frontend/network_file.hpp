// What the network frontends share: limits, error form, checks that hold for every format.
#pragma once

#include "graph/frontend/network_settings.hpp"
#include "graph/network.hpp"
#include "sw_models/config/config_error.hpp"

#include <filesystem>
#include <optional>
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

/// Throws ConfigError if all groups together are wider than kMaxDimension.
void check_grouped_size(const Layer &layer, const std::filesystem::path &file, std::size_t line);

/// Makes `layer` the product that im2col makes of `conv`, whose fields are in range each for itself. Throws ConfigError
/// if they do not fit together, or the product is too large.
void set_convolution(Layer &layer, const Convolution &conv, const std::filesystem::path &file, std::size_t line);

/// Collects layers, giving each its index, and refuses empty, unprintable and repeated names, and references to other
/// layers that cannot be.
class LayerList {
public:
  explicit LayerList(const std::filesystem::path &file) : file_(file) {}
  /// Throws ConfigError naming `line` if the layer's name, input, x_of or weights are not acceptable.
  void add(Layer layer, std::size_t line);
  /// The layers; throws ConfigError if there are none.
  std::vector<Layer> take();

private:
  struct Place {
    std::size_t line, index;
  };
  const Layer &earlier(const std::string &name, std::string_view field, std::size_t line) const;
  void check_input(const Layer &layer, std::size_t line) const;
  void check_x_of(const Layer &layer, std::size_t line) const;
  void check_weights(const Layer &layer, std::size_t line) const;

  const std::filesystem::path &file_;
  std::vector<Layer> layers_;
  std::unordered_map<std::string, Place> places_;
};

/// The network that `text`, the contents of `file`, describes. Throws ConfigError as load_network().
Network parse_network_toml(std::string_view text, const std::filesystem::path &file, const NetworkSettings &settings);
/// The same for a plain list or a topology of SCALE-Sim; only the latter has a field to be set, batch, 1 if it is not.
Network parse_network_csv(std::string_view text, const std::filesystem::path &file, const NetworkSettings &settings);

} // namespace gradweave::compiler
