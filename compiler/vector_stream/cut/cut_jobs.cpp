#include "compiler/vector_stream/cut/cut_jobs.hpp"

#include "compiler/vector_stream/cut/cut_chains.hpp"
#include "compiler/vector_stream/cut/cut_size.hpp"
#include "compiler/vector_stream/cut/job_commands_error.hpp"
#include "compiler/vector_stream/cut/uneven_cut.hpp"
#include "compiler/vector_stream/group/across.hpp"
#include "compiler/vector_stream/group/join_jobs.hpp"
#include "compiler/vector_stream/stage/places.hpp"
#include "compiler/vector_stream/stage/programs.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

using isa::vector::Program;

constexpr std::size_t kLinesAPart = 16; ///< for each part of a repeated row: its LOADs cost little

class Cutter {
public:
  Cutter(const OpJobs &jobs, const Machine &npu) : jobs_(jobs), npu_(npu) {}

  AreaPlan run() {
    const auto groups = join_jobs(jobs_, npu_);
    const auto is_chain = [&](std::size_t at) {
      const auto *group = at < groups.size() ? std::get_if<JobGroup>(&groups[at]) : nullptr;
      return group != nullptr && !group->is_elementwise();
    };
    for (std::size_t at = 0; at < groups.size(); ++at)
      if (const auto *group = std::get_if<JobGroup>(&groups[at])) {
        has_chains_beside_ = is_chain(at - 1) || is_chain(at + 1);
        cut(*group);
      } else {
        cut(std::get<MoveJob>(groups[at]));
      }
    return std::move(plan_);
  }

private:
  std::size_t group_lanes() const { return std::size_t{4} * npu_.vector_groups * npu_.lanes(); }
  std::size_t strips(std::size_t lanes) const { return divide_up(lanes, npu_.lanes()); }
  /// Lanes of so many strips.
  std::size_t lanes_of(std::size_t strips, std::size_t all) const { return std::min(all, strips * npu_.lanes()); }

  /// Areas of a group, their tiles where those of the largest area, lanes x steps, have them.
  struct Cut {
    const JobGroup &group;
    std::size_t lanes = 1, steps = 1, layout = 0;
    bool over = false; ///< tiles_over()
  };

  Area area_of(const Cut &cut, const StridedArea &part) {
    const StridedArea whole{0, cut.lanes, 0, cut.steps};
    const GroupTiles largest = cut.over ? tiles_over(cut.group, whole, npu_) : tiles_of(cut.group, whole, npu_);
    GroupTiles all = tiles_of(cut.group, part, npu_);
    Area area;
    area.layout = cut.layout;
    for (std::size_t i = 0; i < all.tiles.size(); ++i) {
      all.tiles[i].spm = largest.tiles[i].spm;
      if (all.loaded[i]) area.loaded.push_back(all.tiles[i]);
    }
    if (part.lane + part.lanes < cut.group.lanes()) leave_sums(cut.group, all);
    for (std::size_t i = 0; i < all.tiles.size(); ++i)
      if (all.stored[i]) area.stored.push_back(all.tiles[i]);
    std::size_t state = 0;
    for (std::size_t s = 0; s < cut.group.stages.size(); ++s)
      if (cut.group.stages[s].across) {
        area.runs.push_back(run_across(cut.group.stages[s], all, s, part, state));
        state += rows_handed_on(cut.group.stages[s], npu_);
      } else {
        area.runs.push_back(run_of(cut.group, all, s, part));
      }
    return area;
  }

  /// A part of a chain across the lanes; from row `state` on lies what it hands on.
  AreaRun run_across(const Stage &stage, const GroupTiles &all, std::size_t s, const StridedArea &part,
                     std::size_t state) {
    const ChainPart chain = part_across(stage, part.lane, part.lanes);
    return {place_of(chain.program, plan_.programs), static_cast<std::uint32_t>(stage.steps),
            static_cast<std::uint32_t>(part.lanes), views_across(stage, chain, all, s),
            tiles_handed_on(chain, {handed_on(stage), state, strips(stage.steps), stage.steps})};
  }

  AreaRun run_of(const JobGroup &group, const GroupTiles &all, std::size_t s, const StridedArea &part) {
    const Stage &stage = group.stages[s];
    const std::size_t steps = std::min(part.steps, stage.steps);
    const StageWalk walk = walk_of(stage, part.lanes, steps, npu_);
    const auto [walked, program] = walked_stage(stage, walk);
    AreaRun run{place_of(program, plan_.programs),
                static_cast<std::uint32_t>(walk.exchanged ? steps : part.lanes),
                static_cast<std::uint32_t>(walk.exchanged ? part.lanes : steps),
                {},
                {}};
    const auto view = [&](const StridedTile &t, std::size_t tile, std::uint32_t slot) {
      const std::size_t apart = t.first - all.first[tile];
      if (group.windows && t.lane + t.step > 1) { // else it is a number
        run.tiles.push_back(window_of(t, all.tiles[tile], slot, {apart, steps, npu_.lanes()}));
      } else if (all.covers[tile]) {
        const std::size_t pitch = all.tiles[tile].pitch, row = apart / pitch, col = apart % pitch;
        run.tiles.push_back(window_of(t, all.tiles[tile], slot, {col, all.tiles[tile].cols - col, npu_.lanes(), row}));
      } else {
        run.tiles.push_back(view_of(t, all.tiles[tile], slot));
      }
    };
    for (std::uint32_t i = 0; i < stage.operands.size(); ++i)
      view(walked.operands[i], all.operands[s][i], i);
    for (std::uint32_t o = 0; o < stage.results.size(); ++o)
      view(walked.results[o], all.results[s][o], isa::kOperandSlots + o);
    return run;
  }

  void cut_rectangles(const JobGroup &group, std::size_t lanes, std::size_t steps) {
    const Cut cut{group, lanes, steps, next_layout_++};
    for (std::size_t lane = 0; lane < group.lanes(); lane += lanes)
      for (std::size_t step = 0; step < group.steps(); step += steps)
        plan_.areas.push_back(
            area_of(cut, {lane, std::min(lanes, group.lanes() - lane), step, std::min(steps, group.steps() - step)}));
  }

  void cut(const JobGroup &group) {
    if (group.is_elementwise())
      cut_elements(group);
    else
      cut_chains(group);
  }

  /// In lanes; in steps if whole chains do not fit, or if that takes less time, as all lanes go at once and the last
  /// area is short.
  void cut_chains(const JobGroup &group) {
    const ChainCut whole = cut_of_chains(group, npu_);
    if (whole.lanes == 0) return cut_long_chains(group);
    if (ChainCutting::is_possible(group)) {
      const ChainCutting chain(jobs_, group, npu_);
      if (chain.cycles() < whole.cycles) return cut_steps(group, chain);
    }
    UnevenCut uneven;
    if (!has_chains_beside_) uneven = uneven_cut(group, whole.lanes, npu_);
    if (uneven.lanes.empty()) return cut_rectangles(group, whole.lanes, group.steps());
    std::size_t lane = 0;
    for (const std::size_t lanes : uneven.lanes) { // of a layout each: operands may lie where results are stored from
      plan_.areas.push_back(
          area_of({group, uneven.most, group.steps(), next_layout_++, true}, {lane, lanes, 0, group.steps()}));
      lane += lanes;
    }
  }

  /// Of which a strip has no room: in steps, or, where the program cannot be cut, whole ones of fewer lanes.
  void cut_long_chains(const JobGroup &group) {
    try {
      cut_steps(group, ChainCutting(jobs_, group, npu_));
    } catch (const JobCommandsError &) {
      const std::size_t lanes = fewer_lanes(group, group.steps());
      if (lanes == 0) throw;
      cut_rectangles(group, lanes, group.steps());
    }
  }

  /// Lanes of an area of so many steps that fit, fewer than a strip's; 0: none do.
  std::size_t fewer_lanes(const JobGroup &group, std::size_t steps) const {
    return largest(lanes_of(1, group.lanes()), [&](std::size_t lanes) { return fits(group, lanes, steps, npu_); });
  }

  template <typename F> static JobGroup changed(JobGroup group, const F &change) {
    for (Stage &stage : group.stages)
      stage = change(stage);
    if (!group.covers.empty()) group.covers = covers_of(group.stages);
    return group;
  }
  template <typename F> static bool all_are(const JobGroup &group, const F &is) {
    return std::all_of(group.stages.begin(), group.stages.end(), is);
  }

  /// Lines as long as the unit works on at once, if the elements' order allows that.
  void cut_elements(const JobGroup &group) {
    if (group.places > 0) return cut_rectangles(group, group.lanes(), group.steps());
    const JobGroup other = changed(group, exchanged);
    const bool by_steps = !all_are(group, is_periodic) && all_are(other, is_periodic);
    const JobGroup &best = by_steps ? other : group;
    if (needs_covers(group))
      cut_lines(is_better(group, other) ? group : other);
    else if (all_are(group, is_flat) || all_are(other, is_flat))
      cut_flat(all_are(group, is_flat) ? group : other);
    else if (all_are(best, is_periodic) && merged_lines(best) > 1)
      cut_periodic(best);
    else
      cut_lines(is_better(group, other) ? group : other);
  }

  /// Whether there is room for its operands only as parts of what covers them, which other lines do not have.
  bool needs_covers(JobGroup group) const {
    if (group.covers.empty()) return false;
    group.covers.clear();
    return !fits(group, 1, 1, npu_);
  }

  /// What covers operands may be larger than a place with one of the two orders alone.
  bool is_better(const JobGroup &group, const JobGroup &other) const {
    const bool has_room = fits(group, 1, 1, npu_), other_has = fits(other, 1, 1, npu_);
    if (has_room != other_has) return has_room;
    return cycles_of_elements(group, npu_) <= cycles_of_elements(other, npu_);
  }

  void cut_flat(const JobGroup &group) {
    const std::size_t all = group.lanes() * group.steps(), line = std::min(all, group_lanes());
    cut_lines(changed(group, [&](const Stage &s) { return flat_part(s, 0, all / line * line, line); }));
    const std::size_t rest = all % line;
    if (rest != 0) cut_lines(changed(group, [&](const Stage &s) { return flat_part(s, all - rest, rest, rest); }));
  }

  /// So many lines of a periodic group are one, of at most the lanes that the unit works on at once.
  std::size_t merged_lines(const JobGroup &group) const {
    return largest(std::min(group.steps() / kLinesAPart, group_lanes() / group.lanes()), [&](std::size_t lines) {
      return fits(changed(group, [&](const Stage &s) { return periodic_part(s, 0, lines, lines); }),
                  lines * group.lanes(), 1, npu_);
    });
  }

  void cut_periodic(const JobGroup &group) {
    const std::size_t lines = merged_lines(group), all = group.steps(), rest = all % lines;
    cut_lines(changed(group, [&](const Stage &s) { return periodic_part(s, 0, all - rest, lines); }));
    if (rest != 0) cut_lines(changed(group, [&](const Stage &s) { return periodic_part(s, all - rest, rest, rest); }));
  }

  /// Whether rows in memory of a tile lie along the steps.
  static bool has_columns(const JobGroup &group) {
    const auto is_column = [](const StridedTile &t) { return t.step == 1 && t.lane > 1; };
    return std::any_of(group.stages.begin(), group.stages.end(), [&](const Stage &s) {
      return std::any_of(s.operands.begin(), s.operands.end(), is_column) ||
             std::any_of(s.results.begin(), s.results.end(), is_column);
    });
  }

  void cut_lines(const JobGroup &group) {
    if (const RectangleCut cut = cut_of_covers(group, npu_); cut.cycles != 0)
      return cut_rectangles(group, cut.lanes, cut.steps);
    const std::size_t wanted = divide_up(strips(group.lanes()), divide_up(group.lanes(), group_lanes()));
    const std::size_t found =
        largest(wanted, [&](std::size_t k) { return fits(group, lanes_of(k, group.lanes()), 1, npu_); });
    const std::size_t room = found != 0 ? lanes_of(found, group.lanes()) : fewer_lanes(group, 1);
    if (room == 0) fail_to_fit(jobs_, group, 1, npu_);
    const std::size_t lanes = whole_beats(room, group.lanes(), npu_);
    const std::size_t most = largest(std::min(group.steps(), kMostInField),
                                     [&](std::size_t steps) { return fits(group, lanes, steps, npu_); });
    const std::size_t steps = rows_of_area(group.steps(), most, bytes_a_step(group, lanes, npu_));
    cut_rectangles(group, lanes, has_columns(group) ? whole_beats(steps, group.steps(), npu_) : steps);
  }

  /// In steps, loop by loop, in parts that hand on variables.
  void cut_steps(const JobGroup &group, const ChainCutting &chain) {
    for (std::size_t lane = 0; lane < group.lanes(); lane += chain.lanes())
      for (const unsigned loop : chain.loops())
        cut_loop(group, chain, loop, lane);
  }

  void cut_loop(const JobGroup &group, const ChainCutting &chain, unsigned loop, std::size_t lane) {
    const std::size_t all = group.steps(), chunk = chain.steps(loop);
    for (std::size_t step = 0; step < all; step += chunk) {
      const std::size_t steps = std::min(chunk, all - step), lanes = std::min(chain.lanes(), group.lanes() - lane);
      const bool first = step == 0, last = step + steps == all;
      const ChainPart part = chain.part(loop, first, last, step);
      const JobGroup of_part = group_of_part(group, part);
      if (step == 0 || step == chunk || last) ++next_layout_; // other tiles
      Area area = area_of({of_part, chain.lanes(), chunk, next_layout_}, {lane, lanes, step, steps});
      area.runs[0].state = tiles_handed_on(part, {chain.states(), 0, strips(chain.lanes()), lanes});
      plan_.areas.push_back(std::move(area));
    }
    ++next_layout_;
  }

  /// What lies without gaps on both sides is moved as lines of any length.
  void cut(const MoveJob &move) {
    const std::size_t all = move.rows * move.length, line = std::min(all, group_lanes()), rest = all % line;
    if (move.rows != 1 && (move.from_pitch != move.length || move.to_pitch != move.length)) {
      move_rows(move);
      return;
    }
    MoveJob lines = move;
    lines.rows = all / line;
    lines.length = lines.from_pitch = lines.to_pitch = line;
    move_rows(lines);
    if (rest == 0) return;
    lines.from_first += all - rest;
    lines.to_first += all - rest;
    lines.rows = 1;
    lines.length = rest;
    move_rows(lines);
  }

  void move_rows(const MoveJob &move) {
    const bool fp32 = jobs_.values[move.from].type != graph::ElementType::kBf16;
    const std::size_t height = fp32 ? 2 : 1, spm_rows = place_rows(npu_) / height;
    const std::size_t length = std::min({move.length, spm_rows * npu_.lanes(), kMostInField});
    const std::size_t most = std::min(spm_rows / strips(length), kMostInField);
    const std::size_t rows = rows_of_area(move.rows, most, length * height * 2);
    for (std::size_t col = 0; col < move.length; col += length)
      for (std::size_t row = 0; row < move.rows; row += rows) {
        AreaTile t;
        t.value = move.from;
        t.first = move.from_first + row * move.from_pitch + col;
        t.pitch = move.from_pitch;
        t.rows = static_cast<std::uint32_t>(std::min(rows, move.rows - row));
        t.cols = static_cast<std::uint32_t>(std::min(length, move.length - col));
        t.fp32 = fp32;
        t.spm.pstride = static_cast<std::uint32_t>(t.rows * height);
        Area &area = area_for_move(t);
        area.loaded.push_back(t);
        t.value = move.to;
        t.first = move.to_first + row * move.to_pitch + col;
        t.pitch = move.to_pitch;
        area.stored.push_back(t);
      }
  }

  /// The last area if that moves little, has room for the tile and stores nothing of its value; else a new one. Gives
  /// the tile its row.
  Area &area_for_move(AreaTile &t) {
    Area *last = plan_.areas.empty() || !plan_.areas.back().runs.empty() ? nullptr : &plan_.areas.back();
    if (last != nullptr) {
      std::size_t bytes = 0;
      bool stores = false;
      for (const AreaTile &moved : last->stored) {
        bytes += std::size_t{moved.rows} * moved.cols * (moved.fp32 ? 4 : 2);
        stores = stores || moved.value == t.value;
      }
      const AreaTile &before = last->loaded.back();
      const std::size_t next = divide_up(before.spm.row + before.spm.pstride * strips(before.cols), 2) * 2;
      if (bytes < kLeastAreaBytes && !stores && next + t.spm.pstride * strips(t.cols) <= place_rows(npu_)) {
        t.spm.row = static_cast<std::uint32_t>(next);
        return *last;
      }
    }
    plan_.areas.emplace_back();
    plan_.areas.back().layout = next_layout_++;
    return plan_.areas.back();
  }

  const OpJobs &jobs_;
  const Machine &npu_;
  std::size_t next_layout_ = 0;
  bool has_chains_beside_ = false; ///< whose areas overlap with those of the group at hand
  AreaPlan plan_;
};

} // namespace

AreaPlan cut_jobs(const OpJobs &jobs, const Machine &npu) { return Cutter(jobs, npu).run(); }

} // namespace gradweave::compiler
