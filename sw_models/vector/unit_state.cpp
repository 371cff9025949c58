#include "sw_models/vector/unit_state.hpp"

#include <algorithm>

namespace gradweave::vector {
namespace {

using isa::kSlots;
using isa::vector::Fault;
using isa::vector::FaultCode;
using isa::vector::kSections;
using isa::vector::Words;

constexpr std::uint32_t kMasksWord = 1;

/// The sections that use a slot, by the program's word of masks.
TileUse sections_with(const Words &words, unsigned slot, std::uint32_t steps) {
  TileUse use;
  use.first_section = kSections;
  for (unsigned section = 0; section < kSections; ++section) {
    if ((words[kMasksWord] >> (section * kSlots + slot) & 1U) == 0) continue;
    use.first_section = std::min(use.first_section, section);
    use.last_section = section;
    use.in_loop = use.in_loop || section % 2 == 1;
    use.lines += section % 2 == 1 ? steps : 1;
  }
  return use;
}

bool is_used(const TileUse &use) { return use.first_section != kSections; }

/// Why a slot's tile is none for the command; empty if it is one.
std::string refuse(const isa::VectorTile &tile, const isa::VectorCommand &run) {
  if (tile.slot == isa::kNoSlot) return "is not described; describe it with a TILE of the same run";
  if (!tile.same_element && tile.elements() < run.elements)
    return "has " + std::to_string(tile.elements()) + " elements, and the command " + std::to_string(run.elements);
  if (!tile.same_step && tile.steps() < run.steps)
    return "has " + std::to_string(tile.steps()) + " steps, and the command " + std::to_string(run.steps);
  return {};
}

} // namespace

void UnitState::take(const isa::ProgramCommand &program) {
  std::copy_n(program.words.begin(), program.count, memory_.begin() + program.at);
}

void UnitState::take(const isa::TileCommand &tiles) {
  for (const isa::VectorTile &tile : tiles.tiles)
    if (tile.slot != isa::kNoSlot) slots_.at(tile.slot) = tile;
}

Words UnitState::words(std::uint32_t first) const { return {memory_.begin() + first, memory_.end()}; }

unsigned UnitState::same_elements() const {
  unsigned same = 0;
  for (unsigned slot = 0; slot < isa::kOperandSlots; ++slot)
    same |= slots_[slot].same_element ? 1U << slot : 0U;
  return same;
}

std::optional<Fault> UnitState::fault(const isa::VectorCommand &run) const {
  const Words memory = words(run.first);
  std::optional<Fault> of_program = isa::vector::check(memory, memory.size());
  if (of_program && of_program->index <= kMasksWord) return of_program;
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    if (!is_used(sections_with(memory, slot, run.steps))) continue;
    if (const std::string problem = refuse(slots_[slot], run); !problem.empty())
      return Fault{FaultCode::TILE, kMasksWord, "word 1: " + isa::slot_name(slot) + " " + problem};
  }
  return of_program;
}

std::vector<TileUse> UnitState::uses(const isa::VectorCommand &run) const {
  const Words memory = words(run.first);
  std::vector<TileUse> uses;
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    TileUse use = sections_with(memory, slot, run.steps);
    if (!is_used(use)) continue;
    use.tile = slots_[slot];
    const std::uint32_t elements = use.tile.same_element ? 1 : run.elements;
    const std::uint32_t steps = use.tile.same_step || !use.in_loop ? 1 : run.steps;
    use.rows = use.tile.by_col ? elements : steps;
    use.cols = use.tile.col + (use.tile.by_col ? steps : elements);
    uses.push_back(use);
  }
  return uses;
}

} // namespace gradweave::vector
