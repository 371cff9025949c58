#include "compiler/vector_stream/group/group.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "compiler/vector_stream/group/windows.hpp"
#include "compiler/vector_stream/stage/held_lines.hpp"
#include "compiler/vector_stream/stage/lane_cycles.hpp"
#include "compiler/vector_stream/stage/places.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::compiler {
namespace {

constexpr std::size_t kNone = ~std::size_t{0};

/// Chooses tiles stage by stage. A result is a tile of its own, so that no program writes what it reads.
class TileChoice {
public:
  TileChoice(const JobGroup &group, const StridedArea &area) : group_(group), area_(area) {
    if (group.windows) rows_ = rows_of_windows(group.stages);
    of_rows_.assign(rows_.size(), kNone);
    of_covers_.assign(group.covers.size(), kNone);
  }

  GroupTiles run() {
    for (const Stage &stage : group_.stages) {
      std::vector<std::size_t> operands, results;
      for (const StridedTile &t : stage.operands)
        operands.push_back(read(t, stage));
      for (const StridedTile &t : stage.results)
        results.push_back(write(t, stage));
      out_.operands.push_back(std::move(operands));
      out_.results.push_back(std::move(results));
    }
    return std::move(out_);
  }

private:
  std::size_t newest(const StridedTile &t, const Stage &stage) const {
    for (std::size_t i = of_.size(); i-- > 0;)
      if (of_[i] == t && (t.step == 0 || steps_[i] == stage.steps)) return i;
    return kNone;
  }

  std::size_t add(const StridedTile &t, const Stage &stage, bool loaded, bool stored) {
    StridedArea part = area_;
    if (!group_.is_elementwise()) part.steps = std::min(stage.steps, area_.steps);
    return add(t, stage.steps, part, loaded, stored);
  }

  std::size_t add(const StridedTile &t, std::size_t steps, const StridedArea &part, bool loaded, bool stored) {
    of_.push_back(t);
    steps_.push_back(steps);
    out_.tiles.push_back(tile_of(t, part));
    out_.first.push_back(t.first);
    out_.loaded.push_back(loaded);
    out_.covers.push_back(false);
    out_.stored.push_back(stored);
    return of_.size() - 1;
  }

  /// The tile of all the rows that it is a window of; kNone if it is none.
  std::size_t of_rows(const StridedTile &t) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!rows_[i].has(t)) continue;
      if (of_rows_[i] == kNone) {
        const WindowRows &rows = rows_[i];
        StridedArea part = area_;
        part.step = 0;
        part.steps = rows.cols;
        of_rows_[i] = add(rows.tile, rows.cols, part, !rows.written, rows.written && group_.in_memory[t.value]);
      }
      return of_rows_[i];
    }
    return kNone;
  }

  /// The tile of what covers it; kNone if nothing does.
  std::size_t of_cover(const StridedTile &t, const Stage &stage) {
    for (std::size_t i = 0; i < group_.covers.size(); ++i) {
      const Cover &cover = group_.covers[i];
      if (!cover.has(t)) continue;
      StridedArea part = area_;
      part.lanes += cover.more_lanes;
      part.steps += cover.more_steps;
      if (of_covers_[i] == kNone) {
        of_covers_[i] = add(cover.tile, stage.steps + cover.more_steps, part, true, false);
        out_.covers.back() = true;
      }
      return of_covers_[i];
    }
    return kNone;
  }

  std::size_t read(const StridedTile &t, const Stage &stage) {
    if (const std::size_t rows = of_rows(t); rows != kNone) return rows;
    if (const std::size_t cover = of_cover(t, stage); cover != kNone) return cover;
    const std::size_t found = newest(t, stage);
    return found != kNone ? found : add(t, stage, true, false);
  }

  std::size_t write(const StridedTile &t, const Stage &stage) {
    if (const std::size_t rows = of_rows(t); rows != kNone) return rows;
    const std::size_t earlier = newest(t, stage);
    if (earlier != kNone) out_.stored[earlier] = false;
    return add(t, stage, false, group_.in_memory[t.value]);
  }

  const JobGroup &group_;
  const StridedArea &area_;
  std::vector<StridedTile> of_; ///< each tile's, and the steps of its stage
  std::vector<std::size_t> steps_;
  std::vector<WindowRows> rows_;       ///< of a group of windows
  std::vector<std::size_t> of_rows_;   ///< the tile of each; kNone: not yet
  std::vector<std::size_t> of_covers_; ///< the same
  GroupTiles out_;
};

std::size_t strips_of(std::size_t lanes, const NpuConfig &npu) { return divide_up(lanes, npu.lanes()); }

std::uint64_t busy_cycles(const JobGroup &group, std::size_t lanes, const NpuConfig &npu) {
  std::uint64_t cycles = 0;
  for (const Stage &stage : group.stages)
    cycles += walk_of(stage, lanes, stage.steps, npu).cycles;
  return cycles;
}

} // namespace

bool JobGroup::is_elementwise() const {
  return !windows && std::all_of(stages.begin(), stages.end(), [](const Stage &s) { return s.elementwise; });
}

std::size_t JobGroup::steps() const {
  std::size_t most = 1;
  for (const Stage &stage : stages)
    most = std::max(most, stage.steps);
  return most;
}

StageWalk walk_of(const Stage &stage, std::size_t lanes, std::size_t steps, const NpuConfig &npu) {
  const auto best_of = [&npu](const Stage &walked, std::size_t of_lanes, std::size_t of_steps, bool turned) {
    const LaneShape shape{strips_of(of_lanes, npu), of_steps, same_in_lanes(walked)};
    const StageWalk reading{turned, false, lane_cycles(*walked.program, shape, npu)};
    if (walked.across) return reading;
    const StageWalk holding{turned, true, lane_cycles(*walked.program, shape, npu, held_lines(walked))};
    return holding.cycles < reading.cycles ? holding : reading;
  };
  if (stage.across) return best_of(exchanged(stage), steps, lanes, true);
  const StageWalk as_it_is = best_of(stage, lanes, steps, false);
  if (!stage.elementwise || steps > kMostInField || lanes > kMostInField) return as_it_is;
  const StageWalk other = best_of(exchanged(stage), steps, lanes, true);
  return other.cycles < as_it_is.cycles ? other : as_it_is;
}

WalkedStage walked_stage(const Stage &stage, const StageWalk &walk) {
  WalkedStage all{walk.exchanged ? exchanged(stage) : stage, *stage.program};
  if (walk.held) all.program = with_held_lines(std::move(all.program), held_lines(all.stage));
  return all;
}

GroupTiles tiles_of(const JobGroup &group, const StridedArea &area, const NpuConfig &npu) {
  GroupTiles all = TileChoice(group, area).run();
  for (AreaTile &t : all.tiles) {
    all.rows += all.rows % 2;
    t.spm.row = static_cast<std::uint32_t>(all.rows);
    t.spm.pstride = t.rows * (t.fp32 ? 2 : 1);
    all.rows += std::size_t{t.spm.pstride} * strips_of(t.cols, npu);
  }
  return all;
}

std::uint64_t moved_bytes(const GroupTiles &tiles) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < tiles.tiles.size(); ++i)
    if (tiles.loaded[i] || tiles.stored[i])
      bytes += std::uint64_t{tiles.tiles[i].rows} * tiles.tiles[i].cols * (tiles.tiles[i].fp32 ? 4 : 2);
  return bytes;
}

std::uint64_t bytes_of_beats(const GroupTiles &tiles, const NpuConfig &npu) {
  const std::uint64_t beat = npu.bus_bytes;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < tiles.tiles.size(); ++i) {
    if (!tiles.loaded[i] && !tiles.stored[i]) continue;
    const AreaTile &t = tiles.tiles[i];
    const std::uint64_t element = t.fp32 ? 4 : 2, row = t.cols * element;
    const bool aligned = t.first * element % beat == 0 && (t.rows == 1 || t.pitch * element % beat == 0);
    const bool whole = (aligned && row % beat == 0) || (t.rows > 1 && t.pitch == t.cols);
    bytes += t.rows * (whole ? row : row + beat - element);
  }
  return bytes;
}

std::size_t whole_beats(std::size_t count, std::size_t all, const NpuConfig &npu) {
  const std::size_t beat = npu.bus_bytes / 2;
  return count >= all || count < beat ? count : count / beat * beat;
}

bool fits(const JobGroup &group, std::size_t lanes, std::size_t steps, const NpuConfig &npu) {
  return lanes <= kMostInField && steps <= kMostInField &&
         tiles_of(group, {0, lanes, 0, steps}, npu).rows <= place_rows(npu);
}

ChainCut cut_of_chains(const JobGroup &group, const NpuConfig &npu) {
  ChainCut best;
  const std::size_t all = group.lanes();
  const auto consider = [&](std::size_t lanes) {
    const std::uint64_t busy = busy_cycles(group, lanes, npu);
    const std::uint64_t moving =
        bytes_of_beats(tiles_of(group, {0, lanes, 0, group.steps()}, npu), npu) / npu.bus_bytes;
    // Areas overlap, but for the first one's LOADs and the last one's STOREs, or runs.
    const std::uint64_t cycles =
        divide_up(all, lanes) * std::max({busy, moving, kLeastAreaCycles}) + std::min(busy, moving);
    if (best.lanes == 0 || cycles <= best.cycles) best = {lanes, cycles};
  };
  for (std::size_t k = 1; k <= strips_of(all, npu); ++k) {
    const std::size_t lanes = std::min(all, k * npu.lanes()), fewer = whole_beats(lanes, all, npu);
    const bool fitting = fits(group, lanes, group.steps(), npu);
    if (fitting) consider(lanes);
    if (fewer != lanes && (fitting || fits(group, fewer, group.steps(), npu))) consider(fewer);
    if (!fitting) break;
  }
  return best;
}

RectangleCut cut_of_covers(const JobGroup &group, const NpuConfig &npu) {
  constexpr std::size_t kParts = 64; // of the lanes that are tried
  RectangleCut best;
  if (group.covers.empty()) return best;
  const std::size_t lanes_all = group.lanes(), steps_all = group.steps(), strips = strips_of(lanes_all, npu);
  for (std::size_t part = 1; part <= std::min(strips, kParts); ++part) {
    const std::size_t lanes = std::min(lanes_all, divide_up(strips, part) * npu.lanes());
    std::size_t most = 0, beyond = std::min(steps_all, kMostInField) + 1; // fits, does not fit
    while (beyond - most > 1)
      (fits(group, lanes, (most + beyond) / 2, npu) ? most : beyond) = (most + beyond) / 2;
    if (most == 0) continue;
    for (std::size_t areas = divide_up(steps_all, most), more = 0; more < 3; ++more, ++areas) {
      const std::size_t steps = divide_up(steps_all, areas);
      const GroupTiles tiles = tiles_of(group, {0, lanes, 0, steps}, npu);
      std::uint64_t busy = 0;
      for (const Stage &stage : group.stages)
        busy += walk_of(stage, lanes, steps, npu).cycles;
      const std::uint64_t moving = bytes_of_beats(tiles, npu) / npu.bus_bytes;
      const std::uint64_t count = divide_up(lanes_all, lanes) * divide_up(steps_all, steps);
      const std::uint64_t cycles = count * std::max(busy, moving) + std::min(busy, moving);
      if (best.cycles == 0 || cycles < best.cycles) best = {lanes, steps, cycles};
    }
  }
  return best;
}

std::uint64_t cycles_of_elements(const JobGroup &group, const NpuConfig &npu) {
  const std::uint64_t busy = busy_cycles(group, group.lanes(), npu);
  const std::uint64_t moving =
      bytes_of_beats(tiles_of(group, {0, group.lanes(), 0, group.steps()}, npu), npu) / npu.bus_bytes;
  return std::max(busy, moving);
}

} // namespace gradweave::compiler
