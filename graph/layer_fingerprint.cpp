#include "graph/layer_fingerprint.hpp"

namespace gradweave::compiler {
namespace {

Fingerprint fingerprint(const Convolution &conv) {
  const auto &[batch, height, width, channels, out_channels, kernel_height, kernel_width, stride_height, stride_width,
               pad_top, pad_bottom, pad_left, pad_right, dilation_height, dilation_width, groups] = conv;
  return Fingerprint().add(batch, height, width, channels, out_channels, kernel_height, kernel_width, stride_height,
                           stride_width, pad_top, pad_bottom, pad_left, pad_right, dilation_height, dilation_width,
                           groups);
}

} // namespace

Fingerprint shape_fingerprint(const Layer &layer) {
  const auto &[name, m, k, n, dx, index, groups, input, x_of, conv, image, packed, vector, fused, weights, y_fp32,
               dx_fp32, blocks, forward_image, products] = layer;
  Fingerprint shape;
  shape.add(m, k, n, groups, dx, y_fp32, dx_fp32, image);
  if (image) shape.add(fingerprint(conv.value()));
  if (image && !blocks) shape.add(blocks);
  if (packed) shape.add(std::string("packed"));
  if (forward_image) shape.add(std::string("forward image"), fingerprint(conv.value()));
  if (products != Products::kAll) shape.add(std::string("products"), products);
  if (vector) shape.add(std::string("vector unit"));
  if (fused) shape.add(std::string("fused"));
  return shape;
}

// What a layer by itself reads of others does not count, but for whose weights it has, from which its data come.
Fingerprint fingerprint(const Layer &layer) {
  const auto &[name, m, k, n, dx, index, groups, input, x_of, conv, image, packed, vector, fused, weights, y_fp32,
               dx_fp32, blocks, forward_image, products] = layer;
  Fingerprint whole;
  whole.add(name, shape_fingerprint(layer), weights, conv.has_value());
  if (conv) whole.add(fingerprint(*conv));
  return whole;
}

} // namespace gradweave::compiler
