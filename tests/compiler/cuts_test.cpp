// Schedule `search` on several cores: which cut it takes, with which order.
#include "compiler/lower/partition.hpp"
#include "tests/compiler/image_layer.hpp"
#include "tests/compiler/layer_run.hpp"

#include <algorithm>
#include <optional>

namespace gradweave::compiler {
namespace {

constexpr std::array kOrders{Schedule::kSequential, Schedule::kInterleave, Schedule::kDxMajor, Schedule::kDwMajor};

std::vector<CutKind> all_cuts() {
  std::vector<CutKind> cuts = other_cuts(Pass::kBackward, true);
  cuts.push_back(kFirstCut);
  return cuts;
}

CompileOptions options_of(Schedule order, std::uint64_t plans) {
  CompileOptions options{order, Pass::kBackward};
  options.plans = plans;
  options.stream = false;
  return options;
}

/// Nothing if nothing fits.
std::optional<Compiled> compile_cut(const Layer &layer, const Machine &npu, CompileOptions options,
                                    const CutKind &cut) {
  options.partition = cut.partition;
  options.reduction = cut.reduction;
  options.sharing = cut.sharing;
  try {
    return compile_known(layer, npu, options);
  } catch (const CompileError &) {
    return std::nullopt;
  }
}

TEST(SearchOfCuts, NoOtherOrderIsFasterWithTheCutThatIsChosen) {
  const Machine npu = load_config("test8c4");
  for (const Layer &layer : {make_layer(8, 100, 100), make_layer(16, 64, 64), make_layer(64, 30, 100)}) {
    const Compiled best = compile_known(layer, npu, options_of(Schedule::kSearch, 8));
    std::size_t found = 0;
    for (const CutKind &cut : all_cuts()) {
      const auto same = compile_cut(layer, npu, options_of(best.chosen, 8), cut);
      if (!same || same->tilings != best.tilings) continue;
      ++found;
      for (const Schedule order : kOrders)
        if (const auto other = compile_cut(layer, npu, options_of(order, 8), cut))
          EXPECT_LE(best.predicted_cycles, other->predicted_cycles) << layer.name << ' ' << to_string(order);
    }
    EXPECT_GT(found, 0U) << layer.name;
  }
}

/// Parts along K make a core's channels few, and all its taps' sums of dW many.
TEST(SearchOfCuts, ACutInWhichNothingFitsIsLeftOut) {
  Convolution conv;
  conv.height = conv.width = 8;
  conv.channels = conv.out_channels = 16;
  conv.kernel_height = conv.kernel_width = 3;
  const Layer layer = image_layer(conv);
  Machine npu = load_config("test8c4");
  const auto fits = [&](const CutKind &cut) {
    return compile_cut(layer, npu, options_of(Schedule::kSequential, 1), cut).has_value();
  };
  const CompileOptions searched = options_of(Schedule::kSearch, 1);
  const std::vector<CutKind> cuts = all_cuts();
  npu.spm_bytes = 2048;
  EXPECT_TRUE(std::any_of(cuts.begin(), cuts.end(), fits));
  EXPECT_FALSE(std::all_of(cuts.begin(), cuts.end(), fits));
  EXPECT_NO_THROW(compile_known(layer, npu, searched));
  npu.spm_bytes = 1024;
  EXPECT_TRUE(std::none_of(cuts.begin(), cuts.end(), fits));
  EXPECT_THROW(compile_known(layer, npu, searched), CompileError);
}

} // namespace
} // namespace gradweave::compiler
