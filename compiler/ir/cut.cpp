#include "compiler/ir/cut.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/image.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// Whether the indices of a product of a layer that reads images run over taps.
bool over_taps(Tensor result, Dim dim) { return turns_kernel(result) ? dim == Dim::kN : dim == Dim::kK; }

/// Whole rows of the image, few enough for a tile to have the rows that taps reach besides.
std::uint32_t whole_lines(const Layer &layer, std::uint32_t side) {
  const std::uint32_t width = line_width(layer);
  const std::uint32_t most = kMaxTileSide / width - (layer.conv->kernel_height - 1) * layer.conv->dilation_height;
  return std::clamp(side / width, 1U, most) * width;
}

std::vector<IndexRange> even(const IndexRange &all, std::uint32_t side) {
  std::vector<IndexRange> ranges;
  ranges.reserve(static_cast<std::size_t>(divide_up(all.size, side)));
  for (std::uint32_t at = all.first; at < all.end(); at += side)
    ranges.push_back({at, std::min(side, all.end() - at)});
  return ranges;
}

} // namespace

std::uint32_t extent_of(const Layer &layer, Tensor result, Dim dim) {
  if (layer.image && turns_kernel(result) && dim != Dim::kM)
    return dim == Dim::kK ? kernel_channels(layer) : layer.n * taps_of(layer);
  return dim == Dim::kM ? layer.m : dim == Dim::kK ? layer.k : layer.n;
}

namespace {

/// The part of a dimension of a product that a region has.
IndexRange within(const Region &region, const Layer &layer, Tensor result, Dim dim) {
  if (dim == Dim::kM) return {region.m, region.m_end - region.m};
  if (layer.image && over_taps(result, dim)) return {0, extent_of(layer, result, dim)};
  return dim == Dim::kK ? IndexRange{region.k, region.k_end - region.k} : IndexRange{region.n, region.n_end - region.n};
}

} // namespace

std::vector<IndexRange> ranges_along(const Layer &layer, Tensor result, Dim dim, std::uint32_t side,
                                     const Region &region) {
  const IndexRange all = within(region, layer, result, dim);
  if (layer.image && dim == Dim::kM) return even(all, whole_lines(layer, side));
  if (!layer.image || !over_taps(result, dim)) return even(all, side);
  const std::uint32_t channels = tap_channels(layer, result);
  if (!takes_one_tap(result)) return cut_taps(layer, all, channels, side);
  // A command computes one tap of dW.
  std::vector<IndexRange> ranges;
  for (std::uint32_t tap = 0; tap < taps_of(layer); ++tap)
    for (const IndexRange &part : even({tap * channels + region.k, region.k_end - region.k}, std::min(side, channels)))
      ranges.push_back(part);
  return ranges;
}

std::uint32_t longest_range(const Layer &layer, Tensor result, Dim dim, std::uint32_t side) {
  if (!layer.image) return std::min(side, extent_of(layer, result, dim));
  return ranges_along(layer, result, dim, side, whole(layer)).front().size;
}

std::uint64_t range_count(const Layer &layer, Tensor result, Dim dim, std::uint32_t side) {
  if (!layer.image) return divide_up(extent_of(layer, result, dim), side);
  return ranges_along(layer, result, dim, side, whole(layer)).size();
}

} // namespace gradweave::compiler
