#include "graph/operators/loops/window.hpp"

#include <fmt/format.h>

namespace gradweave::graph {
namespace {

constexpr std::int64_t kMostPixels = 65535;

} // namespace

std::vector<AttributeSpec> stride_and_pad_attributes() {
  return {{"strides", AttributeKind::kIntegers, std::vector<std::int64_t>{1, 1},
           "[rows, columns] from output pixel to output pixel"},
          {"pads", AttributeKind::kIntegers, std::vector<std::int64_t>{0, 0, 0, 0},
           "[top, left, bottom, right] pixels around the image"}};
}

std::vector<std::uint32_t> window_numbers(const Inference &op, std::string_view attribute, std::size_t count,
                                          std::uint32_t least) {
  const std::vector<std::int64_t> &values = op.attributes().integers(attribute);
  std::vector<std::uint32_t> numbers;
  for (const std::int64_t value : values)
    if (value >= least && value <= kMostPixels) numbers.push_back(static_cast<std::uint32_t>(value));
  if (values.size() != count || numbers.size() != count)
    op.fail(fmt::format("attribute '{}' = {} must be {} whole numbers from {} to {}", attribute,
                        to_string(Attribute(values)), count, least, kMostPixels));
  return numbers;
}

void require_image(const Inference &op, std::string_view name, const Shape &shape) {
  if (shape.rank() != 4)
    op.fail(fmt::format("{} is {}; it must be [batch, rows, columns, channels]", name, shape.text()));
}

void require_fit(const Inference &op, const Convolution &v) {
  const std::uint64_t rows = std::uint64_t{v.dilation_height} * (v.kernel_height - 1) + 1;
  const std::uint64_t cols = std::uint64_t{v.dilation_width} * (v.kernel_width - 1) + 1;
  const std::uint64_t height = std::uint64_t{v.height} + v.pad_top + v.pad_bottom;
  const std::uint64_t width = std::uint64_t{v.width} + v.pad_left + v.pad_right;
  if (rows > height || cols > width)
    op.fail(fmt::format("the kernel spans {} x {} pixels and the padded image has {} x {}; pad more, or take a smaller "
                        "kernel or dilation",
                        rows, cols, height, width));
  if (height >> 31U != 0 || width >> 31U != 0 || double(v.batch) * v.out_height() * v.out_width() > double(UINT32_MAX))
    op.fail(fmt::format("the batch of {} has more than 2^32 output pixels; make it smaller", v.batch));
}

void require_result(const Inference &op, const Convolution &window, const Shape &dy) {
  if (dy != result_shape(window))
    op.fail(fmt::format("dy is {}; of an image {} it must be {}", dy.text(), image_shape(window).text(),
                        result_shape(window).text()));
}

Shape image_shape(const Convolution &v) { return {v.batch, v.height, v.width, v.channels}; }
Shape result_shape(const Convolution &v) { return {v.batch, v.out_height(), v.out_width(), v.out_channels}; }

} // namespace gradweave::graph
