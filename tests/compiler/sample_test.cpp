// Long layers are searched on a sample. What it costs, over all shapes of the nine networks on both NPUs.
#include "compiler/lower/partition.hpp"
#include "compiler/search/refine.hpp"
#include "graph/frontend/load_network.hpp"
#include "tests/compiler/layer_run.hpp"

#include <set>
#include <tuple>

namespace gradweave::compiler {
namespace {

using Shape = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, bool>;

/// Cycles of all of the layer under the plan that a search of `searched`, the layer or its sample, finds.
std::uint64_t cycles(const Layer &layer, const Layer &searched, Pass pass, const Machine &npu) {
  constexpr std::uint64_t kPlans = 24;
  const Layout part = make_layout({searched}, pass, npu), whole = make_layout({layer}, pass, npu);
  Refinement refinement(search(searched, Schedule::kSequential, pass, {}, part, npu, effort_of(kPlans)), searched, part,
                        npu);
  refinement.run(kPlans);
  return fastest_for(layer, searched, refinement.kept(), whole, npu).cycles;
}

class Sample : public testing::TestWithParam<std::tuple<std::string, std::string, std::uint32_t>> {};

TEST_P(Sample, FindsPlansAsGoodAsTheWholeLayer) {
  const auto &[model, name, batch] = GetParam();
  const Machine npu = load_config(name);
  std::set<Shape> seen;
  double on_sample = 0, on_whole = 0;
  for (const Layer &layer : load_network("models/" + model + ".graph", batch).layers)
    for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
      const Layer sample = sample_of(layer, npu);
      if (is_whole(sample, layer) ||
          !seen.insert({layer.m, layer.k, layer.n, layer.groups, pass == Pass::kForward}).second)
        continue;
      const std::uint64_t one = cycles(layer, sample, pass, npu), other = cycles(layer, layer, pass, npu);
      EXPECT_LE(static_cast<double>(one), 1.02 * static_cast<double>(other))
          << layer.name << " " << to_string(pass) << ": " << one << " instead of " << other;
      on_sample += static_cast<double>(one);
      on_whole += static_cast<double>(other);
    }
  EXPECT_LE(on_sample, 1.01 * on_whole) << "all together";
}

INSTANTIATE_TEST_SUITE_P(Networks, Sample,
                         testing::Values(std::tuple("faster_rcnn", "small", 4), std::tuple("googlenet", "small", 4),
                                         std::tuple("ncf", "small", 4), std::tuple("resnet50", "small", 4),
                                         std::tuple("dlrm", "small", 4), std::tuple("mobilenet", "small", 4),
                                         std::tuple("yolov2_tiny", "small", 4), std::tuple("bert_tiny", "small", 4),
                                         std::tuple("t5_small", "small", 4), std::tuple("faster_rcnn", "large", 8),
                                         std::tuple("googlenet", "large", 8), std::tuple("ncf", "large", 8),
                                         std::tuple("resnet50", "large", 8), std::tuple("dlrm", "large", 8),
                                         std::tuple("mobilenet", "large", 8), std::tuple("yolov5", "large", 8),
                                         std::tuple("bert_large", "large", 8), std::tuple("t5_large", "large", 8)),
                         [](const auto &param_info) {
                           return std::get<0>(param_info.param) + "_" + std::get<1>(param_info.param);
                         });

} // namespace
} // namespace gradweave::compiler
