// How tiles cut the index space of a layer's products.
#pragma once

#include "compiler/ir/grid/grid.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// Indices of a product along a dimension, in a group. Of a layer that reads images M counts the result's pixels (of dW
/// those of Y), K of dX channels, and N of dX the terms of all taps.
std::uint32_t extent_of(const Layer &layer, Tensor result, Dim dim);

/// Ranges of at most `side` indices, ascending, that cut the part of a dimension that the region has: even ones but for
/// the last. Where images are read, along taps what a command can take, and along M the pixels in whole rows of the
/// grid, of `side` lines, phase by phase; `side` then counts for at least the smallest of these.
std::vector<IndexRange> ranges_along(const Layer &layer, Tensor result, Dim dim, std::uint32_t side,
                                     const Region &region);
/// The terms of such a range along N of dX, for products of a pixel: those of the taps that meet its phase.
IndexRange terms_at(const Layer &layer, Tensor result, std::uint32_t pixel, const IndexRange &terms);
/// The size of the first of them, and their number, in the whole layer.
std::uint32_t longest_range(const Layer &layer, Tensor result, Dim dim, std::uint32_t side);
std::uint64_t range_count(const Layer &layer, Tensor result, Dim dim, std::uint32_t side);

/// Sum of f(size) over the ranges of the whole layer; along M of a layer that reads images sizes are lines.
template <typename F> double sum_ranges(const Layer &layer, Tensor result, Dim dim, std::uint32_t side, F f) {
  double sum = 0;
  if (layer.image) {
    for (const IndexRange &range : ranges_along(layer, result, dim, side, whole(layer)))
      sum += static_cast<double>(f(dim == Dim::kM ? lines_of(layer, result, range) : range.size));
    return sum;
  }
  const std::uint32_t extent = extent_of(layer, result, dim), whole = extent / side, rest = extent % side;
  return static_cast<double>(whole) * static_cast<double>(f(side)) + (rest != 0 ? static_cast<double>(f(rest)) : 0.0);
}

} // namespace gradweave::compiler
