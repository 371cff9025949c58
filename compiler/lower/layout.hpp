// Places for tensors in device memory.
#pragma once

#include "compiler/ir/layout.hpp"
#include "compiler/ir/program.hpp"
#include "compiler/request/error.hpp"
#include "compiler/request/jobs.hpp"
#include "sw_models/config/machine.hpp"

namespace gradweave::compiler {

/// Layers in the order of the forward pass, one after the other. Rows are padded to whole bus beats: a tile row then
/// costs the same beats in every row of a tensor; pixels that the vector unit takes may share one (pixel_bytes()).
/// Where a layer's `input` names one of them and the shapes agree, its X is that layer's Y; and its dX that layer's dY
/// if no other layer reads that Y. Such a tensor is an intermediate, unless a layer reads it in another form. Layers
/// whose `x_of` names one of them share its X. Layers of different jobs have different names.
Layout make_layout(const std::vector<Layer> &layers, const Jobs &jobs, const NpuConfig &npu);

/// Whether pixels of a depthwise convolution's images may share a beat of the bus (pixel_bytes()): with a stride the
/// vector unit has its lanes full where they take whole beats.
bool may_share_beats(const Convolution &conv);
/// Bytes from pixel to pixel of such bf16 images: whole beats, or a part of one of which a beat has several. A pixel by
/// itself takes a beat then, too.
std::uint32_t pixel_bytes(std::uint32_t channels, const NpuConfig &npu);

/// Throws CompileError, with both sizes and the remedy, if layers need more device memory together than the NPU has.
void check_room(const std::vector<Layer> &layers, const Room &room, const Machine &npu);

} // namespace gradweave::compiler
