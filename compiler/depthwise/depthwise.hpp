// Depthwise convolutions: each channel has a kernel of its own, so that there is no product for the array to share.
// Bits are those of N15 and N24: a step of the vector unit's fma is one of N5.
#pragma once

#include "compiler/depthwise/work.hpp"
#include "compiler/vector_stream/pair_semaphores.hpp"
#include "compiler/vector_stream/section.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace gradweave::compiler {

/// Semaphores of sections of all products.
inline constexpr std::uint32_t kDepthwiseSemaphores = kSectionSemaphores + kPairSemaphores;

/// What a product's section takes beside the engines.
struct DepthwiseRoom {
  SectionRoom areas;           ///< of Y and dX: kSectionSemaphores
  std::uint8_t first_pair = 0; ///< of dW: kPairSemaphores from there
};

/// The pieces of a product's section (section_pieces()). Addresses are those of the operands (X and W; dY and W; X and
/// dY) and of the result, row-major without gaps. Images are NHWC, W is [channels][kernel rows][kernel columns];
/// operands are bf16.
///
/// Y and dX, on the vector unit: a row of a tile is a part of an image's row, channels side by side, as in memory. So
/// rows are long, lanes are full whatever the channels, and a tap is the same tile, moved by columns and rows. dW: a
/// row of a tile is a pixel; the array multiplies blocks of channels with one another, a tap after the other, and the
/// unit takes the diagonals.
///
/// None: the NPU has no vector unit, or its scratchpad has no room for one row and the kernel, or the array's commands
/// have no form for it.
std::optional<std::vector<std::vector<isa::Command>>> depthwise_pieces(const DepthwiseWork &work,
                                                                       const std::vector<std::uint64_t> &addresses,
                                                                       const NpuConfig &npu, const DepthwiseRoom &room);

/// All pieces as one.
std::optional<std::vector<isa::Command>> depthwise_commands(const DepthwiseWork &work,
                                                            const std::vector<std::uint64_t> &addresses,
                                                            const NpuConfig &npu, const DepthwiseRoom &room);

/// Whether there are any, which costs less to find out.
bool has_depthwise_pieces(const DepthwiseWork &work, const NpuConfig &npu);

} // namespace gradweave::compiler
