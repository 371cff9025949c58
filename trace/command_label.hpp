// What a command is called in traces, timelines and messages.
#pragma once

#include "compiler/compiler.hpp"
#include "isa/command.hpp"

#include <cstdint>
#include <string>

namespace gradweave::runtime {

/// "load", "store", "compute0", "compute1", ...: the engines' names in the text form of commands.
std::string engine_name(std::uint8_t engine);

/// The tile that a compiled command moves or computes, as first:end of rows and columns in its tensor, with the range
/// of the reduction of a GEMM: "dY[0:45,90:135]", "partial dX[0:8,0:8]", "dW[0:45,90:135] red 0:128".
/// Empty for a command without a tile (SYNC).
std::string tile_label(const compiler::CommandInfo &info);

/// The same for a command of unknown origin, from its fields: "45x45 bf16 dram=0x1000 spm=0" (LOAD, STORE; rows x
/// columns), "45x45x128 a=0 b=180 cout=360" (GEMM; m x n x k and SPM rows),
/// "45x45 a=0 cin=90 cout=0" (ADD). Empty for SYNC and unknown opcodes.
std::string tile_label(const isa::Command &command);

struct CommandLabel {
  std::string engine; ///< engine_name(); empty if the opcode is unknown
  std::string opcode; ///< "LOAD", "STORE", "GEMM", "ADD", "SYNC", "MARK", or the unknown opcode as "0xff"
  std::string layer;  ///< as given
  std::string tile;   ///< tile_label()

  /// For people: "GEMM ffn1 dW[0:45,90:135] red 0:128"; empty parts are left out.
  std::string text() const;
};

/// `info`: what the compiler says of this command; null if it is not known.
CommandLabel label_command(const std::string &layer, const isa::Command &command,
                           const compiler::CommandInfo *info = nullptr);

} // namespace gradweave::runtime
