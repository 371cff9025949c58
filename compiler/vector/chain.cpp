#include "compiler/vector/chain.hpp"

#include "isa/vector/registers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace gradweave::compiler {
namespace {

using isa::vector::Instruction;
using isa::vector::kOutputCode;
using isa::vector::kOutputs;
using isa::vector::kScalarCode;
using isa::vector::kSections;
using isa::vector::kTileCode;
using isa::vector::kTiles;
using isa::vector::Op;
using isa::vector::Program;
using isa::vector::Registers;

using Code = std::vector<Instruction>;

constexpr std::uint32_t kStepIndex = 2; // of INDEX

bool sets_scalar(const Instruction &i) { return i.op == Op::SET && i.d >= kScalarCode; }

/// Registers whose values are read from the begin of each section on; of a loop, from the begin of a step on.
std::array<Registers, kSections + 1> lives_of(const Program &program) {
  std::array<Registers, kSections + 1> alive{};
  for (unsigned s = kSections; s-- > 0;) {
    alive[s] = alive_before(program.sections[s], alive[s + 1]);
    if (s % 2 == 1) alive[s] = alive_before(program.sections[s], alive[s + 1] | alive[s]);
  }
  return alive;
}

std::vector<unsigned> bits_of(Registers set) {
  std::vector<unsigned> all;
  for (unsigned r = 0; r < 32; ++r)
    if ((set >> r & 1U) != 0) all.push_back(r);
  return all;
}

std::uint8_t renamed(unsigned code, unsigned base, const std::vector<unsigned> &names) {
  const auto at = std::find(names.begin(), names.end(), code - base) - names.begin();
  return static_cast<std::uint8_t>(base + static_cast<unsigned>(at));
}

class Part {
public:
  Part(const Program &program, unsigned loop, bool first, bool last, std::uint32_t offset)
      : program_(program), loop_(loop), last_(last) {
    const std::vector<unsigned> loops = loops_of(program);
    const auto here = std::find(loops.begin(), loops.end(), loop);
    if (first)
      for (unsigned s = here == loops.begin() ? 0 : *(here - 1) + 1; s < loop; ++s)
        append(before_, program.sections[s]);
    append(body_, program.sections[loop]);
    is_end_ = last && here + 1 == loops.end();
    if (is_end_)
      for (unsigned s = loop + 1; s < kSections; ++s)
        append(behind_, program.sections[s]);
    if (offset != 0) move_steps(offset);
  }

  ChainPart run() {
    choose_registers();
    name_tiles();
    Code restores;
    for (unsigned i = 0; i < part_.restored.size(); ++i)
      restores.push_back(copy(part_.restored[i], kTileCode + static_cast<unsigned>(part_.operands.size()) + i));
    Code &once = part_.program.sections[0];
    set_scalars(once);
    append(once, restores);
    append(once, before_);
    part_.program.sections[1] = body_;
    part_.program.sections[2] = behind_;
    for (unsigned i = 0; i < part_.saved.size(); ++i)
      part_.program.sections[2].push_back(
          copy(kOutputCode + static_cast<unsigned>(part_.results.size()) + i, part_.saved[i]));
    return std::move(part_);
  }

private:
  /// Without scalars, which each part sets.
  static void append(Code &to, const Code &from) {
    std::copy_if(from.begin(), from.end(), std::back_inserter(to),
                 [](const Instruction &i) { return !sets_scalar(i); });
  }

  /// As a scalar is set before it is read, and once, it may be set first.
  void set_scalars(Code &once) const {
    for (const Code &section : program_.sections)
      for (const Instruction &i : section) {
        if (!sets_scalar(i)) continue;
        if (std::any_of(once.begin(), once.end(), [&](const Instruction &before) { return before.d == i.d; }))
          throw std::length_error(fmt::format("scalar s{} is set twice", i.d - kScalarCode));
        once.push_back(i);
      }
  }

  static Instruction copy(unsigned to, unsigned from) {
    Instruction i;
    i.op = Op::OR;
    i.d = static_cast<std::uint8_t>(to);
    i.operands[0].code = i.operands[1].code = static_cast<std::uint8_t>(from);
    return i;
  }

  /// The unit counts the steps of a run.
  void move_steps(std::uint32_t offset) {
    for (std::size_t at = 0; at < body_.size(); ++at) {
      if (body_[at].op != Op::INDEX || body_[at].constant != kStepIndex) continue;
      if (!gives_register(body_[at]))
        throw std::length_error("the number of a step goes to a tile; give it a register");
      Instruction add;
      add.op = Op::IADD;
      add.d = body_[at].d;
      add.operands[0] = isa::vector::reg(add.d);
      add.operands[1] = isa::vector::constant();
      add.constant = offset;
      body_.insert(body_.begin() + static_cast<std::ptrdiff_t>(++at), add);
    }
  }

  void choose_registers() {
    const auto alive = lives_of(program_);
    Registers given = 0;
    for (const Code *section : {&before_, &body_, &behind_})
      for (const Instruction &i : *section)
        if (gives_register(i)) given |= 1U << i.d;
    const Registers read = alive_before(before_, alive_before(body_, alive_before(behind_, 0)));
    part_.restored = bits_of(read);
    part_.saved = is_end_ ? std::vector<unsigned>() : bits_of(given & (last_ ? alive[loop_ + 1] : alive[loop_]));
  }

  void name_tiles() {
    UsedTiles used = name_used_tiles({&before_, &body_, &behind_});
    part_.operands = std::move(used.operands);
    part_.results = std::move(used.results);
    const std::size_t reads = part_.operands.size() + part_.restored.size();
    const std::size_t writes = part_.results.size() + part_.saved.size();
    if (reads > kTiles || writes > kOutputs)
      throw std::length_error(
          fmt::format("a part of its chain reads {} tiles and writes {}, {} and {} of them variables; "
                      "there are {} and {}",
                      reads, writes, part_.restored.size(), part_.saved.size(), kTiles, kOutputs));
  }

  const Program &program_;
  unsigned loop_;
  bool last_, is_end_ = false;
  Code before_, body_, behind_;
  ChainPart part_;
};

} // namespace

UsedTiles name_used_tiles(const std::vector<std::vector<Instruction> *> &sections) {
  isa::vector::Mask mask = 0;
  for (const Code *section : sections)
    mask = static_cast<isa::vector::Mask>(mask | isa::vector::mask_of(*section));
  UsedTiles used{bits_of(mask & ((1U << kTiles) - 1U)), bits_of(mask >> kTiles)};
  for (Code *section : sections)
    for (Instruction &i : *section) {
      if (i.d >= kOutputCode && i.d < kScalarCode) i.d = renamed(i.d, kOutputCode, used.results);
      for (unsigned n = 0; n < isa::vector::operand_count(isa::vector::info(i.op)); ++n)
        if (std::uint8_t &code = i.operands[n].code; code >= kTileCode && code < kScalarCode)
          code = renamed(code, kTileCode, used.operands);
    }
  return used;
}

std::vector<unsigned> loops_of(const Program &program) {
  std::vector<unsigned> loops;
  for (unsigned s = 1; s < kSections; s += 2)
    if (!program.sections[s].empty()) loops.push_back(s);
  return loops;
}

ChainPart chain_part(const Program &program, unsigned loop, bool first, bool last, std::uint32_t offset) {
  return Part(program, loop, first, last, offset).run();
}

bool parts_fit(const Program &program) {
  try {
    for (const unsigned loop : loops_of(program))
      for (const bool first : {true, false})
        for (const bool last : {true, false})
          chain_part(program, loop, first, last, 0);
  } catch (const std::length_error &) {
    return false;
  }
  return true;
}

} // namespace gradweave::compiler
