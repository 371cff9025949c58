// Runs of woven sections are joined, and they and the gradients beside them change at random, when all else has ended:
// those first that lose most, and by detours over what takes longer.
#include "compiler/schedule/step/step_guest.hpp"
#include "compiler/schedule/step/step_walk.hpp"
#include "compiler/spm/residency.hpp"

#include <algorithm>
#include <tuple>

namespace gradweave::compiler {
namespace {

/// Changes of a run at a time, and one part of so many of its cost that the first of them may lose; later ones less.
constexpr std::uint64_t kChanges = 100, kDetour = 200;
/// A run that has gained nothing by so many times as many, one after the other, is left.
constexpr std::uint64_t kInVain = 6;
/// Two runs go on being joined while they take less than one part of so many longer than apart, until they have gained
/// nothing by so many times as many changes.
constexpr std::uint64_t kWorthJoining = 12, kJoinedInVain = 3;
/// Joining takes one part of so many of the work that changes of runs may take.
constexpr std::uint64_t kJoinShare = 4;

} // namespace

class StepWalk::WovenRun {
public:
  /// Of the section that it begins with.
  WovenRun(StepWalk &walk, std::size_t first);

  std::size_t end() const { return end_; }
  /// Whether a section of the vector unit is among them, whose plan stays.
  bool has_unit() const { return has_unit_; }
  /// Whether gradients that were put off run here.
  bool has_guests() const {
    return std::any_of(slots_.begin(), slots_.end(), [](const Slot &slot) { return slot.late; });
  }
  /// Of the run and those next to it.
  std::uint64_t cost() const { return walk_.cost(priced_first_, priced_end_, kNoPlan); }
  /// What the run costs above its bound.
  std::uint64_t loss() const;
  /// Whether phases of the same shapes run alike.
  bool is_like(const WovenRun &other) const;
  /// Takes the plans of one that is like it.
  void take_plans(const WovenRun &other);
  /// Changes plans at random; whether the run gains.
  bool change();

private:
  /// A phase that runs here; `late`: put off to here.
  struct Slot {
    std::size_t section = 0, phase = 0;
    bool late = false;
  };
  /// A section's phases that run here.
  struct Part {
    std::size_t section = 0;
    bool late = false;
  };

  const PhasePlan &plan(const Slot &slot) const { return walk_.sections_[slot.section].plans[slot.phase]; }
  std::uint32_t banks_of_guests() const;
  static std::size_t put_off(const Section &section);
  void replace(const Part &part, const std::function<void(std::vector<PhasePlan> &)> &change);
  void take_alternative(const Part &part);
  void change_once(PlanChanger &host, PlanChanger &guest, std::uint32_t guest_banks);

  StepWalk &walk_;
  std::size_t first_, end_, from_; ///< from_: the first section that has a phase here
  std::size_t priced_first_ = 0, priced_end_ = 0;
  bool has_unit_ = false;
  std::vector<Slot> slots_;
  std::vector<Part> parts_;
};

StepWalk::WovenRun::WovenRun(StepWalk &walk, std::size_t first)
    : walk_(walk), first_(first), end_(walk.run_with(first).second), from_(first) {
  const Sections &sections = walk.sections_;
  std::tie(priced_first_, priced_end_) = walk.with_next_runs(first_, end_);
  for_phases(sections, first_, end_, [&](std::size_t s, std::size_t phase, bool, bool, bool late) {
    slots_.push_back({s, phase, late});
    if (parts_.empty() || parts_.back().section != s) parts_.push_back({s, late});
    from_ = std::min(from_, s);
    has_unit_ = has_unit_ || sections[s].unit;
  });
}

std::uint64_t StepWalk::WovenRun::loss() const {
  const std::optional<Program> program =
      allocate(walk_.range(walk_.sections_, first_, end_), walk_.layers_, walk_.layout_of(first_, end_), walk_.npu_);
  if (!program) return 0;
  const std::uint64_t all = walk_.cost(first_, end_, kNoPlan);
  return all - std::min(all, walk_.judge_.bound(*program));
}

bool StepWalk::WovenRun::is_like(const WovenRun &other) const {
  return std::equal(slots_.begin(), slots_.end(), other.slots_.begin(), other.slots_.end(),
                    [&](const Slot &x, const Slot &y) {
                      const Section &one = walk_.sections_[x.section], &two = walk_.sections_[y.section];
                      return one.choice == two.choice && one.woven == two.woven && x.phase == y.phase &&
                             x.late == y.late && plan(x).kind == plan(y).kind;
                    });
}

void StepWalk::WovenRun::take_plans(const WovenRun &other) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Section &section = walk_.sections_[slots_[i].section];
    std::vector<PhasePlan> plans = section.plans;
    plans[slots_[i].phase] = plan(other.slots_[i]);
    walk_.set(section, std::move(plans));
  }
}

/// The last macro-banks, which gradients that were put off to here have for themselves; 0: they have none.
std::uint32_t StepWalk::WovenRun::banks_of_guests() const {
  std::uint32_t banks = 0;
  for (const Slot &slot : slots_) {
    if (!slot.late) continue;
    const SpmSplit &split = plan(slot).split;
    const std::uint32_t first = std::min({split.shared.first, split.other.first, split.result.first});
    if (first == 0 || first % walk_.npu_.bank_rows() != 0) return 0;
    banks = std::max(banks, walk_.npu_.spm_banks - first / walk_.npu_.bank_rows());
  }
  return banks;
}

/// The index of the phase that runs elsewhere, or one past the last.
std::size_t StepWalk::WovenRun::put_off(const Section &section) {
  std::size_t phase = 0;
  while (phase < section.plans.size() && !section.puts_off(phase))
    ++phase;
  return phase;
}

/// Changes the plans of the section's phases that run here.
void StepWalk::WovenRun::replace(const Part &part, const std::function<void(std::vector<PhasePlan> &)> &change) {
  Section &section = walk_.sections_[part.section];
  const std::size_t off = put_off(section);
  std::vector<PhasePlan> here, plans = section.plans;
  for (std::size_t i = 0; i < plans.size(); ++i)
    if ((i == off) == part.late) here.push_back(plans[i]);
  change(here);
  auto next = here.begin();
  for (std::size_t i = 0; i < plans.size(); ++i)
    if ((i == off) == part.late) plans[i] = *next++;
  walk_.set(section, std::move(plans));
}

/// Of the phases that run here, plans that were searched for the layer by itself.
void StepWalk::WovenRun::take_alternative(const Part &part) {
  Section &section = walk_.sections_[part.section];
  const std::vector<PhasePlan> &found = draw_plans(section, walk_.weaver_);
  if (put_off(section) == section.plans.size() && section.later == 0) return walk_.set(section, found);
  replace(part, [&](std::vector<PhasePlan> &here) {
    for (PhasePlan &p : here)
      if (const auto like =
              std::find_if(found.begin(), found.end(), [&](const PhasePlan &f) { return f.kind == p.kind; });
          like != found.end())
        p = *like;
  });
}

/// `host`, `guest`: what draws changes that keep to the macro-banks of each.
void StepWalk::WovenRun::change_once(PlanChanger &host, PlanChanger &guest, std::uint32_t guest_banks) {
  PlanChanger &draw = walk_.weaver_;
  const Part part = parts_[draw.pick(parts_.size())];
  Section &section = walk_.sections_[part.section];
  const Layer &layer = walk_.layers_[section.layer];
  const std::uint32_t kind = draw.pick(8);
  if (part.late) {
    const std::uint32_t rows = guest_banks == 0 ? 0 : (walk_.npu_.spm_banks - guest_banks) * walk_.npu_.bank_rows();
    replace(part, [&](std::vector<PhasePlan> &here) {
      here = moved_by(here, 0U - rows);
      guest.change(here, layer);
      here = moved_by(here, rows);
    });
  } else if (kind == 0 && parts_.size() > 1) {
    const Part other = parts_[draw.pick(parts_.size())];
    if (!other.late && section.later == 0) walk_.align(section, walk_.sections_[other.section].plans.front());
  } else if (kind == 1 && guest_banks == 0) {
    if (draw.pick(3) == 0)
      replace(part, walk_lines_first);
    else
      take_alternative(part);
  } else if (kind == 2 && section.plans.size() == 2 && section.later == 0) {
    std::vector<PhasePlan> plans = section.plans;
    std::swap(plans[0], plans[1]);
    walk_.set(section, std::move(plans));
  } else {
    replace(part, [&](std::vector<PhasePlan> &here) { host.change(here, layer); });
  }
}

bool StepWalk::WovenRun::change() {
  const std::uint64_t before = cost(), most = before / kDetour;
  std::uint64_t best = before;
  PlanChanger &draw = walk_.weaver_;
  const std::uint32_t banks = banks_of_guests(), all = walk_.npu_.spm_banks;
  PlanChanger host(walk_.beside_.npu_of(all - banks), draw.pick(kSeeds));
  PlanChanger guest(walk_.beside_.npu_of(banks == 0 ? all : banks), draw.pick(kSeeds));
  Trials trials = walk_.trials_of(from_, end_, priced_first_, priced_end_);
  trials.more = [](std::size_t i) { return i < kChanges; };
  trials.change = [&](std::size_t) {
    for (std::uint32_t times = 1 + draw.pick(2); times > 0; --times)
      change_once(host, guest, banks);
  };
  trials.draws = {&draw, &host, &guest};
  trials.detour = [=](std::size_t i) { return most * (kChanges - i) / kChanges; };
  walk_.keep_gains(trials, best);
  return best < before;
}

/// Runs of the same shapes, which learn from one another.
struct StepWalk::RunsAlike {
  std::vector<std::size_t> firsts;
  std::uint64_t loss = 0; ///< of all, if all lose as much as the first
  std::uint64_t turns = 0, in_vain = 0;
};

std::vector<StepWalk::RunsAlike> StepWalk::runs_alike() {
  std::vector<RunsAlike> all;
  for (std::size_t s = 0; s < sections_.size();) {
    const WovenRun run(*this, s);
    const auto like = std::find_if(all.begin(), all.end(), [&](const RunsAlike &runs) {
      return WovenRun(*this, runs.firsts.front()).is_like(run);
    });
    if (like != all.end())
      like->firsts.push_back(s);
    else if (!run.has_unit())
      all.push_back({{s}});
    s = run.end();
  }
  for (RunsAlike &runs : all)
    runs.loss = WovenRun(*this, runs.firsts.front()).loss() * runs.firsts.size();
  return all;
}

/// Changes one of the runs, and lets the others run like it where these gain, too. Whether the step gains.
bool StepWalk::change_run(const RunsAlike &runs) {
  const Sections before = sections_;
  WovenRun run(*this, runs.firsts[runs.turns % runs.firsts.size()]);
  if (!run.change()) return false;
  const Sections one_changed = sections_;
  for (const std::size_t first : runs.firsts) {
    WovenRun other(*this, first);
    if (!other.is_like(run)) continue;
    const Sections as_is = sections_;
    const std::uint64_t apart = other.cost();
    other.take_plans(run);
    if (other.cost() >= apart) sections_ = as_is;
  }
  return improves_with(one_changed, before);
}

/// Whether the step gains as it is, or else by `one`, which it then is; else it is as `before`.
bool StepWalk::improves_with(const Sections &one, const Sections &before) {
  for (const Sections *next : {&one, &before}) {
    if (improves()) return true;
    sections_ = *next;
  }
  return false;
}

/// The sections from `first` to before `end` with the runs on both sides, whole: a section of a run that is cut off
/// takes other cycles than in it.
std::pair<std::size_t, std::size_t> StepWalk::with_next_runs(std::size_t first, std::size_t end) const {
  return {run_with(first - std::min<std::size_t>(first, 1)).first,
          run_with(std::min(end, sections_.size() - 1)).second};
}

/// Weaves the run that begins with the section with the one before it, from bands, and changes both by detours until
/// they take less than apart, and on as long as they gain; then pairs of the same shapes, where these gain, too.
void StepWalk::join_run(const std::vector<std::size_t> &pairs) {
  const std::size_t section = pairs.front();
  const std::size_t first = run_of(section).first;
  for (const std::size_t s : {first, section})
    if (const WovenRun run(*this, s); run.has_unit() || run.has_guests()) return;
  const Sections before = sections_;
  weave_with_last(section, 0, 0);
  WovenRun run(*this, first);
  const std::pair<std::size_t, std::size_t> around = with_next_runs(first, run.end());
  const std::uint64_t apart = counted(price(before, around.first, around.second, kNoPlan));
  std::uint64_t best = run.cost();
  for (std::uint64_t in_vain = 0; in_vain < kJoinedInVain && best < apart + apart / kWorthJoining; best = run.cost())
    in_vain = run.change() ? 0 : in_vain + 1;
  if (best >= apart) {
    sections_ = before;
    return;
  }
  const Sections one_joined = sections_;
  for (const std::size_t other : pairs) {
    const Sections as_is = sections_;
    copy_run(section, other);
    const auto [other_first, other_end] = run_of(other);
    const auto [from, to] = with_next_runs(other_first, other_end);
    if (cost(from, to, kNoPlan) > counted(price(as_is, from, to, kNoPlan))) sections_ = as_is;
  }
  improves_with(one_joined, before);
}

void StepWalk::join_runs(std::uint64_t bursts) {
  const std::uint64_t begun = work_.bursts;
  for (const std::vector<std::size_t> &pairs : pairs_to_weave()) {
    if (work_.bursts - begun >= bursts) break;
    if (progress_) progress_();
    if (!sections_[pairs.front()].woven) join_run(pairs);
  }
}

/// Those that lose most first, until none gains any more or the walk has simulated so many bursts for it.
void StepWalk::change_each_run(std::uint64_t bursts) {
  const std::uint64_t begun = work_.bursts;
  std::vector<RunsAlike> all = runs_alike();
  while (work_.bursts - begun < bursts) {
    const auto next = std::min_element(all.begin(), all.end(), [](const RunsAlike &one, const RunsAlike &other) {
      return std::tuple(one.in_vain, ~one.loss) < std::tuple(other.in_vain, ~other.loss);
    });
    if (next == all.end() || next->in_vain == kInVain) break;
    if (progress_) progress_();
    next->in_vain = change_run(*next) ? 0 : next->in_vain + 1;
    ++next->turns;
    next->loss = WovenRun(*this, next->firsts.front()).loss() * next->firsts.size();
  }
}

void StepWalk::change_runs(std::uint64_t bursts) {
  const std::uint64_t begun = work_.bursts;
  const auto left = [&] { return bursts - std::min(bursts, work_.bursts - begun); };
  for (std::uint64_t before = kNoPlan; cost_ < before && left() > 0;) {
    before = cost_;
    join_runs(std::min(left(), bursts / kJoinShare));
    change_each_run(left());
  }
  around_.clear();
  woven_bursts_ += work_.bursts - begun;
}

} // namespace gradweave::compiler
