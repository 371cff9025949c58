// What of a program one of its results needs.
#pragma once

#include "isa/vector/program.hpp"

namespace gradweave::compiler {

/// The program's instructions without those that only other results than `result` depend on: it gives the same bits.
/// Registers and tiles keep their names.
isa::vector::Program result_slice(const isa::vector::Program &program, unsigned result);

} // namespace gradweave::compiler
