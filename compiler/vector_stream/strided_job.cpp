#include "compiler/vector_stream/strided_job.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::compiler {
namespace {

StridedTile strided(const JobTile &tile, std::uint32_t slot, const std::vector<JobValue> &values) {
  const bool rows = tile.line == LineOf::kRow;
  StridedTile s;
  s.value = tile.value;
  s.first = tile.first;
  s.lane = !tile.lanes_move ? 0 : rows ? 1 : tile.pitch;
  s.step = !tile.steps_move ? 0 : rows ? tile.pitch : 1;
  s.slot = slot;
  s.fp32 = values[tile.value].type != graph::ElementType::kBf16;
  return s;
}

bool is_number(const StridedTile &t, const StridedJob &job) {
  return (job.lanes == 1 || t.lane == 0) && (job.steps == 1 || t.step == 0);
}

/// Element by element along the lanes, line by line.
bool is_dense(const StridedTile &t, const StridedJob &job) {
  return (job.lanes == 1 || t.lane == 1) && (job.steps == 1 || t.step == job.lanes);
}

} // namespace

StridedJob strided(const VectorJob &job, const std::vector<JobValue> &values) {
  StridedJob s{job.lanes, job.steps, {}};
  for (std::uint32_t i = 0; i < job.operands.size(); ++i)
    s.tiles.push_back(strided(job.operands[i], i, values));
  for (std::uint32_t o = 0; o < job.results.size(); ++o)
    s.tiles.push_back(strided(job.results[o], isa::kOperandSlots + o, values));
  return s;
}

AreaTile tile_of(const StridedTile &t, const StridedArea &area) {
  AreaTile a;
  a.value = t.value;
  a.first = t.first + area.lane * t.lane + area.step * t.step;
  const bool by_row = t.lane <= 1 && !(t.lane == 0 && t.step == 1);
  const auto lanes = static_cast<std::uint32_t>(t.lane == 0 ? 1 : area.lanes);
  const auto steps = static_cast<std::uint32_t>(t.step == 0 ? 1 : area.steps);
  a.pitch = by_row ? t.step : t.lane;
  a.tile.slot = t.slot;
  a.tile.rows = by_row ? steps : lanes;
  a.tile.cols = by_row ? lanes : steps;
  a.tile.fp32 = t.fp32;
  a.tile.by_col = !by_row;
  a.tile.same_element = t.lane == 0 && !t.is_result();
  a.tile.same_step = t.step == 0;
  return a;
}

StridedJob exchanged(StridedJob job) {
  std::swap(job.lanes, job.steps);
  for (StridedTile &t : job.tiles)
    std::swap(t.lane, t.step);
  return job;
}

bool is_flat(const StridedJob &job) {
  return std::all_of(job.tiles.begin(), job.tiles.end(),
                     [&](const StridedTile &t) { return is_number(t, job) || is_dense(t, job); });
}

StridedJob flat_part(const StridedJob &job, std::size_t first, std::size_t count, std::size_t lanes) {
  StridedJob part{lanes, count / lanes, job.tiles};
  for (StridedTile &t : part.tiles) {
    const bool number = is_number(t, job) && job.lanes * job.steps > 1;
    t.first += number ? 0 : first;
    t.lane = number ? 0 : 1;
    t.step = number ? 0 : lanes;
  }
  return part;
}

} // namespace gradweave::compiler
