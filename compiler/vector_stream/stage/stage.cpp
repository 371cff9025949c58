#include "compiler/vector_stream/stage/stage.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::compiler {
namespace {

bool is_number(const StridedTile &t) { return t.lane == 0 && t.step == 0; }

/// Element by element along the lanes, line by line.
bool is_dense(const StridedTile &t, const Stage &stage) {
  return (stage.lanes == 1 || t.lane == 1) && (stage.steps == 1 || t.step == stage.lanes);
}

template <typename F> void for_tiles(Stage &stage, const F &f) {
  for (auto *tiles : {&stage.operands, &stage.results})
    for (StridedTile &t : *tiles)
      f(t);
}

template <typename F> bool all_tiles(const Stage &stage, const F &f) {
  return std::all_of(stage.operands.begin(), stage.operands.end(), f) &&
         std::all_of(stage.results.begin(), stage.results.end(), f);
}

/// Strides of what there is one of are none.
void normalise(Stage &stage) {
  for_tiles(stage, [&](StridedTile &t) {
    if (stage.lanes == 1) t.lane = 0;
    if (stage.steps == 1) t.step = 0;
  });
}

StridedTile strided(const JobTile &tile, const std::vector<JobValue> &values) {
  const bool rows = tile.line == LineOf::kRow;
  StridedTile s;
  s.value = tile.value;
  s.first = tile.first;
  s.lane = !tile.lanes_move ? 0 : rows ? 1 : tile.pitch;
  s.step = !tile.steps_move ? 0 : rows ? tile.pitch : 1;
  s.fp32 = values[tile.value].type != graph::ElementType::kBf16;
  s.elements = values[tile.value].elements;
  return s;
}

/// Whether lines of the tile are rows.
bool lies_by_row(const StridedTile &t) { return t.lane <= 1 && !(t.lane == 0 && t.step == 1); }

} // namespace

Stage stage_of(const OpJobs &jobs, const VectorJob &job) {
  Stage stage;
  stage.program = &jobs.programs[job.program];
  stage.lanes = job.lanes;
  stage.steps = job.steps;
  for (const JobTile &t : job.operands)
    stage.operands.push_back(strided(t, jobs.values));
  for (const JobTile &t : job.results)
    stage.results.push_back(strided(t, jobs.values));
  normalise(stage);
  stage.elementwise = job.elementwise && std::all_of(stage.results.begin(), stage.results.end(), [&](const auto &t) {
                        return (stage.lanes == 1 || t.lane != 0) && (stage.steps == 1 || t.step != 0);
                      });
  return stage;
}

std::uint32_t same_in_lanes(const Stage &stage) {
  std::uint32_t same = 0;
  for (std::size_t i = 0; i < stage.operands.size(); ++i)
    same |= stage.operands[i].lane == 0 ? 1U << i : 0U;
  return same;
}

bool reads_before(const isa::vector::Program &program, std::size_t operand, std::size_t result) {
  std::size_t last_read = 0, first_write = program.sections.size();
  for (std::size_t s = 0; s < program.sections.size(); ++s) {
    const unsigned mask = isa::vector::mask_of(program.sections[s]);
    if ((mask >> operand & 1U) != 0) last_read = s;
    if ((mask >> (isa::vector::kTiles + result) & 1U) != 0) first_write = std::min(first_write, s);
  }
  return last_read <= first_write;
}

AreaTile tile_of(const StridedTile &t, const StridedArea &area) {
  AreaTile a;
  a.value = t.value;
  a.period = static_cast<std::uint32_t>(t.period);
  if (t.period != 0) a.phase = static_cast<std::uint32_t>(area.lane % t.period);
  a.first = t.first + (t.period == 0 ? area.lane * t.lane : 0) + area.step * t.step;
  const auto lanes = static_cast<std::uint32_t>(t.lane == 0 ? 1 : area.lanes);
  const auto steps = static_cast<std::uint32_t>(t.step == 0 ? 1 : area.steps);
  const bool by_row = lies_by_row(t);
  a.pitch = by_row ? t.step : t.lane;
  a.rows = by_row ? steps : lanes;
  a.cols = by_row ? lanes : steps;
  a.fp32 = t.fp32;
  return a;
}

isa::VectorTile view_of(const StridedTile &strided, const AreaTile &tile, std::uint32_t slot) {
  isa::VectorTile v;
  v.slot = slot;
  v.spm = tile.spm;
  v.rows = tile.rows;
  v.cols = tile.cols;
  v.fp32 = tile.fp32;
  v.by_col = !lies_by_row(strided);
  v.same_element = strided.lane == 0 && slot < isa::kOperandSlots;
  v.same_step = strided.step == 0;
  return v;
}

isa::VectorTile window_of(const StridedTile &strided, const AreaTile &tile, std::uint32_t slot, const Window &window) {
  isa::VectorTile v = view_of(strided, tile, slot);
  const auto row = static_cast<std::uint32_t>(window.row);
  v.spm.row += static_cast<std::uint32_t>(window.col / window.lanes) * tile.spm.pstride + row * (tile.fp32 ? 2 : 1);
  v.spm.rot = static_cast<isa::Lane>((v.spm.rot + row) % window.lanes);
  v.rows -= row;
  v.col = static_cast<std::uint32_t>(window.col % window.lanes);
  v.cols = static_cast<std::uint32_t>(window.cols);
  return v;
}

Stage exchanged(Stage stage) {
  std::swap(stage.lanes, stage.steps);
  for_tiles(stage, [](StridedTile &t) { std::swap(t.lane, t.step); });
  return stage;
}

bool is_flat(const Stage &stage) {
  return all_tiles(stage, [&](const StridedTile &t) { return is_number(t) || is_dense(t, stage); });
}

Stage flat_part(const Stage &stage, std::size_t first, std::size_t count, std::size_t lanes) {
  Stage part = stage;
  part.lanes = lanes;
  part.steps = count / lanes;
  const bool is_one = stage.lanes * stage.steps == 1;
  for_tiles(part, [&](StridedTile &t) {
    if (is_number(t) && !is_one) return;
    t.first += first;
    t.lane = 1;
    t.step = lanes;
  });
  normalise(part);
  return part;
}

bool is_periodic(const Stage &stage) {
  return all_tiles(
      stage, [&](const StridedTile &t) { return is_number(t) || is_dense(t, stage) || (t.lane == 1 && t.step == 0); });
}

Stage periodic_part(const Stage &stage, std::size_t first, std::size_t lines, std::size_t merged) {
  Stage part = stage;
  part.lanes = stage.lanes * merged;
  part.steps = lines / merged;
  for_tiles(part, [&](StridedTile &t) {
    if (is_number(t)) return;
    if (t.step == 0) {
      t.period = stage.lanes;
      return;
    }
    t.first += first * t.step;
    t.lane = 1;
    t.step *= merged;
  });
  normalise(part);
  return part;
}

} // namespace gradweave::compiler
