// Depthwise convolutions as sections of the vector unit, alone or in a stream that has other layers, too.
#pragma once

#include "compiler/ir/layout.hpp"
#include "compiler/ir/vector_section.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace gradweave::compiler {

/// What sections of a stream have of the NPU: rows of the scratchpad from `first_row` on, as many as `npu` has, and
/// kDepthwiseSemaphores.
struct VectorRoom {
  Machine npu;
  std::uint32_t first_row = 0;
  std::uint8_t first_semaphore = 0;
};

/// Whether all products of the pass are the vector unit's: a depthwise convolution whose image could be read as it
/// lies, and whose areas fit the scratchpad (compiler/depthwise/depthwise.hpp).
bool takes_vector_unit(const Layer &layer, Pass pass, const NpuConfig &npu);

/// The same of a layer in a stream that has others, whose pixels begin with a beat of the bus or share one
/// (may_share_beats()), and whose sections have `room.npu`'s rows: results of the unit are bf16 there.
bool takes_vector_unit(const Layer &layer, Pass pass, const VectorRoom &room);

/// The layer as the unit computes it, whatever its X was to be for the array: an image as it lies, for all products.
Layer on_vector_unit(Layer layer);

/// Results of such a layer in the pass, in the order in which they are computed.
std::vector<Tensor> vector_results(const Layer &layer, Pass pass);

/// The section for a result of layers[index]. Images may have pixels that are farther apart in memory than their
/// channels, as the layout says: then what is between them is overwritten, too.
std::shared_ptr<const VectorSection> vector_section(const Layer &layer, std::uint32_t index, Tensor result,
                                                    const Layout &layout, const VectorRoom &room);

/// Adds what a LOAD or STORE of a tensor moves to the piece's traffic.
void count_transfer(const isa::DmaCommand &dma, const SectionOperand &of, const Machine &npu, VectorPiece &piece);

/// The pieces of a section as products of layer `index`.
std::vector<TileProduct> section_products(const VectorSection &section, std::uint32_t index);

} // namespace gradweave::compiler
