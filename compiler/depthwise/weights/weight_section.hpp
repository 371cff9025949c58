// dW of a depthwise convolution, as commands.
#pragma once

#include "compiler/depthwise/weights/weight_layout.hpp"
#include "compiler/vector_stream/section.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler::depthwise {

/// The pieces of a section (section_pieces()) for dW, `addresses` are those of X, dY and dW. The array multiplies each
/// channel of a block with all of them, tap by tap; the unit takes the products' diagonals, which are dW. A product's
/// elements are chains of their own, so that what is beside the diagonal touches nothing. `room` has kPairSemaphores.
std::vector<std::vector<isa::Command>> weight_pieces(const DepthwiseWork &work, const WeightLayout &layout,
                                                     const std::vector<std::uint64_t> &addresses, const NpuConfig &npu,
                                                     const SectionRoom &room);

} // namespace gradweave::compiler::depthwise
