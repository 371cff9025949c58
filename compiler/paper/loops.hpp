// The paper's loop orders.
#pragma once

#include "compiler/paper/policy.hpp"

namespace gradweave::compiler::paper {

/// Loops of a phase, outermost first; for an interleaved phase those of dW.
LoopOrder loops_of(PhaseKind kind, const Policy &policy);

} // namespace gradweave::compiler::paper
