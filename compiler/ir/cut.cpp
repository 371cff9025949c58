#include "compiler/ir/cut.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/image.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// Whether the indices of a product of a layer that reads images run over taps.
bool over_taps(Tensor result, Dim dim) { return turns_kernel(result) ? dim == Dim::kN : dim == Dim::kK; }

/// Rows of the grid, few enough for a tile to have the rows that taps reach besides.
std::uint32_t whole_rows(const Layer &layer, std::uint32_t side) {
  const std::uint32_t width = line_width(layer);
  const std::uint32_t most = kMaxTileSide / width - (layer.conv->kernel_height - 1) * layer.conv->dilation_height;
  return std::clamp(side / width, 1U, most);
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
  if (layer.image && turns_kernel(result)) {
    if (dim == Dim::kM && !keeps_size(*layer.conv)) return layer.conv->batch * layer.conv->height * layer.conv->width;
    if (dim != Dim::kM) return dim == Dim::kK ? kernel_channels(layer) : layer.n * taps_of(layer);
  }
  return dim == Dim::kM ? layer.m : dim == Dim::kK ? layer.k : layer.n;
}

namespace {

/// The part of a dimension of a product that a region has; of M of a layer that reads images its lines.
IndexRange within(const Region &region, const Layer &layer, Tensor result, Dim dim) {
  if (layer.image && over_taps(result, dim)) return {0, extent_of(layer, result, dim)};
  if (dim == Dim::kM) return {region.m, region.m_end - region.m};
  return dim == Dim::kK ? IndexRange{region.k, region.k_end - region.k} : IndexRange{region.n, region.n_end - region.n};
}

/// The result's pixels in a region, in as many rows of the grid at a time: the phases of some rows before those of the
/// next, so that they find the same rows of the image.
std::vector<IndexRange> pixel_ranges(const Layer &layer, Tensor result, std::uint32_t side, const IndexRange &lines) {
  const std::uint32_t width = line_width(layer);
  const std::vector<Phase> phases = phases_of(layer, result);
  std::vector<IndexRange> ranges;
  for (const IndexRange &rows : even({lines.first / width, lines.size / width}, whole_rows(layer, side)))
    for (const Phase &phase : phases)
      if (const IndexRange pixels = pixels_in(layer, phase, rows); pixels.size > 0) ranges.push_back(pixels);
  return ranges;
}

} // namespace

std::vector<IndexRange> ranges_along(const Layer &layer, Tensor result, Dim dim, std::uint32_t side,
                                     const Region &region) {
  const IndexRange all = within(region, layer, result, dim);
  if (layer.image && dim == Dim::kM) return pixel_ranges(layer, result, side, all);
  if (!layer.image || !over_taps(result, dim)) return even(all, side);
  const std::uint32_t channels = tap_channels(layer, result);
  if (splits_phases(layer, result))
    side = takes_blocks(layer, side, channels) ? side : all.size; // a phase has all its taps
  if (!takes_one_tap(result)) return cut_taps(layer, all, channels, side);
  // A command computes one tap of dW.
  std::vector<IndexRange> ranges;
  for (std::uint32_t tap = 0; tap < taps_of(layer); ++tap)
    for (const IndexRange &part : even({tap * channels + region.k, region.k_end - region.k}, std::min(side, channels)))
      ranges.push_back(part);
  return ranges;
}

IndexRange terms_at(const Layer &layer, Tensor result, std::uint32_t pixel, const IndexRange &terms) {
  if (!splits_phases(layer, result)) return terms;
  const std::uint32_t met = taps_met(layer, phase_of(layer, result, pixel)), all = taps_of(layer);
  return {terms.first / all * met, terms.size / all * met};
}

namespace {

/// Of pixel_ranges(), without the others.
IndexRange first_pixels(const Layer &layer, Tensor result, std::uint32_t side, const IndexRange &lines) {
  const std::uint32_t width = line_width(layer), rows = whole_rows(layer, side);
  const IndexRange all{lines.first / width, lines.size / width};
  const std::vector<Phase> phases = phases_of(layer, result);
  for (std::uint32_t at = all.first; at < all.end(); at += rows)
    for (const Phase &phase : phases)
      if (const IndexRange pixels = pixels_in(layer, phase, {at, std::min(rows, all.end() - at)}); pixels.size > 0)
        return pixels;
  return {};
}

/// Ranges of the whole layer of which all but the last of each run are of `step`; none if they are not so even.
struct EvenRuns {
  std::uint32_t runs = 0, run = 0, step = 0;
};

EvenRuns even_runs(const Layer &layer, Tensor result, Dim dim, std::uint32_t side) {
  if (!layer.image) return {1, extent_of(layer, result, dim), side};
  if (dim == Dim::kM) return {};
  const Region all = whole(layer);
  if (!over_taps(result, dim)) return {1, within(all, layer, result, dim).size, side};
  if (!takes_one_tap(result)) return {};
  return {taps_of(layer), all.k_end - all.k, std::min(side, tap_channels(layer, result))};
}

} // namespace

std::uint32_t longest_range(const Layer &layer, Tensor result, Dim dim, std::uint32_t side) {
  if (const EvenRuns even = even_runs(layer, result, dim, side); even.runs != 0) return std::min(even.run, even.step);
  if (dim == Dim::kM) return first_pixels(layer, result, side, within(whole(layer), layer, result, dim)).size;
  return ranges_along(layer, result, dim, side, whole(layer)).front().size;
}

std::uint64_t range_count(const Layer &layer, Tensor result, Dim dim, std::uint32_t side) {
  if (const EvenRuns even = even_runs(layer, result, dim, side); even.runs != 0)
    return even.runs * divide_up(even.run, even.step);
  return ranges_along(layer, result, dim, side, whole(layer)).size();
}

} // namespace gradweave::compiler
