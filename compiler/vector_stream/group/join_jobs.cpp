#include "compiler/vector_stream/group/join_jobs.hpp"

#include "compiler/vector_stream/group/across.hpp"
#include "compiler/vector_stream/group/places.hpp"
#include "compiler/vector_stream/group/windows.hpp"

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

/// What two stages have in common.
struct Common {
  bool any = false;  ///< a tile with lanes
  bool clean = true; ///< what either writes is the same of both
};

Common common_of(const Stage &a, const Stage &b) {
  Common common;
  for_tiles(a, [&](const StridedTile &of_a, bool a_writes) {
    for_tiles(b, [&](const StridedTile &of_b, bool b_writes) {
      if (of_a.value != of_b.value) return;
      const bool same = of_a == of_b && (of_a.step == 0 || a.steps == b.steps);
      common.any = common.any || (same && of_a.lane != 0);
      common.clean = common.clean && (same || (!a_writes && !b_writes));
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

class Joining {
public:
  Joining(const OpJobs &jobs, const NpuConfig &npu) : jobs_(jobs), npu_(npu) {}

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
  /// Elements of a value that a step reads.
  struct Read {
    std::size_t step, begin, end;
  };

  void find_reads() {
    reads_.assign(jobs_.values.size(), {});
    for (std::size_t at = 0; at < jobs_.steps.size(); ++at)
      if (const auto *job = std::get_if<VectorJob>(&jobs_.steps[at])) {
        for (const JobTile &t : job->operands)
          reads_[t.value].push_back({at, t.first, t.element(job->lanes - 1, job->steps - 1) + 1});
      } else {
        const auto &move = std::get<MoveJob>(jobs_.steps[at]);
        reads_[move.from].push_back(
            {at, move.from_first, move.from_first + (move.rows - 1) * move.from_pitch + move.length});
      }
  }

  /// Whether a step behind `at` reads an element that the stages give of a value.
  bool is_read_behind(std::size_t at, std::size_t value, const std::vector<Stage> &stages) const {
    const auto is_read = [&](const Stage &stage, const StridedTile &t) {
      const std::size_t end = t.first + (stage.lanes - 1) * t.lane + (stage.steps - 1) * t.step + 1;
      return std::any_of(reads_[value].begin(), reads_[value].end(),
                         [&](const Read &read) { return read.step > at && read.begin < end && t.first < read.end; });
    };
    return std::any_of(stages.begin(), stages.end(), [&](const Stage &stage) {
      return std::any_of(stage.results.begin(), stage.results.end(),
                         [&](const StridedTile &t) { return t.value == value && is_read(stage, t); });
    });
  }

  /// Stages of which the last is that of step `at`.
  JobGroup group_of(std::vector<Stage> stages, std::size_t at) const {
    JobGroup group{std::move(stages), {}};
    for (std::size_t v = 0; v < jobs_.values.size(); ++v)
      group.in_memory.push_back(jobs_.values[v].tensor != graph::kNone || is_read_behind(at, v, group.stages));
    return group;
  }

  /// As many jobs from `at` on as share windows (shares_windows()), write all of the rows that they write, and fit a
  /// place and the program memory. Nothing if that is one, or if their lanes do not fill a line.
  std::optional<JobGroup> windows_from(std::size_t at) const {
    std::optional<JobGroup> best;
    std::vector<Stage> stages;
    for (std::size_t next = at; next < jobs_.steps.size(); ++next) {
      const auto *job = std::get_if<VectorJob>(&jobs_.steps[next]);
      if (job == nullptr) break;
      Stage stage = stage_of(jobs_, *job);
      if (!shares_windows(stages, stage, npu_)) stage = exchanged(stage);
      if (stage.lanes < npu_.lanes() || !shares_windows(stages, stage, npu_)) break;
      stages.push_back(std::move(stage));
      if (!make_whole_rows(stages)) continue;
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
    if (group.windows || !has_room(group, alone)) return std::nullopt;
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

  /// Whether the program memory holds all programs at once.
  static bool has_room(const JobGroup &group, const JobGroup &alone) {
    std::size_t words = isa::vector::encode(*alone.stages[0].program).size();
    for (const Stage &stage : group.stages)
      words += isa::vector::encode(*stage.program).size();
    return words <= isa::kProgramWords;
  }

  /// Other lanes and steps of a group of elements: exchanged; or those of `wanted`, as they are or exchanged.
  static void add_forms(std::vector<JobGroup> &forms, const JobGroup &group, const Stage &wanted) {
    const auto add = [&](const auto &change) {
      JobGroup form = group;
      for (Stage &stage : form.stages)
        stage = change(stage);
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
    bool any = false;
    for (const Stage &earlier : group.stages) {
      const Common common = common_of(earlier, stage);
      if (!common.clean) return std::nullopt;
      if (earlier.across && has_to_do_with(stage, earlier.results)) return std::nullopt;
      any = any || common.any;
    }
    if (!any) return std::nullopt;
    std::vector<Stage> stages = group.stages;
    stages.push_back(stage);
    JobGroup joined = group_of(std::move(stages), at);
    std::size_t handed_on = 0;
    for (const Stage &s : joined.stages)
      if (s.across) handed_on += rows_handed_on(s, npu_);
    if (handed_on > state_rows(npu_)) return std::nullopt;
    const bool fitting = elementwise ? fits(joined, std::min<std::size_t>(joined.lanes(), npu_.lanes()), 1, npu_)
                                     : cut_of_chains(joined, npu_).lanes != 0;
    if (!fitting || cycles(joined) > cycles(group) + cycles(other)) return std::nullopt;
    return joined;
  }

  const OpJobs &jobs_;
  const NpuConfig &npu_;
  std::vector<std::vector<Read>> reads_; ///< of each value
  std::vector<GroupOrMove> out_;
};

} // namespace

std::vector<GroupOrMove> join_jobs(const OpJobs &jobs, const NpuConfig &npu) { return Joining(jobs, npu).run(); }

} // namespace gradweave::compiler
