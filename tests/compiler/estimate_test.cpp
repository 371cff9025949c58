// The rough estimates of tilings, and what they are not below.
#include "compiler/cost/estimate/estimate.hpp"
#include "compiler/ir/contraction.hpp"
#include "compiler/lower/tiling.hpp"
#include "tests/compiler/image_layer.hpp"
#include "tests/compiler/layer_run.hpp"

namespace gradweave::compiler {
namespace {

Layer strided_convolution() {
  Convolution conv;
  conv.batch = 2;
  conv.height = conv.width = 9;
  conv.channels = 12;
  conv.out_channels = 20;
  conv.kernel_height = conv.kernel_width = 3;
  conv.stride_height = conv.stride_width = 2;
  conv.pad_top = conv.pad_bottom = conv.pad_left = conv.pad_right = 1;
  return image_layer(conv);
}

/// Visits all tiles of sides that are worth trying.
template <typename Visit> void visit_tiles(PhaseKind kind, const Layer &layer, const Machine &npu, Visit visit) {
  for (const std::uint32_t m : sides_along(kind, Dim::kM, layer, npu))
    for (const std::uint32_t k : sides_along(kind, Dim::kK, layer, npu))
      for (const std::uint32_t n : sides_along(kind, Dim::kN, layer, npu))
        visit(TileShape{m, k, n});
}

TEST(Estimate, IsNotBelowTheLeastInAnyOrder) {
  const Machine npu = load_config("test8c2");
  for (const Layer &layer : {make_layer(100, 40, 56), make_layer(7, 300, 9), strided_convolution()})
    for (const PhaseKind kind : {PhaseKind::kForward, PhaseKind::kDx, PhaseKind::kDw, PhaseKind::kInterleave}) {
      std::size_t tight = 0;
      visit_tiles(kind, layer, npu, [&](const TileShape &tile) {
        const double least = least_estimate(kind, tile, layer, npu);
        for (const RoughEstimate &e : rough_estimates(kind, form_of(kind).loops, tile, layer, npu, 1)) {
          EXPECT_GE(e.cycles, least);
          if (e.cycles < 1.2 * least) ++tight;
        }
        const double together = least_estimate_together(kind, tile, layer, npu, Dim::kM, 2);
        for (const RoughEstimate &e : rough_estimates_together(kind, form_of(kind).loops, tile, layer, npu, Dim::kM, 2))
          EXPECT_GE(e.cycles, together);
      });
      EXPECT_GT(tight, 0U) << "a bound that is of use";
    }
}

} // namespace
} // namespace gradweave::compiler
