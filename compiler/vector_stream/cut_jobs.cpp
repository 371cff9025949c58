#include "compiler/vector_stream/cut_jobs.hpp"

#include "compiler/vector_stream/chain.hpp"
#include "compiler/vector_stream/job_commands.hpp"
#include "compiler/vector_stream/lane_cycles.hpp"
#include "compiler/vector_stream/places.hpp"
#include "compiler/vector_stream/strided_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

namespace gradweave::compiler {
namespace {

using isa::vector::Program;

constexpr std::size_t kMostOfField = 65535;      ///< rows, columns, elements and steps of a command
constexpr std::size_t kAreas = 16;               ///< if there is so much: transfers and lanes overlap but at both ends
constexpr std::size_t kLeastAreaBytes = 1 << 13; ///< less does not hide what a command costs

std::size_t parts_of(std::size_t all, std::size_t most) { return (all + most - 1) / most; }

/// The largest count up to `most` that fits; 0 if none does. What fits in a smaller count fits, too.
template <typename Fits> std::size_t largest(std::size_t most, const Fits &fits) {
  std::size_t low = 0;
  while (low < most) {
    const std::size_t middle = low + (most - low + 1) / 2;
    if (fits(middle))
      low = middle;
    else
      most = middle - 1;
  }
  return low;
}

class Cutter {
public:
  Cutter(const OpJobs &jobs, const NpuConfig &npu) : jobs_(jobs), npu_(npu) {}

  AreaPlan run() {
    for (; step_ < jobs_.steps.size(); ++step_)
      if (const auto *job = std::get_if<VectorJob>(&jobs_.steps[step_]))
        cut(*job);
      else
        cut(std::get<MoveJob>(jobs_.steps[step_]));
    return std::move(plan_);
  }

private:
  [[noreturn]] void fail(const std::string &what) const {
    throw JobCommandsError(fmt::format("step {} of the jobs: {}", step_, what));
  }

  std::size_t group() const { return std::size_t{4} * npu_.vector_groups * npu_.lanes(); }
  std::size_t strips(std::size_t lanes) const { return parts_of(lanes, npu_.lanes()); }

  std::size_t program_of(const Program &program) {
    isa::vector::Words words = isa::vector::encode(program);
    const auto found = std::find(plan_.programs.begin(), plan_.programs.end(), words);
    if (found != plan_.programs.end()) return static_cast<std::size_t>(found - plan_.programs.begin());
    plan_.programs.push_back(std::move(words));
    return plan_.programs.size() - 1;
  }

  /// Places tiles one behind the other; returns their rows.
  std::size_t place(std::vector<AreaTile> &tiles) const {
    std::size_t next = 0;
    for (AreaTile &t : tiles) {
      next += next % 2;
      t.tile.spm.row = static_cast<std::uint32_t>(next);
      t.tile.spm.pstride = t.tile.rows * (t.tile.fp32 ? 2 : 1);
      next += std::size_t{t.tile.spm.pstride} * strips(t.tile.cols);
    }
    return next;
  }

  std::vector<AreaTile> tiles_of(const std::vector<StridedTile> &tiles, const StridedArea &area) const {
    std::vector<AreaTile> all;
    for (const StridedTile &t : tiles)
      all.push_back(tile_of(t, area));
    return all;
  }

  std::size_t rows_of(const std::vector<StridedTile> &tiles, std::size_t lanes, std::size_t steps) const {
    std::vector<AreaTile> all = tiles_of(tiles, {0, lanes, 0, steps});
    return place(all);
  }
  bool fits(const std::vector<StridedTile> &tiles, std::size_t lanes, std::size_t steps) const {
    return rows_of(tiles, lanes, steps) <= place_rows(npu_);
  }

  static std::size_t bytes_of(const std::vector<StridedTile> &tiles, std::size_t lanes, std::size_t steps) {
    std::size_t bytes = 0;
    for (const StridedTile &t : tiles)
      bytes += (t.lane == 0 ? 1 : lanes) * (t.step == 0 ? 1 : steps) * (t.fp32 ? 4 : 2);
    return bytes;
  }

  /// So many rows an area that some areas overlap, if that is worth it.
  static std::size_t rows_of_area(std::size_t all, std::size_t most, std::size_t row_bytes) {
    const std::size_t worth = std::max(parts_of(all, kAreas), parts_of(kLeastAreaBytes, row_bytes));
    return std::min(most, worth);
  }

  [[noreturn]] void fail_to_fit(const std::vector<StridedTile> &tiles, std::size_t lanes, std::size_t steps) const {
    const std::size_t row = std::size_t{npu_.lanes()} * 2;
    fail(fmt::format(
        "{} lanes and {} step of its {} tiles take {} bytes of the scratchpad; a place of NPU '{}' has {}. Give "
        "it more spm_bytes",
        lanes, steps, tiles.size(), rows_of(tiles, lanes, steps) * row, npu_.name, place_rows(npu_) * row));
  }

  /// Areas of one program, their tiles where those of the largest area, lanes x steps, have them.
  struct Cut {
    std::size_t program = 0;
    std::vector<StridedTile> tiles;
    std::size_t lanes = 1, steps = 1, layout = 0;
  };

  Area area_of(const Cut &cut, const StridedArea &part) const {
    std::vector<AreaTile> largest = tiles_of(cut.tiles, {0, cut.lanes, 0, cut.steps});
    place(largest);
    Area area;
    area.layout = cut.layout;
    area.run = AreaRun{cut.program, static_cast<std::uint32_t>(part.lanes), static_cast<std::uint32_t>(part.steps)};
    for (std::size_t i = 0; i < cut.tiles.size(); ++i) {
      AreaTile t = tile_of(cut.tiles[i], part);
      t.tile.spm = largest[i].tile.spm;
      (cut.tiles[i].is_result() ? area.stored : area.loaded).push_back(t);
    }
    return area;
  }

  void cut(const VectorJob &job) {
    const StridedJob s = strided(job, jobs_.values);
    const bool moves = std::all_of(s.tiles.begin(), s.tiles.end(), [&](const StridedTile &t) {
      return !t.is_result() || ((s.lanes == 1 || t.lane != 0) && (s.steps == 1 || t.step != 0));
    });
    const Program &program = jobs_.programs[job.program];
    if (!job.elementwise || !moves)
      cut_chains(s, program);
    else if (is_flat(s))
      cut_flat(s, program);
    else if (is_flat(exchanged(s)))
      cut_flat(exchanged(s), program);
    else
      cut_elements(lane_cycles(program, shape_of(s), npu_) <= lane_cycles(program, shape_of(exchanged(s)), npu_)
                       ? s
                       : exchanged(s),
                   program);
  }

  LaneShape shape_of(const StridedJob &s) const { return {strips(s.lanes), s.steps}; }

  /// Lines as long as the unit works on at once, and a shorter one at the end.
  void cut_flat(const StridedJob &job, const Program &program) {
    const std::size_t all = job.lanes * job.steps;
    const std::size_t line = std::min(std::min(all, group()), kMostOfField);
    cut_elements(flat_part(job, 0, all / line * line, line), program);
    if (all % line != 0) cut_elements(flat_part(job, all / line * line, all % line, all % line), program);
  }

  void cut_elements(const StridedJob &job, const Program &program) {
    const std::size_t all_strips = strips(job.lanes), groups = parts_of(job.lanes, group());
    const std::size_t wanted = parts_of(all_strips, groups);
    const std::size_t found =
        largest(wanted, [&](std::size_t k) { return fits(job.tiles, std::min(job.lanes, k * npu_.lanes()), 1); });
    if (found == 0) fail_to_fit(job.tiles, std::min<std::size_t>(job.lanes, npu_.lanes()), 1);
    const std::size_t lanes = std::min(job.lanes, found * npu_.lanes());
    const std::size_t most =
        largest(std::min(job.steps, kMostOfField), [&](std::size_t steps) { return fits(job.tiles, lanes, steps); });
    const std::size_t steps = rows_of_area(job.steps, most, bytes_of(job.tiles, lanes, 1));
    cut_rectangles({program_of(program), job.tiles, lanes, steps, next_layout_++}, job.lanes, job.steps);
  }

  void cut_rectangles(const Cut &cut, std::size_t lanes, std::size_t steps) {
    for (std::size_t lane = 0; lane < lanes; lane += cut.lanes)
      for (std::size_t step = 0; step < steps; step += cut.steps)
        plan_.areas.push_back(
            area_of(cut, {lane, std::min(cut.lanes, lanes - lane), step, std::min(cut.steps, steps - step)}));
  }

  /// Whole chains of as many strips at once as make the work short; or parts of chains.
  void cut_chains(const StridedJob &job, const Program &program) {
    const std::size_t most_lanes = std::min(job.lanes, kMostOfField / npu_.lanes() * npu_.lanes());
    const std::size_t most = job.steps > kMostOfField ? 0 : largest(strips(most_lanes), [&](std::size_t k) {
      return fits(job.tiles, std::min(job.lanes, k * npu_.lanes()), job.steps);
    });
    if (most == 0) {
      cut_long_chains(job, program);
      return;
    }
    std::size_t best = most;
    std::uint64_t least = ~std::uint64_t{0};
    for (std::size_t k = most; k > 0; --k) {
      const std::size_t areas = parts_of(strips(job.lanes), k), lanes = std::min(job.lanes, k * npu_.lanes());
      const std::uint64_t busy = lane_cycles(program, {k, job.steps}, npu_);
      const std::uint64_t moving = bytes_of(job.tiles, lanes, job.steps) / npu_.bus_bytes;
      const std::uint64_t cycles = areas * std::max(busy, moving) + std::min(busy, moving);
      if (cycles >= least) continue;
      least = cycles;
      best = k;
    }
    cut_rectangles(
        {program_of(program), job.tiles, std::min(job.lanes, best * npu_.lanes()), job.steps, next_layout_++},
        job.lanes, job.steps);
  }

  /// Tiles of the job that a part reads and writes, under the part's names.
  static std::vector<StridedTile> tiles_of_part(const StridedJob &job, const ChainPart &part) {
    std::vector<StridedTile> tiles;
    const auto add = [&](std::uint32_t wanted, std::uint32_t name) {
      const auto found =
          std::find_if(job.tiles.begin(), job.tiles.end(), [&](const StridedTile &t) { return t.slot == wanted; });
      tiles.push_back(*found);
      tiles.back().slot = name;
    };
    for (std::uint32_t i = 0; i < part.operands.size(); ++i)
      add(part.operands[i], i);
    for (std::uint32_t o = 0; o < part.results.size(); ++o)
      add(isa::kOperandSlots + part.results[o], isa::kOperandSlots + o);
    return tiles;
  }

  /// The tiles of values that chains hand on, two rows a strip each, in the order of registers.
  std::vector<isa::VectorTile> state_of(const ChainPart &part, std::size_t strips, std::size_t lanes) const {
    std::vector<isa::VectorTile> tiles;
    const auto add = [&](unsigned reg, std::size_t slot) {
      isa::VectorTile t;
      t.slot = static_cast<std::uint32_t>(slot);
      t.spm.row = static_cast<std::uint32_t>(state_places_.at(reg) * 2 * strips);
      t.spm.pstride = 2;
      t.rows = 1;
      t.cols = static_cast<std::uint32_t>(lanes);
      t.fp32 = t.same_step = true;
      tiles.push_back(t);
    };
    for (std::size_t i = 0; i < part.restored.size(); ++i)
      add(part.restored[i], part.operands.size() + i);
    for (std::size_t i = 0; i < part.saved.size(); ++i)
      add(part.saved[i], isa::kOperandSlots + part.results.size() + i);
    return tiles;
  }

  ChainPart part_of(const Program &program, unsigned loop, bool first, bool last, std::size_t offset) const {
    try {
      return chain_part(program, loop, first, last, static_cast<std::uint32_t>(offset));
    } catch (const std::length_error &error) {
      fail(std::string(error.what()) + ". Give the NPU more spm_bytes, so that whole chains fit");
    }
  }

  /// Steps of a loop that fit a place, with all that its parts may need.
  std::size_t steps_that_fit(const StridedJob &job, const Program &program, unsigned loop, std::size_t lanes) const {
    const std::vector<StridedTile> tiles = tiles_of_part(job, part_of(program, loop, true, true, 0));
    return largest(std::min(job.steps, kMostOfField), [&](std::size_t steps) { return fits(tiles, lanes, steps); });
  }

  void cut_long_chains(const StridedJob &job, const Program &program) {
    const std::vector<unsigned> loops = loops_of(program);
    state_places_.clear();
    for (const unsigned loop : loops)
      for (const bool first : {true, false})
        for (const unsigned reg : part_of(program, loop, first, false, 0).saved)
          state_places_.try_emplace(reg, state_places_.size());
    constexpr std::size_t kEnough = 16; // steps, so that handing on costs little
    std::size_t k = std::min(strips(job.lanes), group() / npu_.lanes());
    const auto is_enough = [&](std::size_t strips) {
      const std::size_t lanes = std::min(job.lanes, strips * npu_.lanes());
      return state_places_.size() * 2 * strips <= state_rows(npu_) &&
             std::all_of(loops.begin(), loops.end(), [&](unsigned loop) {
               return steps_that_fit(job, program, loop, lanes) >= std::min(kEnough, job.steps);
             });
    };
    while (k > 1 && !is_enough(k))
      --k;
    for (std::size_t lane = 0; lane < job.lanes; lane += k * npu_.lanes())
      for (const unsigned loop : loops)
        cut_loop(job, program, loop, lane, k);
  }

  void cut_loop(const StridedJob &job, const Program &program, unsigned loop, std::size_t lane, std::size_t strips) {
    const std::size_t most_lanes = std::min(job.lanes, strips * npu_.lanes());
    const std::size_t chunk = steps_that_fit(job, program, loop, most_lanes);
    if (chunk == 0) fail_to_fit(job.tiles, most_lanes, 1);
    const std::size_t layout = next_layout_++;
    for (std::size_t step = 0; step < job.steps; step += chunk) {
      const std::size_t steps = std::min(chunk, job.steps - step), lanes = std::min(most_lanes, job.lanes - lane);
      const bool last = step + steps == job.steps;
      const ChainPart part = part_of(program, loop, step == 0, last, step);
      Area area = area_of({program_of(part.program), tiles_of_part(job, part), most_lanes, chunk, layout},
                          {lane, lanes, step, steps});
      area.state = state_of(part, strips, lanes);
      plan_.areas.push_back(std::move(area));
    }
  }

  void cut(const MoveJob &move) {
    const bool fp32 = jobs_.values[move.from].type != graph::ElementType::kBf16;
    const bool dense = move.rows == 1 || (move.from_pitch == move.length && move.to_pitch == move.length);
    const std::size_t all = move.rows * move.length;
    const std::size_t line = std::min(all, group());
    if (!dense) {
      move_rows(move, fp32);
      return;
    }
    MoveJob lines = move;
    lines.rows = all / line;
    lines.length = lines.from_pitch = lines.to_pitch = line;
    move_rows(lines, fp32);
    if (all % line == 0) return;
    lines.from_first += all / line * line;
    lines.to_first += all / line * line;
    lines.rows = 1;
    lines.length = all % line;
    move_rows(lines, fp32);
  }

  void move_rows(const MoveJob &move, bool fp32) {
    const std::size_t bytes = fp32 ? 4 : 2, spm_rows = place_rows(npu_) / (fp32 ? 2 : 1);
    const std::size_t length = std::min({move.length, spm_rows * npu_.lanes(), kMostOfField});
    const std::size_t most = std::min(spm_rows / strips(length), kMostOfField);
    const std::size_t rows = rows_of_area(move.rows, most, length * bytes), layout = next_layout_++;
    for (std::size_t col = 0; col < move.length; col += length)
      for (std::size_t row = 0; row < move.rows; row += rows) {
        AreaTile t;
        t.value = move.from;
        t.first = move.from_first + row * move.from_pitch + col;
        t.pitch = move.from_pitch;
        t.tile.rows = static_cast<std::uint32_t>(std::min(rows, move.rows - row));
        t.tile.cols = static_cast<std::uint32_t>(std::min(length, move.length - col));
        t.tile.fp32 = fp32;
        t.tile.spm.pstride = t.tile.rows * (fp32 ? 2 : 1);
        Area area;
        area.layout = layout;
        area.loaded = {t};
        t.value = move.to;
        t.first = move.to_first + row * move.to_pitch + col;
        t.pitch = move.to_pitch;
        area.stored = {t};
        plan_.areas.push_back(std::move(area));
      }
  }

  const OpJobs &jobs_;
  const NpuConfig &npu_;
  std::size_t step_ = 0; ///< of the jobs
  std::size_t next_layout_ = 0;
  std::map<unsigned, std::size_t> state_places_; ///< of registers
  AreaPlan plan_;
};

} // namespace

AreaPlan cut_jobs(const OpJobs &jobs, const NpuConfig &npu) { return Cutter(jobs, npu).run(); }

} // namespace gradweave::compiler
