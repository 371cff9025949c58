// Network descriptions: a list of layers, each the GEMM Y(M,N) = X(M,K) W(K,N) and its backward products, or several
// such GEMMs of one shape (a grouped convolution).
#pragma once

#include "sw_models/npu_config.hpp" // ConfigError

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gradweave::compiler {

/// A 2-D convolution over images in NHWC order. Its GEMM by im2col has M = batch x out_height x out_width (in this
/// order), K = kernel_height x kernel_width x channels / groups (in this order), N = out_channels / groups.
struct Convolution {
  std::uint32_t batch = 1;
  std::uint32_t height = 0, width = 0;                   ///< of the input image
  std::uint32_t channels = 0, out_channels = 0;          ///< of all groups
  std::uint32_t kernel_height = 1, kernel_width = 1;     ///< taps
  std::uint32_t stride_height = 1, stride_width = 1;     ///< input pixels from output pixel to output pixel
  std::uint32_t pad_top = 0, pad_bottom = 0;             ///< rows of zeros
  std::uint32_t pad_left = 0, pad_right = 0;             ///< columns of zeros
  std::uint32_t dilation_height = 1, dilation_width = 1; ///< input pixels from tap to tap
  std::uint32_t groups = 1;                              ///< channels are cut into this many independent convolutions

  std::uint32_t out_height() const {
    return (height + pad_top + pad_bottom - dilation_height * (kernel_height - 1) - 1) / stride_height + 1;
  }
  std::uint32_t out_width() const {
    return (width + pad_left + pad_right - dilation_width * (kernel_width - 1) - 1) / stride_width + 1;
  }
};

/// A layer of G groups has G independent products of M, K and N. X and dX are M x G K matrices, W and dW G K x N, Y and
/// dY M x G N; group g has the columns from g K and g N on, and the rows of W from g K on.
struct Layer {
  std::string name;
  std::uint32_t m = 0, k = 0, n = 0; ///< of one group
  bool dx = true;                    ///< the layer's input gradient is needed
  std::uint32_t index = 0;           ///< position in the network, from 0
  std::uint32_t groups = 1;          ///< products of this shape
  /// Name of the layer whose Y, through element-wise operations only, is this layer's X; empty: none, or not known.
  std::string input = {};
  std::optional<Convolution> conv = {}; ///< what the layer's matrices were made from by im2col
};

struct Network {
  std::string name;
  std::string description;
  std::vector<Layer> layers;
};

/// Reads a network (.toml, format in models/README.md) or a plain GEMM list (.csv, lines name,M,K,N).
/// The first layer has no dX unless its entry says so. `batch` takes the place of the file's. Throws ConfigError naming
/// file, line, field, value and remedy, also if `batch` is given but no layer of the file depends on one.
Network load_network(const std::filesystem::path &file, std::optional<std::uint32_t> batch = {});

/// Picks layers by a comma-separated list of names, numbers from 0, and ranges a-b (also a..b); empty: all. Keeps
/// network order. Throws std::invalid_argument that names the bad item and what exists.
std::vector<Layer> select_layers(const Network &network, const std::string &selection);

} // namespace gradweave::compiler
