// What dW of a depthwise convolution reads, as LOADs.
#pragma once

#include "compiler/depthwise/weights/weight_layout.hpp"
#include "isa/command.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::compiler::depthwise {

/// Channels and products that go through all images together.
struct WeightPass {
  std::size_t channel = 0, channels = 1, product = 0, products = 1;
};

/// Rows of the result in an image, or whole images.
struct WeightArea {
  WeightPass pass;
  std::size_t image = 0, images = 1, row = 0, rows = 1;
  bool begins = false, ends = false; ///< the pass
};

struct WeightLoads {
  std::vector<isa::DmaCommand> all;
  std::size_t before_edges = 0; ///< that may come before lines at the edges are cleared (WeightLayout::has_edges())
};

/// LOADs of X and dY into one of the two places of the layout's tiles, whose rows count from the section's first one.
/// `addresses` are those of X and dY.
WeightLoads weight_loads(const DepthwiseWork &work, const WeightLayout &layout,
                         const std::vector<std::uint64_t> &addresses, const NpuConfig &npu, const WeightArea &area,
                         std::size_t place);

} // namespace gradweave::compiler::depthwise
