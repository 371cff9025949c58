#include "compiler/items/split_program.hpp"

#include "compiler/vector_stream/stage/lane_cycles.hpp"
#include "isa/vector/registers.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

namespace gradweave::compiler {
namespace {

using isa::vector::Instruction;
using isa::vector::kOutputCode;
using isa::vector::kOutputs;
using isa::vector::kRegisters;
using isa::vector::kSections;
using isa::vector::kTileCode;
using isa::vector::kTiles;
using isa::vector::Program;

using Code = std::vector<Instruction>;

unsigned operands_of(const Instruction &i) { return isa::vector::operand_count(isa::vector::info(i.op)); }

/// Numbers values so that equal numbers are equal values, in sections of one program.
class Numbering {
public:
  explicit Numbering(const Program &program) : program_(program) {}

  /// Of each instruction of a loop, what it gives in a step.
  std::vector<std::uint32_t> values_of(unsigned loop) {
    std::array<std::uint32_t, kRegisters> now{};
    for (unsigned r = 0; r < kRegisters; ++r)
      now[r] = is_given(program_.sections[loop], r) ? fresh_++ : number({kRegister, r, last_given(r, loop)});
    std::vector<std::uint32_t> values;
    for (const Instruction &i : program_.sections[loop]) {
      std::vector<std::uint32_t> key{kInstruction, static_cast<std::uint32_t>(i.op)};
      for (unsigned n = 0; n < operands_of(i); ++n) {
        const isa::vector::Operand &operand = i.operands[n];
        key.push_back(operand.code < kRegisters ? now[operand.code] : number({kOther, operand.code}));
        key.push_back((operand.neg ? 1U : 0U) + (operand.abs ? 2U : 0U));
      }
      key.push_back(i.constant);
      values.push_back(number(key));
      if (gives_register(i)) now[i.d] = values.back();
    }
    return values;
  }

private:
  enum Kind : std::uint32_t { kRegister, kOther, kInstruction };

  static bool is_given(const Code &section, unsigned r) {
    return std::any_of(section.begin(), section.end(), [r](const Instruction &i) { return i.d == r; });
  }

  /// The last section before the loop that gives the register.
  std::uint32_t last_given(unsigned r, unsigned loop) const {
    for (unsigned s = loop; s-- > 0;)
      if (is_given(program_.sections[s], r)) return s + 1;
    return 0;
  }

  std::uint32_t number(const std::vector<std::uint32_t> &key) {
    const auto [found, is_new] = numbers_.try_emplace(key, fresh_);
    if (is_new) ++fresh_;
    return found->second;
  }

  const Program &program_;
  std::uint32_t fresh_ = 0;
  std::map<std::vector<std::uint32_t>, std::uint32_t> numbers_;
};

/// A loop without what instruction `at` gives and all that only it needs: it is tile `tile`.
Code reading_kept(const Program &program, unsigned loop, std::size_t at, unsigned tile) {
  Code code = program.sections[loop];
  const std::uint8_t given = code[at].d;
  for (std::size_t i = at + 1; i < code.size(); ++i) {
    for (unsigned n = 0; n < operands_of(code[i]); ++n)
      if (code[i].operands[n].code == given) code[i].operands[n].code = static_cast<std::uint8_t>(kTileCode + tile);
    if (code[i].d == given) break;
  }
  code.erase(code.begin() + static_cast<std::ptrdiff_t>(at));
  // What a later section, or the next step, may read stays.
  isa::vector::Registers alive = alive_before(code, 0);
  for (unsigned s = loop + 1; s < kSections; ++s)
    for (const Instruction &i : program.sections[s])
      alive |= registers_read(i);
  Code kept;
  for (auto i = code.rbegin(); i != code.rend(); ++i) {
    if (gives_register(*i) && !gives_one_of(*i, alive)) continue;
    alive = alive_before(*i, alive);
    kept.push_back(*i);
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

/// The same program with another value kept, as operand `operand` and result `result`, for each that can be.
template <class Look>
void for_each_keeping(const Program &program, unsigned operand, unsigned result, const Look &look) {
  const std::vector<unsigned> loops = loops_of(program);
  Numbering numbering(program);
  std::vector<std::vector<std::uint32_t>> values;
  for (const unsigned loop : loops)
    values.push_back(numbering.values_of(loop));
  for (std::size_t later = 1; later < loops.size(); ++later)
    for (std::size_t earlier = 0; earlier < later; ++earlier)
      for (std::size_t at = 0; at < values[later].size(); ++at) {
        const auto &before = values[earlier];
        const auto found = std::find(before.begin(), before.end(), values[later][at]);
        if (found == before.end() || !gives_register(program.sections[loops[later]][at])) continue;
        const auto where = static_cast<std::size_t>(found - before.begin());
        const Instruction &given = program.sections[loops[earlier]][where];
        if (!gives_register(given)) continue;
        Program keeps = program;
        keeps.sections[loops[later]] = reading_kept(program, loops[later], at, operand);
        Instruction keep;
        keep.op = isa::vector::Op::OR;
        keep.d = static_cast<std::uint8_t>(kOutputCode + result);
        keep.operands[0] = keep.operands[1] = isa::vector::reg(given.d);
        Code &writes = keeps.sections[loops[earlier]];
        writes.insert(writes.begin() + static_cast<std::ptrdiff_t>(where + 1), keep);
        look(keeps);
      }
}

struct Parts {
  std::vector<ChainPart> parts;
  std::uint64_t cycles = 0; ///< on full lanes
};

/// Of `same`, operands of the whole program as bits, those of a part.
std::uint32_t same_of(const ChainPart &part, std::uint32_t same) {
  std::uint32_t of_part = 0;
  for (std::size_t i = 0; i < part.operands.size(); ++i)
    of_part |= (same >> part.operands[i] & 1U) << i;
  return of_part;
}

/// Empty if there are more variables than tiles.
std::optional<Parts> parts_of(const Program &program, const LaneShape &full, const NpuConfig &npu) {
  Parts all;
  try {
    for (const unsigned loop : loops_of(program)) {
      all.parts.push_back(chain_part(program, loop, true, true, 0));
      const ChainPart &part = all.parts.back();
      all.cycles += lane_cycles(part.program, {full.strips, full.steps, same_of(part, full.same)}, npu);
    }
  } catch (const std::length_error &) {
    return std::nullopt;
  }
  return all;
}

} // namespace

std::optional<SplitProgram> split_program(const Program &program, unsigned operands, unsigned results,
                                          std::uint32_t steps, std::uint32_t same, const NpuConfig &npu) {
  const LaneShape full{std::size_t{4} * npu.vector_groups, steps, same};
  std::optional<Program> best = program;
  Parts least;
  least.cycles = lane_cycles(program, full, npu);
  SplitProgram split;
  for (; best && operands + split.kept < kTiles && results + split.kept < kOutputs; split.kept += best ? 1 : 0) {
    const Program from = std::move(*best);
    best.reset();
    for_each_keeping(from, operands + split.kept, results + split.kept, [&](const Program &keeps) {
      std::optional<Parts> parts = parts_of(keeps, full, npu);
      if (!parts || parts->cycles >= least.cycles) return;
      least = std::move(*parts);
      best = keeps;
    });
  }
  if (split.kept == 0) return std::nullopt;
  split.parts = std::move(least.parts);
  return split;
}

} // namespace gradweave::compiler
