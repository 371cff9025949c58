// The experiment of igo_micro23, section 3.3: what the backward pass would take if dY were read only once.
#pragma once

#include "compiler/compiler.hpp"

namespace gradweave::evaluation {

/// Takes the reads of dY for dW out of a sequential stream, as if dY were still in the scratchpad: each such LOAD is
/// left with one element, so that commands and semaphores stay. `traffic` and `predicted_cycles` follow. The stream
/// then no longer computes dW; it is only good for its time. Nothing changes if the pass computes no dX.
void drop_second_dy_reads(compiler::Compiled &compiled, const Machine &npu);

} // namespace gradweave::evaluation
