// Single layers that the vector unit computes instead of the array: depthwise convolutions.
#pragma once

#include "compiler/ir/compiled.hpp"
#include "compiler/request/names.hpp"
#include "sw_models/config/machine.hpp"

namespace gradweave::compiler {

/// Gives layers that are compiled each by itself to the vector unit (Layer::vector, Layer::image): those that can take
/// it (takes_vector_unit()), unless they take more cycles there than twice the array's bound, in the form in which they
/// read their images: so near their bound no schedules of such layers are.
void choose_vector_layers(std::vector<Layer> &layers, Pass pass, const Machine &npu);

/// The same of layers that are compiled into one stream: those that also fit what their sections would have of the
/// scratchpad (largest_room()).
void choose_vector_layers_of_step(std::vector<Layer> &layers, Pass pass, const Machine &npu);

/// The products of a layer of the vector unit (Layer::vector), one after the other, from images as they lie, in tensors
/// without gaps. The array rests: `compute_cycles` is 0, and that of the bounds is of the unit's lanes. Hazards and
/// semaphores of the stream are verified; what it computes, only a run can tell. Throws CompileError if the tensors and
/// the stream have no room in the memory, CompilerDefect if a check fails.
Compiled compile_vector_layer(const Layer &layer, Pass pass, const Machine &npu);

} // namespace gradweave::compiler
