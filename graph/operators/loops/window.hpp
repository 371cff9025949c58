// Windows that walk over images: the attributes and checks that convolutions and pooling share.
#pragma once

#include "graph/build/inference.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gradweave::graph {

/// strides [rows, columns] and pads [top, left, bottom, right], as ONNX orders them; pixels. Both may be left out.
std::vector<AttributeSpec> stride_and_pad_attributes();

/// The two, three or four numbers of an attribute, each from `least` to 65,535; fails otherwise.
std::vector<std::uint32_t> window_numbers(const Inference &op, std::string_view attribute, std::size_t count,
                                          std::uint32_t least);

/// Fails unless the tensor has four dimensions: an image.
void require_image(const Inference &op, std::string_view name, const Shape &shape);

/// Fails unless the kernel fits the padded image and a result has at most 2^32 pixels. Needs all but the channels.
void require_fit(const Inference &op, const Convolution &window);

/// Fails unless `dy` is what comes out of the window.
void require_result(const Inference &op, const Convolution &window, const Shape &dy);

Shape image_shape(const Convolution &window);  ///< [batch, height, width, channels]
Shape result_shape(const Convolution &window); ///< [batch, out_height, out_width, out_channels]

/// Along one axis: which pixel an output pixel reads at a tap; none: padding.
inline std::optional<std::size_t> input_at(std::size_t out, std::size_t tap, std::uint32_t stride,
                                           std::uint32_t dilation, std::uint32_t pad, std::uint32_t size) {
  const std::size_t padded = out * stride + tap * dilation;
  if (padded < pad || padded - pad >= size) return std::nullopt;
  return padded - pad;
}

/// Along one axis: which output pixel reads an input pixel at a tap; none: no one does.
inline std::optional<std::size_t> output_at(std::size_t in, std::size_t tap, std::uint32_t stride,
                                            std::uint32_t dilation, std::uint32_t pad, std::uint32_t outputs) {
  const std::size_t padded = in + pad, begin = tap * dilation;
  if (padded < begin || (padded - begin) % stride != 0 || (padded - begin) / stride >= outputs) return std::nullopt;
  return (padded - begin) / stride;
}

/// Along one axis: whether the stride lets a tap meet an input pixel, be it at an output pixel or beyond.
inline bool meets(std::size_t in, std::size_t tap, std::uint32_t stride, std::uint32_t dilation, std::uint32_t pad) {
  return (static_cast<std::int64_t>(in + pad) - static_cast<std::int64_t>(tap * dilation)) % stride == 0;
}

/// The pixel of the image, counted through the batch, that output (image, r, c) reads at tap (kr, kc).
inline std::optional<std::size_t> input_pixel(const Convolution &v, std::size_t image, std::size_t r, std::size_t c,
                                              std::size_t kr, std::size_t kc) {
  const auto row = input_at(r, kr, v.stride_height, v.dilation_height, v.pad_top, v.height);
  const auto col = input_at(c, kc, v.stride_width, v.dilation_width, v.pad_left, v.width);
  if (!row || !col) return std::nullopt;
  return (image * v.height + *row) * v.width + *col;
}

/// The output pixel, counted through the batch, that reads pixel (r, c) of an image at tap (kr, kc).
inline std::optional<std::size_t> output_pixel(const Convolution &v, std::size_t image, std::size_t r, std::size_t c,
                                               std::size_t kr, std::size_t kc) {
  const auto row = output_at(r, kr, v.stride_height, v.dilation_height, v.pad_top, v.out_height());
  const auto col = output_at(c, kc, v.stride_width, v.dilation_width, v.pad_left, v.out_width());
  if (!row || !col) return std::nullopt;
  return (image * v.out_height() + *row) * v.out_width() + *col;
}

} // namespace gradweave::graph
