// From fused layers to commands: products of the array and depthwise convolutions of the vector unit, whose images pass
// through the scratchpad only.
#pragma once

#include "compiler/depthwise/fused/fused_layout.hpp"
#include "compiler/request/names.hpp"
#include "compiler/vector_stream/section.hpp"
#include "isa/command.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// Where a matrix begins in memory, and from row to row; bytes.
struct FusedMatrix {
  std::uint64_t address = 0;
  std::uint32_t pitch = 0;
};

/// What a chain of layers finds in memory, and leaves there: an image as rows of pixels.
struct FusedTensors {
  FusedMatrix x;                    ///< of the first layer
  std::vector<FusedMatrix> weights; ///< of each; a depthwise layer's are channels by taps, without gaps
  FusedMatrix y;                    ///< of the last
};

/// Whose command it is, and of which tensor: what a transfer moves, else the layer's Y.
struct FusedUse {
  std::uint32_t layer = 0; ///< counted from the chain's first
  Tensor tensor{};
};

/// A step of an area: a layer's. Others may use the engines between two pieces, but neither rows nor semaphores.
struct FusedPiece {
  std::vector<isa::Command> commands;
  std::vector<FusedUse> uses;     ///< one a command
  std::uint64_t array_cycles = 0; ///< of its products
  std::uint64_t unit_cycles = 0;  ///< of the vector unit, nearly
};

/// The pieces: first weights, and what is made of them, then one or two for each layer of each area, and one for what
/// the area leaves. Areas follow one another; the next one's rows are loaded while one is computed. Whatever they do
/// waits for their first LOAD, and once their last STORE has completed, all of it has. Bits are those of the layers one
/// by one: a product takes all terms of its sums in one command (N5), rows that two areas need are computed twice, and
/// zeros around an image take part (N16). `room` has kPairSemaphores.
std::vector<FusedPiece> fused_pieces(const std::vector<Layer> &layers, const depthwise::FusedLayout &layout,
                                     const FusedTensors &tensors, const Machine &npu, const SectionRoom &room);

} // namespace gradweave::compiler
