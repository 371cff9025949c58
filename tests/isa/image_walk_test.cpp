// Taps of an image stay in range: tap_span() against each tap of each walk that fields can hold along an axis, and what
// the check of a command lets through against each row that its taps read.
#include "isa/command.hpp"
#include "isa/image_walk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace gradweave::isa {
namespace {

constexpr std::uint32_t kMostTaps = 15;

/// The largest and the smallest shift, tap by tap.
RowSpan span_by_taps(const ImageWalk &image) {
  RowSpan span{tap_shift(image, 0, 0), tap_shift(image, 0, 0)};
  for (std::uint32_t row = 0; row < image.taps_y; ++row)
    for (std::uint32_t col = 0; col < image.taps_x; ++col) {
      span.lo = std::min(span.lo, tap_shift(image, row, col));
      span.hi = std::max(span.hi, tap_shift(image, row, col));
    }
  return span;
}

/// The fields of a walk along one axis.
struct AxisFields {
  std::int32_t ImageWalk::*off, ImageWalk::*step;
  std::uint32_t ImageWalk::*taps;
};

/// Walks along one axis, on a grid so wide, whose taps tap_span() does not bound exactly.
std::uint64_t wrong_spans(const AxisFields &axis, std::uint32_t grid_w) {
  std::uint64_t wrong = 0;
  ImageWalk image;
  image.grid_w = grid_w;
  for (image.stride = 1; image.stride <= 3; ++image.stride)
    for (image.*axis.off = -128; image.*axis.off < 128; ++(image.*axis.off))
      for (image.*axis.step = -128; image.*axis.step < 128; ++(image.*axis.step)) {
        RowSpan seen;
        for (image.*axis.taps = 1; image.*axis.taps <= kMostTaps; ++(image.*axis.taps)) {
          const std::int64_t last = tap_shift(image, image.taps_y - 1, image.taps_x - 1);
          seen =
              image.*axis.taps == 1 ? RowSpan{last, last} : RowSpan{std::min(seen.lo, last), std::max(seen.hi, last)};
          const RowSpan span = tap_span(image);
          if (span.lo != seen.lo || span.hi != seen.hi) ++wrong;
        }
      }
  return wrong;
}

TEST(ImageWalk, SpansEveryColumnOfTapsExactly) {
  EXPECT_EQ(0u, wrong_spans({&ImageWalk::off_y, &ImageWalk::step_y, &ImageWalk::taps_y}, 2047));
}

TEST(ImageWalk, SpansEveryRowOfTapsExactly) {
  EXPECT_EQ(0u, wrong_spans({&ImageWalk::off_x, &ImageWalk::step_x, &ImageWalk::taps_x}, ImageWalk().grid_w));
}

/// A CONV or WGRAD with any fields; sizes are mostly small, so that some pass the check.
ConvCommand any_command(std::mt19937 &random, const Limits &limits) {
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  const auto pixels = [&] {
    return below(2) == 0 ? static_cast<std::int32_t>(below(9)) - 4 : static_cast<std::int32_t>(below(256)) - 128;
  };
  ConvCommand v;
  v.weights = below(4) == 0;
  v.product.a_col = !v.weights;
  v.product.m = 1 + below(64);
  v.product.n = 1;
  v.product.k = 1 + below(64);
  v.product.a = {below(limits.spm_rows), 64 + below(512), 0};
  ImageWalk &image = v.image;
  image.grid_w = 1 + below(below(2) == 0 ? 64 : 2047);
  image.grid_h = 1 + below(100);
  image.stride = v.weights ? 1 : 1 + below(3);
  image.plane = v.weights ? 0 : below(below(2) == 0 ? 64 : 4096);
  image.packed = !v.weights && below(4) == 0;
  image.taps_y = v.weights ? 1 : 1 + below(kMostTaps);
  image.taps_x = v.weights ? 1 : 1 + below(kMostTaps);
  image.off_y = pixels();
  image.off_x = pixels();
  image.step_y = v.weights ? 0 : pixels();
  image.step_x = v.weights ? 0 : pixels();
  return v;
}

TEST(ImageWalk, WhatTheCheckLetsThroughReadsRowsOfTheScratchpadOnly) {
  Limits limits;
  limits.lanes = 8;
  limits.spm_rows = 8192;
  std::mt19937 random(1);
  std::uint32_t passed = 0, refused = 0, refused_inside = 0;
  for (int i = 0; i < 200'000; ++i) {
    const ConvCommand v = any_command(random, limits);
    Decoded decoded;
    decoded.op = v;
    const RowSpan span = span_by_taps(v.image);
    const std::uint32_t rows = v.weights ? v.product.k : v.product.m, cols = v.weights ? v.product.m : v.product.k;
    const std::int64_t first = v.product.a.row + span.lo;
    const std::int64_t last =
        v.product.a.row + span.hi + std::int64_t{(cols - 1) / limits.lanes} * v.product.a.pstride + rows - 1;
    const bool inside = first >= 0 && last < std::int64_t{limits.spm_rows};
    const ErrorCode error = check_command(encode(decoded), limits);
    ASSERT_TRUE(error == ErrorCode::NONE || error == ErrorCode::SPM_RANGE) << "command " << i;
    if (error == ErrorCode::NONE) {
      ASSERT_TRUE(inside) << "command " << i << " reads rows " << first << " to " << last;
      ++passed;
    } else {
      ++refused;
      // Only phase planes that no tap of these meets, or not at its farthest, may be counted too.
      if (inside) {
        ASSERT_TRUE(v.image.stride > 1 && !v.image.packed && v.image.plane > 0) << "command " << i;
        ++refused_inside;
      }
    }
  }
  EXPECT_GT(passed, 20'000u);
  EXPECT_GT(refused, 20'000u);
  EXPECT_GT(refused_inside, 100u);
}

} // namespace
} // namespace gradweave::isa
