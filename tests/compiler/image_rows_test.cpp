// Rows of an image that come and go one by one: a bottleneck of a 1 x 1, a 3 x 3 and a 1 x 1 convolution whose maps
// between them are never in the scratchpad as a whole.
#include "compiler/back/compile_plan.hpp"
#include "compiler/ir/contraction.hpp"
#include "compiler/ir/grid/grid.hpp"
#include "compiler/ir/image.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/schedule/step/step_search.hpp"
#include "compiler/spm/residency.hpp"
#include "compiler/verify/verify.hpp"
#include "tests/compiler/bottleneck.hpp"
#include "tests/compiler/step_run.hpp"
#include "tests/support/cases.hpp"

namespace gradweave::compiler {
namespace {

TEST(ImageRows, MapsAreNeverWhole) {
  Bottleneck net("test8", 60);
  const std::uint32_t map = spm_rows(net.conv.m(), net.conv.channels, false, net.npu.lanes());
  ASSERT_GT(map, net.npu.spm_rows()) << "the map would fit";
  const Compiled step = net.compile();
  EXPECT_EQ(bytes_of_y(step, 0), 0U);
  EXPECT_EQ(bytes_of_y(step, 1), 0U);
  expect_golden(step, net.npu, 1);
  net.cut(1, {net.conv.width, 9 * 12, 10});
  EXPECT_FALSE(allocate(net.plans, net.layers, net.layout(), net.npu)) << "three rows a tile make one tile of all";
}

/// Whatever the others' tiles, on several cores, several images, and where taps are two rows apart.
TEST(ImageRows, AreGolden) {
  std::uint64_t stayed = 0;
  for (std::uint64_t seed = 1; seed <= test::cases(60); ++seed) {
    const char *npus[] = {"test8", "test6x10", "test8c2", "test8c4"};
    const Bottleneck net = random_bottleneck(npus[seed % 4], seed);
    SCOPED_TRACE(fmt::format("seed {} on {}", seed, npus[seed % 4]));
    if (!allocate(net.plans, net.layers, net.layout(), net.npu)) continue;
    const Compiled step = net.compile();
    stayed += bytes_of_y(step, 0) == 0 ? 1 : 0;
    expect_golden(step, net.npu, seed);
  }
  EXPECT_GT(stayed, test::cases(60) / 6);
}

/// Parts of a tile leave the rows around it as they are: of what was there before, the check of the plan thinks
/// nothing.
TEST(ImageRows, LieWhereOtherTilesWere) {
  using Case = std::pair<const char *, std::uint64_t>;
  for (const auto &[npu, seed] : {Case{"test8", 61}, Case{"test8", 85}, Case{"test8c2", 19}, Case{"test8c2", 63},
                                  Case{"test8c4", 57}, Case{"test8c4", 197}}) {
    const Bottleneck net = random_bottleneck(npu, seed);
    SCOPED_TRACE(fmt::format("seed {} on {}", seed, npu));
    ASSERT_TRUE(allocate(net.plans, net.layers, net.layout(), net.npu));
    ASSERT_NO_FATAL_FAILURE(expect_golden(net.compile(), net.npu, seed));
  }
}

/// On several cores the search of a step finds strips, as of a bottleneck of ResNet-50: neither map is ever in memory.
TEST(ImageRows, StepsAreSearchedInStrips) {
  Bottleneck net("flexer5", 20);
  net.conv.width = 56;
  net.conv.channels = net.conv.out_channels = 64;
  net.make(256, 256);
  StepOptions options;
  options.pass = Pass::kForward;
  options.layer_plans = 12;
  options.step_plans = 30;
  const SearchedStep found = search_step(net.layers, net.npu, options);
  const Compiled step = compile_plans(net.layers, Pass::kForward, found.plans, net.npu);
  EXPECT_EQ(bytes_of_y(step, 0), 0U);
  EXPECT_EQ(bytes_of_y(step, 1), 0U);
  EXPECT_LT(found.cost, found.apart_cost);
  std::uint64_t bytes = 0;
  for (const LayerTraffic &layer : step.traffic)
    for (const Traffic &t : layer)
      bytes += t.read_bytes + t.write_bytes;
  EXPECT_GE(found.apart_bytes, bytes + 4 * 2 * net.conv.m() * net.conv.channels) << "each map stored and loaded";
}

/// A command that begins in another row, or moves to another, is found, whichever row of the kernel it is of.
TEST(ImageRows, VerifyStreamSeesWhereACommandBegins) {
  const Bottleneck net("test8", 6);
  const Compiled whole = net.compile();
  ASSERT_EQ(verify_stream(whole, net.npu), "");
  std::size_t elsewhere = 0, seen = 0;
  for (std::size_t i = 0; i < whole.stream.size(); ++i) {
    const isa::Decoded d = *isa::decode(whole.stream[i]);
    const auto *conv = std::get_if<isa::ConvCommand>(&d.op);
    if (conv == nullptr) continue;
    EXPECT_EQ(conv->image.taps_y, 1U);
    elsewhere += conv->image.off_y == 0 && conv->image.grid_y * net.conv.width != whole.info[i].row ? 1 : 0;
    const std::function<void(isa::ConvCommand &)> changes[] = {
        [](auto &c) { c.image.grid_y = (c.image.grid_y + 1) % c.image.grid_h; }, [](auto &c) { ++c.image.off_y; },
        [](auto &c) { --c.image.off_y; }, [](auto &c) { ++c.product.a.row; }, [](auto &c) { c.product.a.rot ^= 1U; }};
    for (std::size_t change = 0; change < std::size(changes); ++change) {
      const bool padding = conv->image.off_y != 0;
      if (padding && change > 2) continue; // nothing of it is read
      isa::Decoded damaged = d;
      changes[change](std::get<isa::ConvCommand>(damaged.op));
      Compiled broken = whole;
      broken.stream[i] = isa::encode(damaged);
      EXPECT_NE(verify_stream(broken, net.npu), "") << "command " << i << ", change " << change;
      ++seen;
    }
  }
  EXPECT_EQ(elsewhere, 2U * (6 - 1)) << "the rows above and below, where there are any";
  EXPECT_GT(seen, 50U);
}

/// The row that is read, against the definition of the convolution; and that its tile has rows for every move.
TEST(ImageRows, AProductOfOneRowReadsOne) {
  for (const std::uint32_t dilation : {1U, 2U}) {
    const Bottleneck net("test8", 7, dilation, 2);
    const Layer &layer = net.layers[1];
    std::uint32_t products = 0;
    for (const TileProduct &p : net.plans[1].products) {
      ASSERT_TRUE(reads_one_row(layer, p));
      const std::uint32_t row = p.m / net.conv.width, image = row / net.conv.height;
      const std::int64_t move = (std::int64_t{p.k / p.k_size} - 1) * dilation, at = row % net.conv.height + move;
      const IndexRange read = row_read(layer, p);
      EXPECT_EQ(read.size, net.conv.width);
      const bool inside = at >= 0 && at < net.conv.height;
      const std::int64_t nearest = std::clamp<std::int64_t>(at, 0, net.conv.height - 1);
      EXPECT_EQ(read.first, (image * net.conv.height + nearest) * net.conv.width);
      EXPECT_EQ(row_moves(layer, p).rows.first, image * grid_of(net.conv).height + nearest)
          << "or it begins before its tile";
      const GemmRoles r = roles(p, layer);
      EXPECT_EQ(r.a_rect.row, read.first);
      EXPECT_EQ(r.a_rect.rows, read.size);
      const Guard guard = guard_of(layer, p, r.a_rect);
      if (inside) {
        EXPECT_LE(guard.before + guard.behind, 2 * (dilation + 1U)) << "beside the row";
      } else {
        EXPECT_GE(std::max(guard.before, guard.behind), dilation) << "in padding";
      }
      ++products;
    }
    EXPECT_EQ(products, 3U * 2 * 7);
  }
}

} // namespace
} // namespace gradweave::compiler
