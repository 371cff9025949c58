#include "compiler/depthwise/weight_layout.hpp"

#include "compiler/depthwise/plans.hpp"
#include "compiler/vector_stream/stage/places.hpp"

#include <algorithm>

namespace gradweave::compiler::depthwise {
namespace {

constexpr std::size_t kWeightAreas = 8; ///< if there are so many, transfers and lanes overlap but at both ends

WeightLayout weight_layout_of(const Convolution &conv, std::size_t channels, std::size_t rows, const NpuConfig &npu) {
  const Axis cols = forward_axis(
      {conv.width, conv.out_width(), conv.kernel_width, conv.stride_width, conv.pad_left, conv.dilation_width});
  const auto stride = static_cast<std::int32_t>(conv.stride_width);
  WeightLayout l;
  l.channels = channels;
  l.rows = rows;
  l.panels = divide_up(channels, npu.lanes());
  l.first_col = floor_div(cols.least, stride);
  l.width = conv.out_width() + static_cast<std::size_t>(floor_div(cols.most, stride) - l.first_col);
  l.height = (rows - 1) * conv.stride_height + std::size_t{conv.kernel_height - 1} * conv.dilation_height + 1;
  PlaceLayout place(npu.lanes());
  for (std::uint32_t p = 0; p < conv.stride_width; ++p)
    l.planes.push_back(place.add(l.width * l.height, channels));
  const std::size_t copies = l.panels == 1 ? std::size_t{conv.kernel_height} : l.panels;
  l.dy = place.add(rows * conv.out_width(), copies * npu.lanes());
  l.result = place.add(channels, std::size_t{conv.kernel_height} * conv.kernel_width, true);
  l.sums = {0, 2, true};
  l.spm_rows = place.rows();
  return l;
}

bool weights_fit(const Convolution &conv, const WeightLayout &l, const NpuConfig &npu) {
  const std::size_t sums = std::size_t{conv.kernel_height} * conv.kernel_width * l.panels;
  const std::size_t longest = std::max({l.width * l.height, l.rows * conv.out_width(), (l.panels + 1) * npu.lanes(),
                                        (conv.kernel_height + 1) * std::size_t{npu.lanes()}, sums});
  return longest <= kMostInField && sums * 2 <= state_rows(npu) && l.spm_rows <= place_rows(npu);
}

} // namespace

std::optional<WeightLayout> choose_weight_layout(const Convolution &conv, const NpuConfig &npu) {
  const std::size_t all = divide_up(conv.channels, npu.lanes());
  for (std::size_t parts = 1; parts <= all; ++parts) {
    const std::size_t channels = std::min<std::size_t>(conv.channels, divide_up(all, parts) * npu.lanes());
    const std::size_t most =
        std::max<std::size_t>(1, divide_up(std::size_t{conv.batch} * conv.out_height(), kWeightAreas));
    for (std::size_t rows = std::min<std::size_t>(most, conv.out_height()); rows > 0; --rows)
      if (WeightLayout layout = weight_layout_of(conv, channels, rows, npu); weights_fit(conv, layout, npu))
        return layout;
  }
  return std::nullopt;
}

} // namespace gradweave::compiler::depthwise
