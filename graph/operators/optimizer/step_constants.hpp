// The constants of a step that optimizers read as a tensor, computed by the host.
#pragma once

#include <array>
#include <cstdint>

namespace gradweave::graph {

/// Of AdamW: the learning rate, 1 / (1 - beta1^step) and 1 / (1 - beta2^step).
using StepConstants = std::array<float, 3>;

/// `step` counts from 1. Each is computed in IEEE double precision, the powers by squaring, and rounded once to
/// fp32: the same bits on every machine.
StepConstants adamw_constants(double rate, double beta1, double beta2, std::uint64_t step);

} // namespace gradweave::graph
