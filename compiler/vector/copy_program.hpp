// A program that copies, and so changes the type of what it copies.
#pragma once

#include "isa/vector/program.hpp"
#include "sw_models/vector/recorder.hpp"

namespace gradweave::compiler {

/// o0 of each step is t0, all of its bits where both are of 32.
inline isa::vector::Program copy_program() {
  vector::Recorder record;
  record.loop();
  record.output(0, record.bor(record.tile(0), record.tile(0)));
  return record.program();
}

} // namespace gradweave::compiler
