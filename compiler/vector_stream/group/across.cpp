#include "compiler/vector_stream/group/across.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "compiler/vector_stream/stage/places.hpp"

#include <algorithm>
#include <stdexcept>

namespace gradweave::compiler {
namespace {

isa::vector::Mask results_in(const std::vector<isa::vector::Instruction> &section) {
  return static_cast<isa::vector::Mask>(isa::vector::mask_of(section) >> isa::vector::kTiles);
}

/// What is run once behind the loop has the last part's first step.
bool reads_steps_behind(const Stage &chain, unsigned loop) {
  for (unsigned s = loop + 1; s < isa::vector::kSections; ++s)
    for (std::size_t i = 0; i < chain.operands.size(); ++i)
      if ((isa::vector::mask_of(chain.program->sections[s]) >> i & 1U) != 0 && chain.operands[i].step != 0) return true;
  return false;
}

} // namespace

std::optional<Stage> across_of(const Stage &chain) {
  const std::vector<unsigned> loops = loops_of(*chain.program);
  if (chain.elementwise || loops.size() != 1 || chain.steps > kMostInField || chain.lanes > kMostInField ||
      results_in(chain.program->sections[loops[0]]) != 0 || reads_steps_behind(chain, loops[0]) ||
      std::any_of(chain.results.begin(), chain.results.end(), [](const StridedTile &t) { return t.step != 0; }))
    return std::nullopt;
  Stage across = exchanged(chain);
  across.across = true;
  try {
    for (const std::size_t lane : {std::size_t{0}, across.lanes / 2, across.lanes - 1})
      part_across(across, lane, 1);
  } catch (const std::length_error &) {
    return std::nullopt;
  }
  return across;
}

ChainPart part_across(const Stage &stage, std::size_t lane, std::size_t count) {
  return chain_part(*stage.program, loops_of(*stage.program).front(), lane == 0, lane + count == stage.lanes,
                    static_cast<std::uint32_t>(lane));
}

std::map<unsigned, std::size_t> handed_on(const Stage &stage) {
  std::map<unsigned, std::size_t> places;
  const unsigned loop = loops_of(*stage.program).front();
  for (const bool first : {true, false})
    for (const unsigned reg : chain_part(*stage.program, loop, first, false, 0).saved)
      places.try_emplace(reg, places.size());
  return places;
}

std::vector<isa::VectorTile> views_across(const Stage &stage, const ChainPart &part, const GroupTiles &tiles,
                                          std::size_t s) {
  const Stage walked = exchanged(stage);
  std::vector<isa::VectorTile> views;
  for (std::uint32_t i = 0; i < part.operands.size(); ++i)
    views.push_back(view_of(walked.operands[part.operands[i]], tiles.tiles[tiles.operands[s][part.operands[i]]], i));
  for (std::uint32_t o = 0; o < part.results.size(); ++o)
    views.push_back(view_of(walked.results[part.results[o]], tiles.tiles[tiles.results[s][part.results[o]]],
                            isa::kOperandSlots + o));
  return views;
}

void leave_sums(const JobGroup &group, GroupTiles &tiles) {
  for (std::size_t s = 0; s < group.stages.size(); ++s)
    if (group.stages[s].across)
      for (const std::size_t tile : tiles.results[s])
        tiles.stored[tile] = false;
}

std::vector<isa::VectorTile> tiles_handed_on(const ChainPart &part, const HandedOn &lines) {
  std::vector<isa::VectorTile> tiles;
  const auto add = [&](unsigned reg, std::size_t slot) {
    isa::VectorTile t;
    t.slot = static_cast<std::uint32_t>(slot);
    t.spm.row = static_cast<std::uint32_t>(lines.first_row + lines.places.at(reg) * 2 * lines.strips);
    t.spm.pstride = 2;
    t.rows = 1;
    t.cols = static_cast<std::uint32_t>(lines.lanes);
    t.fp32 = t.same_step = true;
    tiles.push_back(t);
  };
  for (std::size_t i = 0; i < part.restored.size(); ++i)
    add(part.restored[i], part.operands.size() + i);
  for (std::size_t i = 0; i < part.saved.size(); ++i)
    add(part.saved[i], isa::kOperandSlots + part.results.size() + i);
  return tiles;
}

std::size_t rows_handed_on(const Stage &stage, const NpuConfig &npu) {
  return handed_on(stage).size() * 2 * divide_up(stage.steps, npu.lanes());
}

} // namespace gradweave::compiler
