// Single layers that the vector unit computes instead of the array: depthwise convolutions.
#pragma once

#include "compiler/ir/compiled.hpp"
#include "compiler/request/names.hpp"
#include "sw_models/config/machine.hpp"

namespace gradweave::compiler {

/// The products of a layer that takes the vector unit (takes_vector_unit()), one after the other, from images as they
/// lie (Layer::image), in tensors without gaps. The array rests: `compute_cycles` is 0, and that of the bounds is of
/// the unit's lanes. Hazards and semaphores of the stream are verified; what it computes, only a run can tell. Throws
/// CompilerDefect.
Compiled compile_vector_layer(const Layer &layer, Pass pass, const Machine &npu);

} // namespace gradweave::compiler
