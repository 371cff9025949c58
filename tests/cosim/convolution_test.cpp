// Convolutions on the RTL: im2col on the host, products on the NPU, and every result against golden products and
// against the convolution computed directly.
#include "runtime/job/job.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

namespace gradweave::runtime {
namespace {

struct NamedConvolution {
  const char *name;
  Convolution conv;
};

Convolution image(std::uint32_t height, std::uint32_t width, std::uint32_t channels, std::uint32_t out_channels,
                  std::uint32_t kernel) {
  Convolution c;
  c.batch = 2;
  c.height = height;
  c.width = width;
  c.channels = channels;
  c.out_channels = out_channels;
  c.kernel_height = c.kernel_width = kernel;
  return c;
}

std::vector<NamedConvolution> convolutions() {
  Convolution strided = image(11, 9, 3, 10, 5);
  strided.stride_height = strided.stride_width = 2;
  strided.pad_top = strided.pad_bottom = strided.pad_left = strided.pad_right = 2;
  Convolution uneven = image(8, 7, 5, 6, 3);
  uneven.dilation_height = 2;
  uneven.stride_width = 3;
  uneven.pad_bottom = 2;
  uneven.pad_left = 1;
  Convolution grouped = image(6, 6, 12, 9, 3);
  grouped.groups = 3;
  grouped.pad_top = grouped.pad_bottom = grouped.pad_left = grouped.pad_right = 1;
  Convolution depthwise = image(7, 7, 6, 6, 3);
  depthwise.groups = 6;
  depthwise.stride_height = depthwise.stride_width = 2;
  depthwise.pad_top = depthwise.pad_left = 1;
  return {{"pointwise", image(5, 5, 13, 11, 1)},
          {"strided", strided},
          {"uneven", uneven},
          {"grouped", grouped},
          {"depthwise", depthwise}};
}

using Case = std::tuple<const char *, compiler::Schedule, std::size_t>;

class EveryConvolution : public ::testing::TestWithParam<Case> {};

TEST_P(EveryConvolution, GivesTheBitsOfDirectConvolution) {
  const auto &[npu, schedule, which] = GetParam();
  const auto [name, conv] = convolutions()[which];
  JobSpec s;
  s.network = "cosim";
  s.layers = {{name, conv.m(), conv.k(), conv.n(), true, 0, conv.groups}};
  s.layers.front().conv = conv;
  s.npu = load_machine(fmt::format("configs/{}.toml", npu));
  s.compile.schedule = schedule;
  s.compile.pass = compiler::Pass::kBoth;
  s.data = which % 2 == 0 ? DataKind::kSpecial : DataKind::kNormal;
  s.device.stress = {which + 1, which == 1 ? 0.3 : 0};
  const JobResult r = run_job(s);
  EXPECT_EQ(r.outcome, Outcome::kPass) << fmt::format("seed {}: {}", s.seed, fmt::join(r.failures, "; "));
  ASSERT_EQ(r.outputs.size(), 3U);
  for (const OutputCheck &check : r.outputs) {
    EXPECT_GT(check.finite, 0U) << "the check has no power";
    EXPECT_EQ(check.direct, check.tensor == compiler::Tensor::kDX ? conv.image_size() : check.elements);
  }
}

INSTANTIATE_TEST_SUITE_P(Cosim, EveryConvolution,
                         ::testing::Combine(::testing::Values("test8", "test6x10"),
                                            ::testing::Values(compiler::Schedule::kSequential,
                                                              compiler::Schedule::kDxMajor),
                                            ::testing::Range<std::size_t>(0, convolutions().size())),
                         [](const ::testing::TestParamInfo<Case> &info) {
                           return fmt::format("{}_{}_{}", std::get<0>(info.param),
                                              compiler::to_string(std::get<1>(info.param)),
                                              convolutions()[std::get<2>(info.param)].name);
                         });

} // namespace
} // namespace gradweave::runtime
