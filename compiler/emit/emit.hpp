// From planned actions to the binary command stream.
#pragma once

#include "compiler/emit/hazards.hpp"
#include "compiler/ir/compiled.hpp"

namespace gradweave::compiler {

struct EmittedStream {
  std::vector<isa::Command> commands;
  std::vector<CommandInfo> info;
};

/// One command for each action, in order; of a LOAD whose tile has several runs of rows one for each, and SYNCs for
/// waits and posts beyond those that a command has. Throws std::out_of_range, naming the field, if a value does not
/// fit.
EmittedStream emit(const Program &program, const std::vector<Handshake> &handshakes, const NpuConfig &npu);
/// Its commands alone.
std::vector<isa::Command> emit_commands(const Program &program, const std::vector<Handshake> &handshakes,
                                        const NpuConfig &npu);

} // namespace gradweave::compiler
