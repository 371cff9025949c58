// What the vector unit does of a layer in a stream that has other layers, too.
#pragma once

#include "compiler/ir/compiled.hpp"
#include "compiler/ir/program.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// Commands that stay together. Between two pieces of a section there may be anything but pieces of another section.
struct VectorPiece {
  std::vector<isa::Command> commands;
  std::vector<CommandInfo> info; ///< one entry a command
  LayerTraffic traffic;
  std::uint64_t dram_bytes = 0; ///< whole accesses of the DRAM
};

/// A product of a layer. Operands and result lie in memory, so that its first piece needs all stores of the operands,
/// and what reads the result all of its last piece. It has rows of the scratchpad and semaphores of its own.
struct VectorSection {
  Tensor result{};
  std::array<Tensor, 2> operands{};
  std::vector<VectorPiece> pieces;

  const VectorPiece &piece(const TileProduct &p) const { return pieces[p.m]; }
  bool ends_with(const TileProduct &p) const { return p.m + 1 == pieces.size(); }
};

/// The section that a product is a piece of.
inline const VectorSection &section_of(const Program &program, const TileProduct &p) {
  return *program.sections.at({p.layer, p.result});
}

/// The commands of an action; null if it is no piece.
inline const VectorPiece *piece_of(const Program &program, const Action &a) {
  if (a.kind != Action::Kind::kPiece) return nullptr;
  const TileProduct &p = program.products[a.product];
  return &section_of(program, p).piece(p);
}

} // namespace gradweave::compiler
