#include "compiler/vector_stream/group/join_jobs.hpp"

#include "compiler/vector_stream/group/across.hpp"
#include "compiler/vector_stream/group/windows.hpp"
#include "compiler/vector_stream/stage/places.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace gradweave::compiler {
namespace {

using GroupOrMove = std::variant<JobGroup, MoveJob>;

template <typename F> void for_tiles(const Stage &stage, const F &f) {
  for (const StridedTile &t : stage.operands)
    f(t, false);
  for (const StridedTile &t : stage.results)
    f(t, true);
}

/// Rows of elements side by side, a pitch apart.
struct Rows {
  std::size_t first = 0, pitch = 1, count = 1, length = 1;
};

Rows rows_of(const StridedTile &t, const Stage &stage) {
  const std::size_t lanes = t.lane == 0 ? 1 : stage.lanes, steps = t.step == 0 ? 1 : stage.steps;
  return t.lane > t.step ? Rows{t.first, t.lane, lanes, steps}
                         : Rows{t.first, std::max<std::size_t>(t.step, 1), steps, lanes};
}

/// Whether they have an element in common.
bool meet(const Rows &a, const Rows &b) {
  if (a.count > b.count) return meet(b, a);
  for (std::size_t row = 0; row < a.count; ++row) {
    const std::size_t first = a.first + row * a.pitch, end = first + a.length;
    if (end <= b.first) continue;
    const std::size_t last =
        std::min(b.count - 1, (end - 1 - b.first) / b.pitch); // of b's rows that begin before the end
    if (b.first + last * b.pitch + b.length > first) return true;
  }
  return false;
}

/// What two stages have in common.
struct Common {
  bool any = false;       ///< a tile with lanes
  bool handed_on = false; ///< one that either writes
  bool elsewhere = false; ///< of elements: tiles of one value that are not the same
  bool clean = true;      ///< what either writes is the same of both or, of elements, lies elsewhere
};

/// Whether two matrices of the same strides have no element in common.
bool are_apart(const StridedTile &a, const StridedTile &b, const Stage &stage) {
  if (a.lane != b.lane || a.step != b.step) return false;
  const StridedTile &low = a.first < b.first ? a : b, &high = a.first < b.first ? b : a;
  const std::size_t between = high.first - low.first;
  if (between > (stage.lanes - 1) * a.lane + (stage.steps - 1) * a.step) return true;
  const std::size_t pitch = std::max(a.lane, a.step), cols = a.lane > a.step ? stage.steps : stage.lanes;
  return std::min(a.lane, a.step) == 1 && between % pitch >= cols && between % pitch + cols <= pitch;
}

Common common_of(const Stage &a, const Stage &b) {
  Common common;
  const bool of_elements = a.elementwise && b.elementwise && a.lanes == b.lanes && a.steps == b.steps;
  for_tiles(a, [&](const StridedTile &of_a, bool a_writes) {
    for_tiles(b, [&](const StridedTile &of_b, bool b_writes) {
      if (of_a.value != of_b.value) return;
      const bool same = of_a == of_b && (of_a.step == 0 || a.steps == b.steps), reads = !a_writes && !b_writes;
      common.any = common.any || (same && of_a.lane != 0);
      common.handed_on = common.handed_on || (same && !reads && of_a.lane != 0);
      common.elsewhere = common.elsewhere || (of_elements && !same && of_a.lane != 0);
      common.clean = common.clean && (same || reads || (of_elements && are_apart(of_a, of_b, a)));
    });
  });
  return common;
}

bool has_to_do_with(const Stage &stage, const std::vector<StridedTile> &tiles) {
  return std::any_of(tiles.begin(), tiles.end(), [&](const StridedTile &t) {
    bool found = false;
    for_tiles(stage, [&](const StridedTile &of_stage, bool) { found = found || of_stage.value == t.value; });
    return found;
  });
}

/// Which steps read the elements of a value, by blocks of it, so that what reads elsewhere is not looked at.
class Reads {
public:
  explicit Reads(std::size_t elements) : block_(elements / kBlocks + 1), blocks_(elements / block_ + 1) {}

  /// Steps ascend.
  void add(std::size_t step, const Rows &rows) {
    last_ = step;
    for_blocks(rows, [&](std::size_t block) { blocks_[block].push_back({step, rows}); });
  }

  /// Whether a step behind `at` reads one of the elements.
  bool has_behind(std::size_t at, const Rows &rows) const {
    if (last_ <= at) return false;
    bool found = false;
    for_blocks(rows, [&](std::size_t block) {
      const std::vector<Read> &reads = blocks_[block];
      for (auto read = reads.rbegin(); read != reads.rend() && read->step > at && !found; ++read)
        found = meet(rows, read->rows);
    });
    return found;
  }

private:
  struct Read {
    std::size_t step;
    Rows rows;
  };
  static constexpr std::size_t kBlocks = 256;

  /// Each block that has elements of the rows, once.
  template <typename F> void for_blocks(const Rows &rows, const F &f) const {
    for (std::size_t row = 0, next = 0; row < rows.count;) {
      const std::size_t first = rows.first + row * rows.pitch, last = (first + rows.length - 1) / block_;
      for (next = std::max(next, first / block_); next <= last; ++next)
        f(next);
      // The next row that ends in block `next` or behind it.
      const std::size_t wanted = next * block_ + 1, end = first + rows.length;
      row += wanted > end ? (wanted - end + rows.pitch - 1) / rows.pitch : 1;
    }
  }

  std::size_t block_;    ///< elements
  std::size_t last_ = 0; ///< step that reads any
  std::vector<std::vector<Read>> blocks_;
};

class Joining {
public:
  Joining(const OpJobs &jobs, const NpuConfig &npu)
      : jobs_(jobs), npu_(npu), most_stages_(std::max(kLeastStages, kBudget / (jobs.steps.size() + 1))) {}

  std::vector<GroupOrMove> run() {
    find_reads();
    for (std::size_t at = 0; at < jobs_.steps.size(); ++at) {
      const auto *job = std::get_if<VectorJob>(&jobs_.steps[at]);
      if (job == nullptr) {
        out_.emplace_back(std::get<MoveJob>(jobs_.steps[at]));
        continue;
      }
      if (auto windows = windows_from(at)) {
        at += windows->stages.size() - 1;
        out_.emplace_back(std::move(*windows));
        continue;
      }
      const JobGroup alone = group_of({stage_of(jobs_, *job)}, at);
      auto *before = out_.empty() ? nullptr : std::get_if<JobGroup>(&out_.back());
      std::optional<JobGroup> joined;
      if (before != nullptr) joined = join(*before, alone, at);
      if (joined)
        *before = std::move(*joined);
      else
        out_.emplace_back(alone);
    }
    return std::move(out_);
  }

private:
  /// Stages that are looked at, all groups together: a group is looked at again with each job that may join it. Of many
  /// jobs groups are small.
  static constexpr std::size_t kBudget = 200'000, kLeastStages = 4;

  void find_reads() {
    for (const JobValue &value : jobs_.values) {
      in_memory_.push_back(value.tensor != graph::kNone);
      reads_.emplace_back(value.elements);
    }
    for (std::size_t at = 0; at < jobs_.steps.size(); ++at)
      if (const auto *job = std::get_if<VectorJob>(&jobs_.steps[at])) {
        const Stage stage = stage_of(jobs_, *job);
        for (const StridedTile &t : stage.operands)
          reads_[t.value].add(at, rows_of(t, stage));
      } else {
        const auto &move = std::get<MoveJob>(jobs_.steps[at]);
        const std::size_t pitch = std::max<std::size_t>(move.from_pitch, 1);
        reads_[move.from].add(at, {move.from_first, pitch, move.rows, move.length});
      }
  }

  /// Whether a step behind `at` reads an element of the stage's result.
  bool is_read_behind(std::size_t at, const StridedTile &result, const Stage &stage) const {
    return reads_[result.value].has_behind(at, rows_of(result, stage));
  }

  /// Stages of which the last is that of step `at`.
  JobGroup group_of(std::vector<Stage> stages, std::size_t at) const {
    JobGroup group;
    group.stages = std::move(stages);
    group.in_memory = in_memory_;
    for (const Stage &stage : group.stages)
      for (const StridedTile &result : stage.results)
        if (!group.in_memory[result.value]) group.in_memory[result.value] = is_read_behind(at, result, stage);
    if (group.is_elementwise()) group.covers = covers_of(group.stages);
    if (!group.covers.empty() && !fits_strip(group)) group.covers.clear();
    return group;
  }

  /// As many jobs from `at` on as share windows (shares_windows()), write all of the rows that they write, and fit a
  /// place and the program memory. Nothing if that is one, or if their lanes do not fill a line.
  std::optional<JobGroup> windows_from(std::size_t at) const {
    std::optional<JobGroup> best;
    std::vector<Stage> stages;
    for (std::size_t next = at; next < jobs_.steps.size() && stages.size() < most_stages_; ++next) {
      const auto *job = std::get_if<VectorJob>(&jobs_.steps[next]);
      if (job == nullptr) break;
      Stage stage = stage_of(jobs_, *job);
      if (!shares_windows(stages, stage, npu_)) stage = exchanged(stage);
      if (stage.lanes < npu_.lanes() || !shares_windows(stages, stage, npu_)) break;
      stages.push_back(std::move(stage));
      if (!make_whole_rows(stages, in_memory_)) continue;
      JobGroup group = group_of(stages, next);
      group.windows = true;
      if (!fit_program_memory(stages) || cut_of_chains(group, npu_).lanes == 0) break;
      best = std::move(group);
    }
    return best;
  }

  static bool fit_program_memory(const std::vector<Stage> &stages) {
    std::set<const isa::vector::Program *> programs;
    std::size_t words = 0;
    for (const Stage &stage : stages)
      if (programs.insert(stage.program).second) words += isa::vector::encode(*stage.program).size();
    return words <= isa::kProgramWords;
  }

  std::uint64_t cycles(const JobGroup &group) const {
    return group.is_elementwise() ? cycles_of_elements(group, npu_) : cut_of_chains(group, npu_).cycles;
  }

  std::optional<JobGroup> join(const JobGroup &group, const JobGroup &alone, std::size_t at) const {
    if (group.windows || group.stages.size() >= most_stages_) return std::nullopt;
    std::vector<JobGroup> forms{group};
    if (group.is_elementwise()) add_forms(forms, group, alone.stages[0]);
    if (const auto across = across_of(alone.stages[0])) {
      if (group.is_elementwise()) add_forms(forms, group, *across);
      for (const JobGroup &form : forms)
        if (auto joined = join_forms(form, {{*across}, alone.in_memory}, at)) return joined;
    }
    for (const JobGroup &form : forms) {
      std::vector<JobGroup> others{alone};
      if (alone.is_elementwise()) add_forms(others, alone, form.stages[0]);
      for (const JobGroup &other : others)
        if (auto joined = join_forms(form, other, at)) return joined;
    }
    return std::nullopt;
  }

  /// Other lanes and steps of a group of elements: exchanged; or those of `wanted`, as they are or exchanged.
  static void add_forms(std::vector<JobGroup> &forms, const JobGroup &group, const Stage &wanted) {
    const auto add = [&](const auto &change) {
      JobGroup form = group;
      for (Stage &stage : form.stages)
        stage = change(stage);
      if (!form.covers.empty()) form.covers = covers_of(form.stages);
      forms.push_back(std::move(form));
    };
    add(exchanged);
    const std::size_t all = group.lanes() * group.steps();
    const bool flat = std::all_of(group.stages.begin(), group.stages.end(), is_flat);
    if (!flat || wanted.lanes * wanted.steps != all) return;
    add([&](const Stage &stage) { return flat_part(stage, 0, all, wanted.lanes); });
    add([&](const Stage &stage) { return exchanged(flat_part(stage, 0, all, wanted.steps)); });
  }

  std::optional<JobGroup> join_forms(const JobGroup &group, const JobGroup &other, std::size_t at) const {
    const Stage &stage = other.stages[0];
    const bool elementwise = group.is_elementwise() && stage.elementwise;
    if (group.lanes() != stage.lanes || (elementwise && group.steps() != stage.steps)) return std::nullopt;
    bool any = false, handed_on = false, elsewhere = false;
    for (const Stage &earlier : group.stages) {
      const Common common = common_of(earlier, stage);
      if (!common.clean) return std::nullopt;
      if (earlier.across && has_to_do_with(stage, earlier.results)) return std::nullopt;
      any = any || common.any;
      handed_on = handed_on || common.handed_on;
      elsewhere = elsewhere || common.elsewhere;
    }
    if (!any && !elsewhere && !(elementwise && meet_next(group, stage, at))) return std::nullopt;
    std::vector<Stage> stages = group.stages;
    stages.push_back(stage);
    if (!fit_program_memory(stages)) return std::nullopt;
    JobGroup joined = group_of(std::move(stages), at);
    std::size_t handed_across = 0;
    for (const Stage &s : joined.stages)
      if (s.across) handed_across += rows_handed_on(s, npu_);
    if (handed_across > state_rows(npu_)) return std::nullopt;
    joined.places = group.places + (elsewhere && !handed_on ? 1 : 0);
    if (!fits_joined(joined, handed_on, elementwise)) return std::nullopt;
    if (cycles(joined) > cycles(group) + cycles(other)) return std::nullopt;
    return joined;
  }

  /// Whether the next job, of elements, reads what the group gives and what the stage does.
  bool meet_next(const JobGroup &group, const Stage &stage, std::size_t at) const {
    const auto *next = at + 1 < jobs_.steps.size() ? std::get_if<VectorJob>(&jobs_.steps[at + 1]) : nullptr;
    if (next == nullptr || !next->elementwise) return false;
    const auto is_read = [&](const StridedTile &t) {
      return std::any_of(next->operands.begin(), next->operands.end(),
                         [&](const JobTile &o) { return o.value == t.value; });
    };
    const std::vector<StridedTile> &last = group.stages.back().results;
    return std::any_of(last.begin(), last.end(), is_read) &&
           std::any_of(stage.results.begin(), stage.results.end(), is_read);
  }

  bool fits_strip(const JobGroup &group) const {
    return fits(group, std::min<std::size_t>(group.lanes(), npu_.lanes()), 1, npu_);
  }

  /// Stages at several places of a value are not cut: each of an area's parts would have its own rows of the value.
  /// Some room is left for what follows at the last place.
  bool fits_joined(const JobGroup &joined, bool same_place, bool elementwise) const {
    if (!elementwise) return cut_of_chains(joined, npu_).lanes != 0;
    if (joined.places == 0) return fits_strip(joined);
    const std::size_t rows = tiles_of(joined, {0, joined.lanes(), 0, joined.steps()}, npu_).rows;
    return fits(joined, joined.lanes(), joined.steps(), npu_) && (same_place || rows <= place_rows(npu_) / 4 * 3);
  }

  const OpJobs &jobs_;
  const NpuConfig &npu_;
  const std::size_t most_stages_; ///< of a group
  std::vector<bool> in_memory_;   ///< of each value, whoever reads it
  std::vector<Reads> reads_;      ///< of each value
  std::vector<GroupOrMove> out_;
};

} // namespace

std::vector<GroupOrMove> join_jobs(const OpJobs &jobs, const NpuConfig &npu) { return Joining(jobs, npu).run(); }

} // namespace gradweave::compiler
