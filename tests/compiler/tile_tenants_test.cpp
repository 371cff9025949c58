// Images of a batch that lie in one place of the scratchpad by turns, between the layers that compute and read them.
#include "compiler/schedule/step/step_search.hpp"
#include "compiler/spm/residency.hpp"
#include "compiler/verify/verify.hpp"
#include "tests/compiler/bottleneck.hpp"
#include "tests/compiler/step_run.hpp"
#include "tests/support/cases.hpp"

namespace gradweave::compiler {
namespace {

TEST(TileTenants, NoImageReachesMemory) {
  const Images images;
  EXPECT_GE(images.most_tenants(), 2U);
  const Compiled step = images.compile();
  EXPECT_EQ(bytes_of_y(step, 0), 0U);
  EXPECT_EQ(bytes_of_y(step, 1), 0U);
  expect_golden(step, images.npu, 1);
}

TEST(TileTenants, ThoseWithRoomForTwoHaveTheirOwnPlaces) {
  Images images("test8", 2);
  images.npu.spm_bytes *= 2;
  images.in_bands(2, 2, 1); // anywhere in it
  EXPECT_EQ(images.most_tenants(), 1U);
  EXPECT_EQ(bytes_of_y(images.compile(), 0), 0U);
}

/// All images are computed before one of them is read.
TEST(TileTenants, NoneComesBeforeThePlaceIsFree) {
  Images images;
  images.plans[1].woven = false;
  EXPECT_EQ(images.most_tenants(), 1U);
  EXPECT_GT(bytes_of_y(images.compile(), 0), 0U);
}

/// The first rows of an image may come once those of the one before it have been read, and no sooner.
TEST(TileTenants, NoneComesWhileItsRowsAreRead) {
  const Images images("test8", 2);
  const Layout layout = images.layout();
  const std::size_t bands = images.conv.height / 2, all = 2 * bands;
  const auto tenants = [&](std::size_t read) { // bands of the first image before one of the second is computed
    const std::vector<Slice> order{{0, 0, bands, 0, true},          {1, 0, read, 0, false},
                                   {0, bands, bands + 1, 0, false}, {1, read, bands, 0, false},
                                   {0, bands + 1, all, 0, false},   {1, bands, all, 0, false},
                                   {2, 0, 2 * all, 0, false}};
    const TileWalk walk(images.plans, images.layers, layout, images.npu, order);
    std::uint32_t most = 0;
    for (const Tile &t : walk.table().tiles)
      most = std::max(most, t.tenants);
    return most;
  };
  EXPECT_EQ(tenants(0), 1U);
  EXPECT_EQ(tenants(1), 1U) << "the second band reads a row of the first";
  EXPECT_EQ(tenants(2), 2U);
  EXPECT_EQ(tenants(bands - 1), 2U);
  EXPECT_EQ(tenants(bands), 1U) << "it needs the place no more";
}

/// A layer behind the others finds the images in memory.
TEST(TileTenants, LaterRunsLoadThem) {
  Images images;
  std::vector<Layer> layers = images.layers;
  layers.push_back(make_layer(images.conv.m(), 8, 7));
  layers.back().input = layers.front().name;
  images.take(std::move(layers));
  images.CutLayers::cut(3, {images.conv.width, 8, 7}, Sharing::kTurns);
  EXPECT_GE(images.most_tenants(), 2U);
  const Compiled step = images.compile();
  const Traffic &y = step.traffic[0][static_cast<std::size_t>(Tensor::kY)];
  const std::uint64_t once = std::uint64_t{images.conv.m()} * 8 * 2;
  EXPECT_GE(y.write_bytes, once);
  EXPECT_LT(y.write_bytes, 2 * once);
  EXPECT_EQ(y.read_bytes, y.write_bytes);
  expect_golden(step, images.npu, 2);
}

/// They need not have all of an image at once.
TEST(TileTenants, LaterRunsReadBandsOfTheirOwn) {
  Images images;
  images.layers.push_back(images.layers[1]);
  images.layers[3].name = "l3";
  images.layers[3].index = 3;
  images.CutLayers::cut(3, {images.conv.width, 72, 8}, Sharing::kTurns).takes_parts = false;
  const Layout layout = images.layout();
  const TileWalk walk(images.plans, images.layers, layout, images.npu);
  std::uint32_t loaded = 0;
  for (const Tile &t : walk.table().tiles)
    if (t.binding == layout.place(0, Tensor::kY) && !t.computed) {
      ++loaded;
      EXPECT_LE(t.rect.rows, 3 * images.conv.width) << "a row and its halo";
    }
  EXPECT_EQ(loaded, images.conv.batch * images.conv.height);
  EXPECT_GE(images.most_tenants(), 2U);
  expect_golden(images.compile(), images.npu, 3);
}

/// ResNet-50's conv2_2: two of its images take more than the scratchpad.
struct Conv2 {
  Machine npu = load_config("small");
  std::vector<Layer> layers;

  Conv2() {
    Convolution conv;
    conv.batch = 4;
    conv.height = conv.width = 56;
    conv.channels = conv.out_channels = 64;
    conv.kernel_height = conv.kernel_width = 3;
    conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = 1;
    CutLayers names("small");
    names.take({make_layer(conv.m(), 256, 64, false), image_layer(conv), make_layer(conv.m(), 64, 256)});
    layers = names.layers;
    layers[1].input = layers[0].name;
    layers[2].input = layers[1].name;
  }
  SearchedStep search(Pass pass) const {
    StepOptions options;
    options.pass = pass;
    options.layer_plans = 12;
    options.step_plans = 20;
    return search_step(layers, npu, options);
  }
};

TEST(TileTenants, StepsKeepLargeImages) {
  const Conv2 net;
  const SearchedStep found = net.search(Pass::kForward);
  const Compiled step = compile_plans(net.layers, Pass::kForward, found.plans, net.npu);
  EXPECT_EQ(bytes_of_y(step, 0), 0U);
  EXPECT_EQ(bytes_of_y(step, 1), 0U);
  EXPECT_LT(found.cost, 740'000U) << "more than 850,000 where images go through memory";
}

/// dX of the last layer is read as it comes, by a phase for dX alone: dW's sums would not fit beside an image.
TEST(TileTenants, StepsKeepLargeGradients) {
  Conv2 net;
  net.layers.erase(net.layers.begin());
  net.layers[0].input.clear();
  net.layers[0].index = 0;
  net.layers[1].index = 1;
  const SearchedStep found = net.search(Pass::kBackward);
  EXPECT_LT(found.cost, 1'160'000U) << "more than 1,220,000 where gradients go through memory";
}

/// Bits do not depend on what is cut how, on one or several cores, stored or not.
TEST(TileTenants, AreGolden) {
  std::uint64_t shared = 0, compiled = 0;
  for (std::uint64_t seed = 1; seed <= test::cases(24); ++seed) {
    const char *npus[] = {"test8", "test6x10", "test8c2", "test8c4"};
    const Images images = random_images(npus[seed % 4], seed);
    SCOPED_TRACE(fmt::format("seed {} on {}", seed, npus[seed % 4]));
    if (!allocate(images.plans, images.layers, images.layout(), images.npu)) continue;
    ++compiled;
    shared += images.most_tenants() > 1 ? 1 : 0;
    expect_golden(images.compile(), images.npu, seed);
  }
  EXPECT_GT(shared, test::cases(24) / 6) << "of " << compiled;
}

/// The verifier of programs sees an image that comes to lie in rows that are still to be read, or elsewhere.
TEST(TileTenants, VerifyProgramSeesWhatLiesWhere) {
  const Images images;
  const std::uint32_t second = images.conv.height * images.conv.width;
  const auto problem = [&](std::uint32_t layer, std::uint32_t row, bool result, std::int32_t by) {
    Program program = *allocate(images.plans, images.layers, images.layout(), images.npu);
    const auto changed = std::find_if(program.actions.begin(), program.actions.end(), [&](const Action &a) {
      return a.computes() && a.layer == layer && a.row >= row;
    });
    Spot &spot = result ? changed->place : changed->in.a;
    spot.row = static_cast<std::uint32_t>(static_cast<std::int32_t>(spot.row) + by);
    return verify_program(program, images.layout(), images.npu);
  };
  for (const std::uint32_t row : {0U, second, 2 * second}) {
    EXPECT_EQ(problem(0, row, true, 0), "");
    EXPECT_NE(problem(0, row, true, 2), "");
    EXPECT_NE(problem(0, row, true, 40), "");
    EXPECT_NE(problem(1, row + 10, false, 2), "");
    EXPECT_NE(problem(1, row + 10, false, -2), "");
  }
}

} // namespace
} // namespace gradweave::compiler
