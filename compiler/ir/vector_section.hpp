// What the vector unit does of a layer, or of several that are fused, in a stream that has other layers, too.
#pragma once

#include "compiler/ir/compiled.hpp"
#include "compiler/ir/program.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace gradweave::compiler {

/// A tensor of a layer, by index.
struct SectionOperand {
  std::uint32_t layer = 0;
  Tensor tensor{};
  bool operator==(const SectionOperand &o) const { return layer == o.layer && tensor == o.tensor; }
};

/// Rows of a tensor from `first` up to but not with `end`.
struct SectionRows {
  SectionOperand of;
  std::uint32_t first = 0, end = 0;
};

/// Commands that stay together. Between two pieces of a section there may be anything but pieces of another section.
struct VectorPiece {
  std::vector<isa::Command> commands;
  std::vector<CommandInfo> info;                 ///< one entry a command
  std::map<std::uint32_t, LayerTraffic> traffic; ///< by layer
  std::uint64_t dram_bytes = 0;                  ///< whole accesses of the DRAM
  std::uint64_t array_cycles = 0;                ///< of products that it has
  std::uint64_t unit_cycles = 0;                 ///< of fused layers, nearly
  std::vector<SectionRows> loaded;               ///< of operands, those in between, too: an entry each
  SectionRows stored;                            ///< of the result, likewise
  std::uint32_t stored_rows = 0;                 ///< that are stored of these
};

/// A product of a layer, or the last one's of layers that are fused. Operands and result lie in memory, so that a piece
/// needs the stores of what it loads, and what reads the result pieces that store it. It has rows of the scratchpad and
/// semaphores of its own.
struct VectorSection {
  Tensor result{};
  std::vector<SectionOperand> operands;
  std::vector<std::uint32_t> layers; ///< that it computes, ascending
  std::vector<VectorPiece> pieces;

  const VectorPiece &piece(const TileProduct &p) const { return pieces[p.m]; }
  bool ends_with(const TileProduct &p) const { return p.m + 1 == pieces.size(); }
};

/// Of its products.
inline std::uint64_t array_cycles(const VectorSection &section) {
  std::uint64_t cycles = 0;
  for (const VectorPiece &piece : section.pieces)
    cycles += piece.array_cycles;
  return cycles;
}

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
