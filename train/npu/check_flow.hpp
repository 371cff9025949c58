// Whether a step's stream moves the values that the graph names, from its commands alone.
#pragma once

#include "train/npu/step_sections.hpp"

#include <string>

namespace gradweave::runtime::train {

/// Empty, or the first thing that is wrong, with op, section and command. Each byte that a LOAD takes was written by
/// the host or by an earlier STORE, and belongs to the version of a tensor that an op of the section has as an input:
/// of a place that holds a parameter and then its next value, the one that the graph names. Scratch space holds what
/// the op's sections have stored there. Each tensor that has a place is stored in full by the sections of its op; at
/// the end of the step places hold what is to be there, and each result has one. Commands are taken in the order of the
/// stream: where two of them touch a byte, check_stream() shows that every timing keeps to it.
std::string check_flow(const StepStream &stream, const FlowPlan &plan);

} // namespace gradweave::runtime::train
