// Layers around depthwise convolutions that are computed together, in one section of a stream.
#pragma once

#include "compiler/back/vector_section.hpp"
#include "compiler/ir/fused.hpp"

#include <memory>
#include <vector>

namespace gradweave::compiler {

/// Marks layers of a network's forward pass that are fused (Layer::fused): chains of products and depthwise
/// convolutions of the vector unit (Layer::vector) whose images nobody else reads, cut so that they take the least
/// time, nearly. Those that fit `room` only.
void fuse_layers(std::vector<Layer> &layers, const VectorRoom &room);

/// Whether fused layers fit.
bool fused_fit(const std::vector<Layer> &layers, const VectorRoom &room);

/// The section for Y of the last one of fused layers, which are `range` of all. Their first semaphore is that behind
/// the room's kSectionSemaphores.
std::shared_ptr<const VectorSection> fused_section(const std::vector<Layer> &layers, const LayerRange &range,
                                                   const Layout &layout, const VectorRoom &room);

} // namespace gradweave::compiler
