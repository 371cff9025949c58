// What layers move in tiles: nests of loops against walks over all tiles, rows against their accesses, and what holds
// of every estimate.
#include "memory_model/tiles/step.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <stdexcept>
#include <string>

namespace gradweave::memory_model {
namespace {

constexpr unsigned kTileSeed = 20261125;

gradweave::Machine small_machine() {
  gradweave::Machine npu;
  npu.name = "npu";
  npu.rows = 10;
  npu.cols = 6;
  npu.spm_bytes = 1 << 16;
  npu.spm_banks = 4;
  npu.bus_bytes = 16;
  npu.port_bytes = 16;
  npu.memory.latency_cycles = 20;
  npu.memory.access_bytes = 16;
  npu.memory.bytes_num = 8;
  return npu;
}

compiler::Layer layer_of(std::uint32_t m, std::uint32_t k, std::uint32_t n, std::uint32_t groups = 1) {
  compiler::Layer layer;
  layer.name = "layer";
  layer.m = m;
  layer.k = k;
  layer.n = n;
  layer.groups = groups;
  return layer;
}

/// 3 x 3 over images of so many pixels a side.
compiler::Layer image_of(std::uint32_t batch, std::uint32_t side, std::uint32_t channels, std::uint32_t n) {
  compiler::Layer layer = layer_of(batch * side * side, 9 * channels, n);
  Convolution conv;
  conv.batch = batch;
  conv.height = conv.width = side;
  conv.channels = channels;
  conv.out_channels = n;
  conv.kernel_height = conv.kernel_width = 3;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = 1;
  layer.conv = conv;
  layer.image = true;
  return layer;
}

compiler::Layer random_layer(std::mt19937 &random) {
  const auto below = [&random](std::uint32_t most) {
    return std::uniform_int_distribution<std::uint32_t>(1, most)(random);
  };
  if (below(3) == 1) return image_of(below(3), 4 + below(12), 8 * below(6), below(60));
  compiler::Layer layer = layer_of(below(300), below(300), below(300), below(4) == 1 ? below(5) : 1);
  layer.dx = below(4) != 1;
  return layer;
}

template <typename Test> void for_random_layers(int rounds, Test test) {
  std::mt19937 random(kTileSeed);
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE("seed " + std::to_string(kTileSeed) + " round " + std::to_string(round));
    test(random_layer(random));
    if (::testing::Test::HasFatalFailure()) return;
  }
}

/// A tensor of one line a tile and a byte a row, and the product whose loops have these trips.
struct Walked {
  Product product;
  CutTensor tensor;

  Walked(std::array<double, kDims> trips, Dim row, Dim col, bool is_sum, std::uint32_t taps) {
    for (std::size_t dim = 0; dim < kDims; ++dim)
      product.trips[dim] = {trips[dim] * (dim == kK ? taps : 1)};
    tensor.row = row;
    tensor.col = col;
    tensor.is_sum = is_sum;
    tensor.taps = taps;
    tensor.rows = {{trips[row], 1, trips[row]}};
    CutTensor::Cols cols;
    cols.once = is_sum ? Moves{0, trips[col], 0, 0} : Moves{trips[col], 0, 0, 0};
    cols.again = is_sum ? Moves{trips[col], trips[col], 0, 0} : cols.once;
    cols.panels = 1;
    cols.trips = trips[col];
    tensor.cols = {cols};
  }
};

/// Tiles that come and go if only the one at work is there, of all loops one by one; taps count within K, slowest.
double walked(const Walked &w, std::array<double, kDims> trips, const LoopOrder &loops) {
  double moved = 0;
  long long last = -1;
  std::map<long long, bool> begun;
  std::array<int, kDims> at{};
  const auto count = [&](std::size_t depth) {
    return static_cast<int>(trips[loops[depth]]) * (loops[depth] == kK ? static_cast<int>(w.tensor.taps) : 1);
  };
  for (at[0] = 0; at[0] < count(0); ++at[0])
    for (at[1] = 0; at[1] < count(1); ++at[1])
      for (at[2] = 0; at[2] < count(2); ++at[2]) {
        std::array<int, kDims> index{};
        for (std::size_t depth = 0; depth < kDims; ++depth)
          index[loops[depth]] = at[depth] % static_cast<int>(trips[loops[depth]]);
        const long long tile = 1000LL * index[w.tensor.row] + index[w.tensor.col];
        if (tile == last) continue;
        last = tile;
        // A sum that is begun comes back, and was put aside before; each is written at the end.
        const bool again = begun[tile];
        begun[tile] = true;
        moved += w.tensor.is_sum ? (again ? 2 : 1) : 1;
      }
  return moved;
}

constexpr std::array<LoopOrder, 6> kOrders{
    {{kM, kK, kN}, {kM, kN, kK}, {kK, kM, kN}, {kK, kN, kM}, {kN, kM, kK}, {kN, kK, kM}}};

TEST(Tiles, NestsMoveWhatAWalkOverAllTilesMoves) {
  std::mt19937 random(kTileSeed);
  const auto draw = [&random] { return static_cast<double>(std::uniform_int_distribution<int>(2, 5)(random)); };
  for (int round = 0; round < 40; ++round) {
    const std::array<double, kDims> trips{draw(), draw(), draw()};
    for (const auto &[row, col] : {std::make_pair(kM, kK), std::make_pair(kK, kN), std::make_pair(kM, kN)})
      for (const bool is_sum : {false, true})
        for (const LoopOrder &loops : kOrders) {
          const bool image = row == kM && col == kK && !is_sum && round % 2 == 0;
          const Walked w(trips, row, col, is_sum, image ? 3 : 1);
          std::vector<Stream> streams;
          add_streams(streams, w.tensor, w.product, loops, {});
          double moved = 0, kept = 0;
          for (const Stream &s : streams) {
            moved += s.once.bytes() + s.again.bytes();
            kept = std::max(kept, s.kept);
          }
          ASSERT_EQ(moved, walked(w, trips, loops)) << "seed " << kTileSeed << " round " << round;
          ASSERT_LE(kept + 1, trips[row] * trips[col]);
          // With room for all nothing moves twice; with room for the tile at work all of that does.
          std::vector<Stream> roomy = streams, tight = streams;
          EXPECT_EQ(reside(roomy, 1000).moves.bytes(), streams.front().once.bytes());
          EXPECT_EQ(reside(tight, 1).moves.bytes(), moved);
          EXPECT_FALSE(reside(streams, 0.5).fits);
        }
  }
}

/// Whole tensors, row by row, group by group.
TEST(Tiles, RowsTakeTheAccessesThatHoldThem) {
  const gradweave::Machine npu = small_machine();
  for_random_layers(200, [&](const compiler::Layer &layer) {
    if (layer.image) return;
    const double access = npu.memory.access_bytes;
    const auto row = [&](std::uint32_t group, std::uint32_t cols, std::uint32_t element) {
      const std::uint32_t first = group * cols * element, end = first + cols * element;
      return (std::ceil(end / access) - std::floor(first / access)) * access;
    };
    double x = 0, y = 0;
    for (std::uint32_t g = 0; g < layer.groups; ++g) {
      x += layer.m * row(g, layer.k, 2);
      y += layer.m * row(g, layer.n, 2);
    }
    const double w = layer.groups * layer.k * row(0, layer.n, 2), dw = layer.groups * layer.k * row(0, layer.n, 4);
    const StepEstimate step = estimate_step({layer}, BackOrder::kByShape, npu, Calibration(), Rung::kAccesses);
    ASSERT_EQ(step.layers[0][0].moves.bytes(), x + w + y);
    ASSERT_EQ(step.layers[0][0].moves.written_bytes, y);
    ASSERT_EQ(step.layers[0][1].moves.bytes(), x + y + dw + (layer.dx ? w + x : 0));
    ASSERT_EQ(step.layers[0][1].moves.written_bytes, dw + (layer.dx ? x : 0));
  });
}

TEST(Tiles, TapsReadTheLinesAroundATile) {
  const gradweave::Machine npu = small_machine();
  const compiler::Layer layer = image_of(1, 8, 16, 12);
  const Sides sides = sides_of(layer, Way::kForward, npu);
  const Product y = product_of(layer, Result::kY, sides, npu);
  for (std::size_t i = 0; i < sides[kM].size(); ++i) {
    const double rows = sides[kM][i].terms / 8.0;
    EXPECT_EQ(y.shared.rows[i].moved, 64 * std::min(8.0, rows + 2) / rows) << rows;
    EXPECT_EQ(y.sum.rows[i].moved, 64);
  }
  // The kernel of dX: of one tap a product's channels, of several all of them.
  const Sides back = sides_of(layer, Way::kBackward, npu);
  const Product dx = product_of(layer, Result::kDX, back, npu);
  for (std::size_t i = 0; i < back[kN].size(); ++i)
    EXPECT_EQ(dx.other.cols[i].all, back[kN][i].terms > back[kN][i].cols ? 16 : 0);
}

TEST(Tiles, RungsOnlyAdd) {
  const gradweave::Machine npu = small_machine();
  for_random_layers(60, [&](const compiler::Layer &layer) {
    for (const BackOrder order : {BackOrder::kByShape, BackOrder::kFastest}) {
      double cycles = 0, bytes = 0;
      for (const Rung rung : kRungs) {
        const StepEstimate step = estimate_step({layer}, order, npu, {}, rung);
        ASSERT_GE(step.cycles, cycles * (1 - 1e-9)) << to_string(rung);
        ASSERT_GE(step.bytes, bytes * (1 - 1e-9)) << to_string(rung);
        cycles = step.cycles;
        bytes = step.bytes;
      }
      const StepEstimate best = estimate_step({layer}, BackOrder::kFastest, npu);
      ASSERT_LE(best.cycles, estimate_step({layer}, order, npu).cycles);
    }
  });
}

TEST(Tiles, MoreRoomOrBandwidthIsNoSlower) {
  for_random_layers(60, [&](const compiler::Layer &layer) {
    gradweave::Machine npu = small_machine();
    npu.spm_bytes = 1 << 15;
    double before = INFINITY;
    for (int doubled = 0; doubled < 8; ++doubled, npu.spm_bytes *= 2) {
      const double cycles = estimate_step({layer}, BackOrder::kByShape, npu).cycles;
      ASSERT_LE(cycles, before) << npu.spm_bytes;
      before = cycles;
    }
    gradweave::Machine wide = npu;
    wide.memory.bytes_num *= 4;
    ASSERT_LE(estimate_step({layer}, BackOrder::kByShape, wide).cycles, before);
  });
}

/// All in the scratchpad: each tensor once, whatever the order.
TEST(Tiles, WhatFitsMovesOnce) {
  gradweave::Machine npu = small_machine();
  npu.spm_bytes = 1 << 26;
  for_random_layers(60, [&](const compiler::Layer &layer) {
    const double once = estimate_step({layer}, BackOrder::kByShape, npu, {}, Rung::kAccesses).bytes;
    const StepEstimate step = estimate_step({layer}, BackOrder::kByShape, npu);
    ASSERT_GE(step.bytes, once);
    ASSERT_LE(step.bytes, 1.35 * once); // parts of rows that begin or end within accesses
    ASSERT_GE(step.cycles,
              once * static_cast<double>(npu.memory.bytes_den) / static_cast<double>(npu.memory.bytes_num));
  });
}

TEST(Tiles, LayersOfAShapeAreAlike) {
  const gradweave::Machine npu = small_machine();
  const compiler::Layer one = layer_of(100, 50, 70);
  const double alone = estimate_step({one}, BackOrder::kByShape, npu).cycles;
  EXPECT_DOUBLE_EQ(estimate_step({one, one, one}, BackOrder::kByShape, npu).cycles, 3 * alone);
}

TEST(Tiles, NamesALayerThatDoesNotFit) {
  gradweave::Machine npu = small_machine();
  npu.spm_bytes = 160;
  npu.spm_banks = 1;
  try {
    estimate_step({layer_of(100, 100, 100)}, BackOrder::kByShape, npu);
    FAIL() << "fits";
  } catch (const std::invalid_argument &error) {
    EXPECT_NE(std::string(error.what()).find("'layer'"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("'npu'"), std::string::npos);
  }
}

TEST(Tiles, ComputingAndMovingOverlapBySharesThatAreGiven) {
  const gradweave::Machine npu = small_machine();
  const Calibration c{0.1, 0.2};
  EXPECT_DOUBLE_EQ(pass_cycles(1000, 400, 1, npu, c), 1000 + 40 + 40);
  EXPECT_DOUBLE_EQ(pass_cycles(400, 1000, 0.5, npu, c), 1000 + 80 + 40);
}

} // namespace
} // namespace gradweave::memory_model
