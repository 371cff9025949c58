// Programs of the vector unit as data, their words, and what is legal (docs/vector-isa.md).
#pragma once

#include "vector_defs.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace gradweave::isa::vector {

/// What an instruction reads: a code (registers from 0, then tiles, scalars, the constant), and how.
struct Operand {
  std::uint8_t code = 0;
  bool neg = false; ///< sign bit inverted, after abs
  bool abs = false; ///< sign bit cleared
};

struct Instruction {
  Op op = Op::OR;
  std::uint8_t d = 0; ///< a code: registers from 0, then outputs; scalars for SET
  std::array<Operand, 3> operands{};
  std::uint32_t constant = 0;
};

using Words = std::vector<std::uint64_t>;

/// Sections of odd numbers are run once a step, the others once.
struct Program {
  std::array<std::vector<Instruction>, kSections> sections;
};

/// What a section reads of the tiles (bits 0 to kTiles - 1) and writes of the outputs (from bit kTiles).
using Mask = std::uint16_t;

constexpr Operand reg(unsigned i) { return {static_cast<std::uint8_t>(i), false, false}; }
constexpr Operand tile(unsigned i) { return {static_cast<std::uint8_t>(kTileCode + i), false, false}; }
constexpr Operand scalar(unsigned i) { return {static_cast<std::uint8_t>(kScalarCode + i), false, false}; }
constexpr Operand constant() { return {static_cast<std::uint8_t>(kConstantCode), false, false}; }

/// Of the operation with this number; null if there is none.
const OpInfo *find_op(std::uint8_t value);
/// Of an operation that exists.
const OpInfo &info(Op op);
/// How many of a, b and c the operation reads.
unsigned operand_count(const OpInfo &op);

/// One word. Fields are as in the instruction, whether legal or not; operands that are not read give zeros.
std::uint64_t encode(const Instruction &i);
/// The instruction of a word whose operation exists.
Instruction decode(std::uint64_t word);

/// What the section's instructions read and write.
Mask mask_of(const std::vector<Instruction> &section);

/// Header, masks, and the sections' instructions. Throws std::length_error if a section is longer than its length can
/// say; nothing else is checked.
Words encode(const Program &program);

/// Why a program cannot run: what the vector unit would report, and the same in words.
struct Fault {
  FaultCode code;
  std::uint32_t index; ///< of the word
  std::string text;    ///< "word 5 (MUL): ...; remedy"
};

/// The first fault in the order in which the words are run, if there is one. `memory_words`: of the program memory.
std::optional<Fault> check(const Words &words, std::size_t memory_words = 1024);

/// The program of words that check() finds nothing in.
Program decode(const Words &words);

} // namespace gradweave::isa::vector
