#include "graph/operators/pool/pool.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph {

std::vector<AttributeSpec> pool_attributes() {
  std::vector<AttributeSpec> all = stride_and_pad_attributes();
  all.push_back({"kernel_shape", AttributeKind::kIntegers, {}, "[rows, columns] of a window"});
  return all;
}

Convolution pool_window(const Attributes &a, const Shape &image) {
  const auto at = [&a](std::string_view name, std::size_t i) {
    return static_cast<std::uint32_t>(a.integers(name)[i]);
  };
  Convolution v;
  v.batch = image[0], v.height = image[1], v.width = image[2], v.channels = image[3];
  v.out_channels = v.groups = v.channels;
  v.kernel_height = at("kernel_shape", 0), v.kernel_width = at("kernel_shape", 1);
  v.stride_height = at("strides", 0), v.stride_width = at("strides", 1);
  v.pad_top = at("pads", 0), v.pad_left = at("pads", 1);
  v.pad_bottom = at("pads", 2), v.pad_right = at("pads", 3);
  return v;
}

Convolution checked_pool_window(const Inference &op, const Shape &image) {
  const std::vector<std::uint32_t> kernel = window_numbers(op, "kernel_shape", 2, 1);
  window_numbers(op, "strides", 2, 1);
  const std::vector<std::uint32_t> pads = window_numbers(op, "pads", 4, 0);
  require_image(op, "x", image);
  for (std::size_t side = 0; side < 4; ++side)
    if (pads[side] >= kernel[side % 2])
      op.fail(fmt::format("attribute 'pads' = {} must be below 'kernel_shape' = {}, or a window lies in padding "
                          "altogether",
                          to_string(Attribute(op.attributes().integers("pads"))),
                          to_string(Attribute(op.attributes().integers("kernel_shape")))));
  const Convolution window = pool_window(op.attributes(), image);
  require_fit(op, window);
  return window;
}

void infer_pool(Inference &op) { op.set(0, result_shape(checked_pool_window(op, op.shape(0)))); }

double pool_operations(const OpView &op) {
  const std::vector<std::int64_t> &kernel = op.op.attributes.integers("kernel_shape");
  const std::size_t elements = std::min(op.input(0).shape.elements(), op.output(0).shape.elements());
  return static_cast<double>(elements) * static_cast<double>(kernel[0]) * static_cast<double>(kernel[1]);
}

} // namespace gradweave::graph
