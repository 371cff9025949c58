#include "compiler/strips/strip_sums.hpp"

#include "compiler/vector_stream/stage/result_slice.hpp"

#include <algorithm>
#include <stdexcept>

namespace gradweave::compiler {
namespace {

using Kind = StripTile::Kind;
using isa::vector::Program;

} // namespace

void StripSums::begin_slots(std::size_t set) {
  slot_set_ = set;
  loaded_lines_.clear();
  there_.clear();
}

/// Matrices that are summed after one another have the slot by turns.
std::vector<std::size_t> StripSums::missing(std::size_t slot, const std::vector<std::size_t> &values) {
  std::set<std::size_t> &there = there_[slot];
  std::vector<std::size_t> all;
  const auto is_asked_for = [&](std::size_t value) {
    return std::find(values.begin(), values.end(), value) != values.end();
  };
  if (!std::all_of(there.begin(), there.end(), is_asked_for)) there.clear();
  for (const std::size_t value : values)
    if (there.insert(value).second) all.push_back(value);
  return all;
}

std::vector<StripSums::Slot> StripSums::slots_with(const Bundles &bundles, const std::vector<std::size_t> &values) {
  std::vector<Slot> all;
  for (std::size_t b = 0; b < bundles.count; ++b)
    if (layout_.passes(bundles.first))
      all.push_back({layout_.bundle(bundles.first + b), layout_.slots().kept + b, values});
    else
      all.push_back({layout_.bundle(bundles.first + b), bundles.first + b, missing(bundles.first + b, values)});
  return all;
}

StripSums::SlotRows StripSums::slot_rows(std::size_t value, std::size_t slot, const Rows &rows) const {
  if (layout_.passes(slot)) {
    const StripPlace place = layout_.passing(passing_place_, value, slot);
    return {{place.row, layout_.pstride(value, slot), 0}, {place.region, 1}};
  }
  const StripPlace place = layout_.slot(slot_set_, value, slot);
  return {{place.row + static_cast<std::uint32_t>(rows.first * (is_fp32(value) ? 2 : 1)), layout_.pstride(value, slot),
           static_cast<isa::Lane>(rows.first % npu_.lanes())},
          {place.region + rows.first / cut_.block_rows, 1}};
}

void StripSums::load_missing(const std::vector<Slot> &slots, const Rows &rows) {
  if (layout_.passes(slots.front().at)) passing_place_ = (passing_place_ + 1) % StripLayout::kPassingPlaces;
  for (const Slot &slot : slots)
    for (const std::size_t value : slot.missing) {
      const SlotRows place = slot_rows(value, slot.at, rows);
      load(matrix_dmas(value, slot.bundle, rows.first, rows.count, false, place.spm), place.regions);
    }
}

void StripSums::load_lines(const StripStage &stage) {
  for (const StripTile &t : stage.operands) {
    if (t.kind != Kind::kLine && t.kind != Kind::kNumber) continue;
    if (!loaded_lines_.insert({t.kind == Kind::kNumber, t.value, t.index}).second) continue;
    StripPlace place = layout_.line(line_set_, t, t.index);
    const std::size_t first = place.region, copies = layout_.copies(t);
    std::vector<isa::DmaCommand> dmas{line_dma(t, false, place)};
    for (std::size_t copy = layout_.first_is_line() ? 1 : 0; copy < copies && copies > 1; ++copy) {
      place = layout_.copy(line_set_, t, copy);
      dmas.push_back(line_dma(t, false, place));
    }
    load(dmas, {first, place.region + 1 - first});
  }
}

void StripSums::add_sums(const StripPass &pass, const Bundles &bundles) {
  const PartBundle last = layout_.bundle(bundles.first + bundles.count - 1);
  PartBundle parts = layout_.bundle(bundles.first);
  parts.count = last.first + last.count - parts.first;
  const StripStage &stage = pass.stages[parts.first];
  std::vector<std::size_t> values;
  for (const StripTile &t : stage.operands)
    if (t.kind == Kind::kMatrix) values.push_back(t.value);
  const std::vector<Slot> slots = slots_with(bundles, values);
  const std::size_t step = cut_.block_rows;
  std::vector<Program> sums{*stage.program};
  if (step < stage.rows) sums = chains_of(stage);
  begin_chains();
  for (std::size_t first = 0; first < stage.rows; first += step) {
    const Rows rows{first, std::min(step, stage.rows - first)};
    load_missing(slots, rows);
    load_lines(stage);
    StripItem item;
    for (std::size_t sum = 0; sum < sums.size(); ++sum)
      item.runs.push_back(run_of_sums(stage, {sums[sum], sum}, slots, rows, parts.count));
    if (first + rows.count == stage.rows)
      for (const StripTile &t : stage.results)
        for (std::size_t p = 0; p < parts.count; ++p)
          give_line({t.kind, t.value, t.index + p}, item);
    out_.items.push_back(std::move(item));
  }
}

void StripSums::give_line(const StripTile &line, StripItem &item) {
  loaded_lines_.insert({false, line.value, line.index});
  const StripPlace place = layout_.line(line_set_, line, line.index);
  if (jobs_.in_memory[line.value]) item.stores.push_back({line_dma(line, true, place), {place.region, 1}});
  if (layout_.copies(line) == 1) return;
  for (std::size_t first = 0; first < cut_.abreast; ++first) {
    std::vector<std::size_t> copies; // of which no two share a panel
    for (std::size_t copy = first; copy < layout_.copies(line); copy += cut_.abreast)
      if (copy > 0 || !layout_.first_is_line()) copies.push_back(copy);
    repeat(line, copies, item);
  }
}

void StripSums::repeat(const StripTile &line, const std::vector<std::size_t> &copies, StripItem &item) {
  for (std::size_t at = 0; at < copies.size();) {
    const std::size_t count = std::min<std::size_t>(isa::vector::kOutputs, copies.size() - at);
    Program program;
    Tiles tiles;
    add_line(line, line.index, 1, tiles.operands, tiles.reads);
    StripStage stage{&program, 0, 1, true, {line}, {}};
    for (std::size_t o = 0; o < count; ++o, ++at) {
      isa::vector::Instruction i;
      i.d = static_cast<std::uint8_t>(isa::vector::kOutputCode + o);
      i.operands[0] = i.operands[1] = isa::vector::tile(0);
      program.sections[0].push_back(i);
      stage.results.push_back(line);
      const StripPlace place = layout_.copy(line_set_, line, copies[at]);
      tiles.results.push_back(area_tile(place.row, 2, 1, cols_, is_fp32(line.value)));
      tiles.results.back().spm.rot = static_cast<isa::Lane>(place.lane);
      tiles.writes.push_back({place.region, 1});
    }
    item.runs.push_back(run_of(stage, cols_, 1, tiles));
  }
}

ChainPart StripSums::part_of(const StripStage &stage, const Chain &chain, const Rows &rows) {
  const bool first = rows.first == 0, last = rows.first + rows.count == stage.rows;
  if (!first || !last)
    return chain_part(chain.program, loops_of(chain.program).front(), first, last,
                      static_cast<std::uint32_t>(rows.first));
  ChainPart all;
  all.program = chain.program;
  for (unsigned o = 0; o < stage.operands.size(); ++o)
    all.operands.push_back(o);
  for (unsigned o = 0; o < stage.results.size(); ++o)
    all.results.push_back(o);
  return all;
}

/// Some of a stage's rows, of all that are summed at once. Registers go on from those before to those behind.
StripRun StripSums::run_of_sums(const StripStage &stage, const Chain &chain, const std::vector<Slot> &slots,
                                const Rows &rows, std::size_t parts) {
  const ChainPart part = part_of(stage, chain, rows);
  const std::size_t lanes = lanes_of(parts);
  StripStage some{&part.program, 0, rows.count, false, {}, {}};
  Tiles tiles;
  for (const unsigned o : part.operands) {
    const StripTile &t = some.operands.emplace_back(stage.operands[o]);
    if (t.kind != Kind::kMatrix) {
      add_copies(t, parts, tiles.operands, tiles.reads);
      continue;
    }
    const SlotRows begin = slot_rows(t.value, slots.front().at, rows);
    tiles.operands.push_back(area_tile(begin.spm.row, begin.spm.pstride, rows.count, lanes, is_fp32(t.value)));
    tiles.operands.back().spm.rot = begin.spm.rot;
    for (const Slot &slot : slots)
      tiles.reads.push_back(slot_rows(t.value, slot.at, rows).regions);
  }
  for (const unsigned o : part.results) {
    const StripTile &t = some.results.emplace_back(stage.results[o]);
    add_line(t, t.index, parts, tiles.results, tiles.writes);
  }
  StripRun run = run_of(some, lanes, rows.count, tiles);
  add_states(part.restored, chain.number, lanes, part.operands.size(), run, run.reads);
  add_states(part.saved, chain.number, lanes, isa::kOperandSlots + part.results.size(), run, run.writes);
  return run;
}

/// A program for each of the stage's results: with the variables of all there would be too many tiles. It can be cut
/// unless what is run behind the loop reads rows: it has the first step's.
std::vector<Program> StripSums::chains_of(const StripStage &stage) {
  const std::vector<unsigned> loops = loops_of(*stage.program);
  if (loops.size() != 1) throw std::length_error("a chain over parts has several loops");
  for (unsigned s = loops.front() + 1; s < isa::vector::kSections; ++s)
    for (std::size_t o = 0; o < stage.operands.size(); ++o)
      if ((isa::vector::mask_of(stage.program->sections[s]) >> o & 1U) != 0 && stage.operands[o].kind == Kind::kMatrix)
        throw std::length_error("what stands behind a chain's loop reads rows");
  std::vector<Program> chains;
  for (unsigned o = 0; o < stage.results.size(); ++o) {
    chains.push_back(result_slice(*stage.program, o));
    if (loops_of(chains.back()).size() != 1) throw std::length_error("a result needs no loop");
  }
  return chains;
}

void StripSums::add_states(const std::vector<unsigned> &registers, std::size_t chain, std::size_t lanes,
                           std::size_t slot, StripRun &run, std::vector<RegionRange> &regions) {
  for (const unsigned reg : registers) {
    const std::size_t variable = states_.try_emplace({chain, reg}, states_.size()).first->second;
    if (variable >= StripLayout::kStateLines) throw std::length_error("chains have more variables than places");
    const StripPlace place = layout_.state(variable);
    isa::VectorTile t;
    t.slot = static_cast<std::uint32_t>(slot++);
    t.spm = {place.row, 2, 0};
    t.rows = 1;
    t.cols = static_cast<std::uint32_t>(lanes);
    t.fp32 = t.same_step = true;
    run.tiles.push_back(t);
    regions.push_back({place.region, 1});
    touch(regions.back());
  }
}

} // namespace gradweave::compiler
