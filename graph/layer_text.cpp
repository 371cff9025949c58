#include "graph/layer_text.hpp"

#include <fmt/format.h>

namespace gradweave::compiler {

// Every field is named, so that a new one does not compile until it is decided whether anything depends on it.

namespace {

std::string conv_text(const Convolution &conv) {
  const auto &[batch, height, width, channels, out_channels, kernel_height, kernel_width, stride_height, stride_width,
               pad_top, pad_bottom, pad_left, pad_right, dilation_height, dilation_width, groups] = conv;
  return fmt::format("{},{}x{}x{}>{},kernel {}x{},stride {}x{},pad {}/{}/{}/{},dilation {}x{},groups {}", batch, height,
                     width, channels, out_channels, kernel_height, kernel_width, stride_height, stride_width, pad_top,
                     pad_bottom, pad_left, pad_right, dilation_height, dilation_width, groups);
}

} // namespace

std::string shape_text(const Layer &layer) {
  const auto &[name, m, k, n, dx, index, groups, input, x_of, conv, weights] = layer;
  return fmt::format("{}x{}x{}x{}{}", m, k, n, groups, dx ? "" : ",no dX");
}

// Layers run apart from one another: what they read of each other does not count.
std::string layer_text(const Layer &layer) {
  const auto &[name, m, k, n, dx, index, groups, input, x_of, conv, weights] = layer;
  return fmt::format("{},{},{}", name, shape_text(layer), conv ? conv_text(*conv) : "");
}

} // namespace gradweave::compiler
