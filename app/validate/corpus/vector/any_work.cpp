#include "app/validate/corpus/vector/any_work.hpp"

#include "app/validate/corpus/vector/tile_work.hpp"
#include "sw_models/vector/random_program.hpp"

#include <algorithm>
#include <optional>

namespace gradweave::corpus {
namespace {

using isa::vector::kSections;
using isa::vector::kTiles;
using isa::vector::Program;
using isa::vector::Words;

constexpr std::uint64_t kMostCycles = 4000; // of a command, roughly

/// A window of the sizes or more, if one in this form fits into the scratchpad.
std::optional<isa::VectorTile> place(isa::VectorTile t, const VectorWork &work, const NpuConfig &npu, Dice &dice) {
  const std::uint32_t elements = t.same_element ? 1 : work.elements, steps = t.same_step ? 1 : work.steps;
  t.rows = t.by_col ? elements : steps;
  t.cols = t.by_col ? steps : elements;
  if (dice.chance(0.2)) t.rows += dice.between(0, 3);
  if (dice.chance(0.2)) t.cols += dice.between(0, 3);
  t.col = dice.chance(0.5) ? 0 : dice.between(0, npu.lanes() - 1);
  const std::uint32_t height = t.rows * (t.fp32 ? 2 : 1), others = (t.col + t.cols - 1) / npu.lanes();
  t.spm.pstride = height + (dice.chance(0.5) ? 0 : 2 * dice.between(0, 4));
  const std::uint64_t extent = std::uint64_t{others} * t.spm.pstride + height;
  if (extent > npu.spm_rows()) return std::nullopt;
  t.spm.row = dice.between(0, static_cast<std::uint32_t>(npu.spm_rows() - extent));
  if (t.fp32) t.spm.row = t.spm.row / 2 * 2;
  t.spm.rot = static_cast<isa::Lane>(dice.below(npu.lanes()));
  return t;
}

isa::VectorTile draw_tile(unsigned slot, const VectorWork &work, const NpuConfig &npu, Dice &dice) {
  for (int attempt = 0;; ++attempt) {
    isa::VectorTile t;
    t.slot = slot;
    t.fp32 = dice.chance(0.5);
    t.by_col = dice.chance(0.5);
    t.same_element = slot < kTiles && (dice.chance(0.15) || attempt > 8);
    t.same_step = dice.chance(0.15) || attempt > 8;
    if (const auto placed = place(t, work, npu, dice)) return *placed;
  }
}

/// Of a program's every section.
unsigned mask_of(const Program &program) {
  unsigned mask = 0;
  for (const auto &section : program.sections)
    mask |= isa::vector::mask_of(section);
  return mask;
}

Program draw_program(VectorSize size, Dice &dice) {
  vector::ProgramLimits limits;
  limits.instructions = size == VectorSize::kTiny ? 2 : dice.chance(0.5) ? 3 : 12;
  limits.tiles = dice.between(1, kTiles);
  limits.outputs = dice.between(1, isa::vector::kOutputs);
  for (;;) {
    Program program = vector::random_program(dice, limits);
    if (size == VectorSize::kAny) return program;
    for (unsigned s = 2; s < kSections; ++s)
      program.sections[s].clear();
    if (!program.sections[0].empty() || !program.sections[1].empty()) return program;
  }
}

/// Around multiples of what the unit works on at once, or any.
std::uint32_t draw_elements(const NpuConfig &npu, Dice &dice) {
  const std::uint32_t group = 4 * npu.vector_groups * npu.lanes(), most = 5 * group / 2;
  if (dice.chance(0.3)) return std::max(1U, group * dice.between(1, 2) + dice.between(0, 2) - 1);
  return dice.chance(0.5) ? dice.between(1, 2 * npu.lanes()) : dice.between(1, most);
}

void draw_sizes(VectorWork &work, const Program &program, const NpuConfig &npu, Dice &dice) {
  work.elements = draw_elements(npu, dice);
  work.steps = dice.chance(0.5) ? dice.between(1, 5) : dice.between(1, 40);
  const std::uint32_t group = 4 * npu.vector_groups * npu.lanes();
  while (turns_of(program, work.steps) * ((work.elements + group - 1) / group) > kMostCycles &&
         (work.steps > 1 || work.elements > group)) {
    work.steps = (work.steps + 1) / 2;
    work.elements = std::max(work.elements / 2, std::min(work.elements, group));
  }
}

VectorWork draw(const Program &program, const NpuConfig &npu, VectorSize size, Dice &dice) {
  VectorWork work;
  if (size == VectorSize::kTiny) {
    work.elements = dice.between(1, 3);
    work.steps = dice.between(1, 2);
  } else {
    draw_sizes(work, program, npu, dice);
  }
  const unsigned mask = mask_of(program);
  for (unsigned slot = 0; slot < isa::kSlots; ++slot)
    if ((mask >> slot & 1U) != 0) work.tiles.push_back(draw_tile(slot, work, npu, dice));
  work.words = isa::vector::encode(program);
  return work;
}

using Fault = std::optional<isa::vector::Fault>;

bool same(const Fault &a, const Fault &b) {
  return a.has_value() == b.has_value() && (!a || (a->code == b->code && a->index == b->index));
}

/// Whether the words have a fault that depends neither on where they lie in the memory nor on what is behind them.
bool surely_faulty(const Words &words) {
  const Fault here = isa::vector::check(words, words.size());
  if (!here) return false;
  for (const std::uint64_t behind : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{0x4001}}) {
    Words memory = words;
    memory.resize(isa::kProgramWords, behind);
    if (!same(here, isa::vector::check(memory, memory.size()))) return false;
  }
  return true;
}

void break_words(Words &words, Dice &dice) {
  const Words right = words;
  do {
    words = right;
    for (std::uint64_t i = 1 + dice.below(2); i > 0; --i) {
      std::uint64_t &word = words[dice.chance(0.3) ? dice.below(2) : dice.below(words.size())];
      if (dice.chance(0.7))
        word ^= std::uint64_t{1} << dice.below(64);
      else
        word = words[dice.below(words.size())];
    }
  } while (!surely_faulty(words));
}

/// Makes one of the tiles too small for the command; false if none can be.
bool shrink_a_tile(VectorWork &work, Dice &dice) {
  if (work.tiles.empty()) return false;
  isa::VectorTile &t = work.tiles[dice.below(work.tiles.size())];
  const bool steps = dice.chance(0.5);
  if (steps ? t.same_step || work.steps == 1 : t.same_element || work.elements == 1) return false;
  (steps == t.by_col ? t.cols : t.rows) = (steps ? work.steps : work.elements) - 1;
  return true;
}

} // namespace

VectorWork draw_any_work(const UnitWriter &unit, const NpuConfig &npu, VectorSize size, Dice &dice) {
  if (!unit.programs().empty() && size == VectorSize::kAny && dice.chance(0.4))
    return draw(isa::vector::decode(unit.programs()[dice.below(unit.programs().size())]), npu, size, dice);
  return draw(draw_program(size, dice), npu, size, dice);
}

VectorWork draw_faulty_work(const UnitWriter &unit, const NpuConfig &npu, Dice &dice) {
  VectorWork work = draw(draw_program(VectorSize::kAny, dice), npu, VectorSize::kAny, dice);
  if (dice.chance(0.2) && shrink_a_tile(work, dice)) return work;
  if (dice.chance(0.2)) {
    const std::size_t which = dice.below(std::max<std::size_t>(work.tiles.size(), 1));
    if (which < work.tiles.size() && !unit.holds(work.tiles[which].slot)) {
      work.tiles.erase(work.tiles.begin() + static_cast<std::ptrdiff_t>(which));
      return work;
    }
  }
  break_words(work.words, dice);
  return work;
}

} // namespace gradweave::corpus
