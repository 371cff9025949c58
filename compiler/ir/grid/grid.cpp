#include "compiler/ir/grid/grid.hpp"

#include "compiler/ir/arithmetic.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// Of the only phase.
Phase all_pixels(const Convolution &conv, Tensor result) {
  if (turns_kernel(result)) return {0, 0, 1, conv.width, conv.height, 0};
  return {0, 0, 1, conv.out_width(), conv.out_height(), 0};
}

bool has_phases(const Convolution &conv, Tensor result) { return turns_kernel(result) && conv.stride_width > 1; }

} // namespace

Grid grid_of(const Convolution &conv) {
  return {std::max(count_every(conv.stride_width, 0, conv.width), conv.out_width()),
          std::max(count_every(conv.stride_height, 0, conv.height), conv.out_height())};
}

ImageForm image_form(const Layer &layer) {
  const Convolution &conv = *layer.conv;
  if (!layer.packed) return {conv.width, conv.height, conv.stride_width, conv.channels};
  return {count_every(conv.stride_width, 0, conv.width), count_every(conv.stride_height, 0, conv.height), 1,
          conv.stride_height * conv.stride_width * conv.channels};
}

std::uint32_t grid_rows(const Layer &layer) {
  const Convolution &conv = *layer.conv;
  return keeps_size(conv) ? layer.m / conv.width : conv.batch * grid_of(conv).height;
}

Region whole(const Layer &layer) {
  if (!layer.image) return {0, layer.groups, 0, layer.m, 0, layer.k, 0, layer.n};
  return {0, layer.groups, 0, grid_rows(layer) * grid_of(*layer.conv).width, 0, layer.conv->group_channels(),
          0, layer.n};
}

std::vector<Phase> phases_of(const Layer &layer, Tensor result) {
  const Convolution &conv = *layer.conv;
  if (!has_phases(conv, result)) return {all_pixels(conv, result)};
  std::vector<Phase> phases;
  const std::uint32_t stride = conv.stride_width;
  std::uint32_t first = 0;
  for (std::uint32_t y = 0; y < std::min(stride, conv.height); ++y)
    for (std::uint32_t x = 0; x < std::min(stride, conv.width); ++x) {
      phases.push_back({y, x, stride, count_every(stride, x, conv.width), count_every(stride, y, conv.height), first});
      first += conv.batch * phases.back().width * phases.back().height;
    }
  return phases;
}

Phase phase_of(const Layer &layer, Tensor result, std::uint32_t pixel) {
  if (!has_phases(*layer.conv, result)) return all_pixels(*layer.conv, result);
  const std::vector<Phase> phases = phases_of(layer, result);
  std::size_t at = phases.size();
  while (phases[--at].first > pixel) {
  }
  return phases[at];
}

IndexRange pixels_in(const Layer &layer, const Phase &phase, const IndexRange &rows) {
  const std::uint32_t height = grid_of(*layer.conv).height;
  const auto before = [&](std::uint32_t row) {
    return (row / height * phase.height + std::min(row % height, phase.height)) * phase.width;
  };
  return {phase.first + before(rows.first), before(rows.end()) - before(rows.first)};
}

IndexRange rows_of(const Layer &layer, Tensor result, const IndexRange &pixels) {
  const Phase phase = phase_of(layer, result, pixels.first);
  const std::uint32_t height = grid_of(*layer.conv).height;
  const auto row = [&](std::uint32_t pixel) {
    const std::uint32_t line = (pixel - phase.first) / phase.width;
    return line / phase.height * height + line % phase.height;
  };
  const std::uint32_t first = row(pixels.first);
  return {first, row(pixels.end() - 1) + 1 - first};
}

IndexRange rows_together(const Layer &layer, Tensor result, const std::vector<IndexRange> &pixels) {
  IndexRange all = rows_of(layer, result, pixels.front());
  for (const IndexRange &range : pixels) {
    const IndexRange rows = rows_of(layer, result, range);
    const std::uint32_t end = std::max(all.end(), rows.end());
    all.first = std::min(all.first, rows.first);
    all.size = end - all.first;
  }
  return all;
}

std::uint32_t lines_of(const Layer &layer, Tensor result, const IndexRange &pixels) {
  if (!layer.image || keeps_size(*layer.conv)) return pixels.size;
  const IndexRange rows = rows_of(layer, result, pixels);
  return (rows.size - 1) * grid_of(*layer.conv).width + phase_of(layer, result, pixels.first).width;
}

std::uint32_t row_of(const Layer &layer, Tensor operand, std::uint32_t pixel) {
  const Convolution &conv = *layer.conv;
  const bool image = operand == Tensor::kX;
  const ImageForm form = image ? image_form(layer) : ImageForm{conv.out_width(), conv.out_height()};
  const std::uint32_t row = pixel / form.width;
  return row / form.height * grid_of(conv).height + row % form.height / form.phases;
}

} // namespace gradweave::compiler
