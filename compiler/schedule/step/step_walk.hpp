// A search for the plan of a whole step from given plans of its layers: changes of one layer, or of all alike, that the
// timing model judges on the stream of all.
#pragma once

#include "compiler/search/judge.hpp"
#include "compiler/search/plans/plans_beside.hpp"
#include "compiler/search/plans/step_plans.hpp"
#include "sw_models/config/machine.hpp"

#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace gradweave::compiler {

/// Walks from one set of plans to better ones. Deterministic.
class StepWalk {
public:
  /// The references must outlive the object. `layout`: of all layers under the pass of `own`. Takes the plans to begin
  /// with and to change to from `own`, whose sections of the vector unit stay as they are, and from `beside`.
  /// `progress` is called before each change; it may throw.
  StepWalk(const std::vector<Layer> &layers, const Layout &layout, const StepPlans &own, PlansBeside &beside,
           const std::function<void()> &progress, Objective objective = Objective::kCycles);

  /// From here on takes layers' plans also from those of `own` that move less (StepPlans::thrifty()), and plans of
  /// layers beside others also from `beside`, which must outlive the object.
  void offer_thrifty(const StepPlans &own, PlansBeside &beside);
  /// Prices changes ahead in so many threads from here on. Plans and work are the same with any number.
  void use(unsigned threads) { threads_ = threads; }

  /// Begins with the layers' best plans of a level (LayerPlans::Choice::levels), or of their last.
  void begin(std::size_t level);
  /// Lets layers take over tiles from those before where that is better.
  void try_reuse();
  /// Lets layers take over what the memory model would keep (place_tensors()), cut alike or not, where the step is
  /// faster for it.
  void try_placement();
  /// Lets tiles of what a layer computes stay for those that read it soon, whatever parts of them each takes, where
  /// that is faster, with so many changes tried for each group of shapes.
  void try_parts(std::uint64_t changes);
  /// Lets layers that follow one another run a row of their images at a time, where that is faster, with so many
  /// changes tried for each group of shapes.
  void try_strips(std::uint64_t changes);
  /// Lets neighbours run woven where that is faster, with so many changes tried for each pair of shapes, or `patience`
  /// if none of these gains.
  void try_weaving(std::uint64_t changes, std::uint64_t patience);
  /// Puts weight gradients that wait for memory off to later layers whose array is busier, and those of the vector unit
  /// to later ones of the array, or the other way, where that is faster, with so many changes tried for each pair of
  /// shapes.
  void try_putting_off(std::uint64_t changes);
  /// Joins runs of woven layers where that is faster, then changes them and the gradients beside them, those that lose
  /// most first, and so on until none gains any more or the walk has simulated so many `bursts` for it.
  void change_runs(std::uint64_t bursts);
  /// Lets layers run like their conventional plans that are known by now, those of the same shape and surroundings
  /// alike, where that is faster.
  void try_conventional();
  /// Tries so many changes, or fewer once the walk has simulated `bursts` in all, try_weaving() apart.
  void run(std::uint64_t changes, std::uint64_t bursts);

  /// Cost of the step (Judge) from the plans begun with, and now.
  std::uint64_t first_cost() const { return first_cost_; }
  std::uint64_t cost() const { return cost_; }
  /// The plans in the order in which they run, products included.
  std::vector<PhasePlan> plans() const { return range(sections_, 0, sections_.size()); }
  /// What the walk has done; `tried` and `simulated`: on the whole step.
  const SearchWork &work() const { return work_; }
  /// Share of SearchWork::bursts that weaving, tiles of parts and gradients that were put off took.
  std::uint64_t woven_bursts() const { return woven_bursts_; }
  std::uint64_t improvements() const { return improvements_; }
  /// What it began with, and each improvement.
  const std::vector<StepFall> &falls() const { return falls_; }
  /// Seconds of one core that other threads took for it.
  double seconds_beside() const { return seconds_beside_; }

private:
  /// A layer's pass in one direction: a run of phases of the step.
  struct Section {
    std::uint32_t layer = 0;
    const LayerPlans::Choice *choice = nullptr;
    const LayerPlans::Choice *thrifty = nullptr; ///< plans that move less, if they are offered
    std::vector<PhasePlan> plans;                ///< without products
    std::vector<std::uint64_t> array;            ///< cycles that each of them takes at least
    bool woven = false;                          ///< its first phase runs together with those before it
    bool parts = false;                          ///< PhasePlan::takes_parts of its phases
    bool alone = false;                          ///< takes over no tiles from the sections before
    std::uint32_t reach = 0;                     ///< PhasePlan::reach of its phases
    std::uint32_t later = 0; ///< its dW, if it has a phase of its own, is woven with the section so many behind
    std::shared_ptr<const std::vector<PhasePlan>> unit = {}; ///< its phases, if the vector unit computes them

    bool puts_off(std::size_t phase) const {
      return later > 0 && plans.size() > 1 && plans[phase].kind == PhaseKind::kDw;
    }
  };

  using Sections = std::vector<Section>;
  /// Cost, or kNoPlan, and the bursts simulated for it.
  struct Priced {
    std::uint64_t cost = kNoPlan, bursts = 0;
  };

  /// Changes that are tried in order (step_trials.cpp).
  struct Trials {
    std::size_t first = 0, end = 0;             ///< sections that they change
    std::function<bool(std::size_t)> more;      ///< whether the i-th is tried, if none before it gains any more
    std::function<void(std::size_t)> change;    ///< makes the i-th to the sections as they are
    std::vector<PlanChanger *> draws = {};      ///< that it draws from
    std::function<void(std::size_t)> kept = {}; ///< the i-th was kept
    std::function<Priced(const Sections &, std::uint64_t)> price; ///< with a limit
    /// What the i-th may cost above the best before it to be gone on from; the best of all is kept. None: nothing.
    std::function<std::uint64_t(std::size_t)> detour = {};
  };
  Trials trials_of(std::size_t first, std::size_t end, std::size_t priced_first, std::size_t priced_end) const;
  void keep_gains(const Trials &trials, std::uint64_t &best);
  void keep_gains(Trials trials, const std::vector<std::function<void()>> &changes, std::uint64_t &best);
  static std::vector<PlanChanger::Position> positions(const std::vector<PlanChanger *> &draws);
  static void go_to(const std::vector<PlanChanger *> &draws, const std::vector<PlanChanger::Position> &positions);
  void price_in_threads(std::size_t count, const std::function<bool(std::size_t, Sections &)> &gains);

  void set(Section &section, std::vector<PhasePlan> plans) const;
  void run_like(Section &section, const Section &like) const;
  static const std::vector<PhasePlan> &draw_plans(const Section &section, PlanChanger &draw);
  void change(Section &section);
  void align(Section &section, const PhasePlan &like) const;
  void cut_like(Section &section, const Section &other) const;
  void align_to_any(Section &section);
  void align_to_itself(Section &section);
  static void walk_lines_first(std::vector<PhasePlan> &plans);
  static std::vector<PhasePlan> plans_by_lines(const Section &section);
  void cut_into_bands(Section &section, std::vector<PhasePlan> plans, std::uint32_t lines, std::uint32_t share) const;
  void cut_run(std::pair<std::size_t, std::size_t> run, std::uint32_t lines, std::uint32_t share, bool in_parts);
  std::uint32_t row_of_image(std::pair<std::size_t, std::size_t> run) const;
  void part_gradients(Section &section, std::uint32_t lines) const;
  void cut_run_finely(std::pair<std::size_t, std::size_t> run, std::uint32_t lines, std::uint32_t ranges,
                      bool dx_alone);
  void change_pair(Section &one, Section &other);
  std::vector<std::vector<std::size_t>> pairs_to_weave();
  std::pair<std::size_t, std::size_t> run_with(std::size_t section) const;
  std::pair<std::size_t, std::size_t> run_of(std::size_t section) const;
  void copy_run(std::size_t from, std::size_t to);
  bool weave_with_last(std::size_t section, std::uint64_t changes, std::uint64_t patience);
  /// Runs of sections that are searched once for all of their shapes.
  class ShapeRuns {
  public:
    explicit ShapeRuns(StepWalk &walk) : walk_(walk) {}
    /// Lets the sections from `first` to `last` run as others of their shapes that share tensors likewise do, if these
    /// were tried before; else calls `search`, which says whether it gained by itself. Keeps what makes the step
    /// better.
    void try_run(std::size_t first, std::size_t last, const std::function<bool()> &search);

  private:
    using Key = std::pair<std::vector<const LayerPlans::Choice *>, std::vector<std::uint64_t>>;

    StepWalk &walk_;
    std::map<Key, std::size_t> known_; ///< the first section of those that were tried
  };
  bool depends(std::size_t section, std::size_t other) const;
  bool read_alike_apart(std::size_t one, std::size_t other) const;
  std::optional<std::size_t> bring_together(std::size_t one, std::size_t other);
  void weave_readers(std::uint64_t changes, std::uint64_t patience);
  std::size_t last_reader(std::size_t section) const;
  bool reads(std::size_t section, std::int32_t tensor) const;
  void share_tiles(std::size_t first, std::size_t last, std::uint32_t ranges);
  bool keep_for_readers(std::size_t first, std::size_t last, std::uint64_t changes);
  struct Strip;
  bool follows(std::size_t first, std::size_t section) const;
  std::uint32_t strip_width(std::size_t first, std::size_t last) const;
  void cut_into_rows(Section &section, const Strip &strip, std::uint32_t width) const;
  std::uint32_t rows_of_weights(std::size_t first, std::size_t last) const;
  Strip any_strip(std::uint32_t weight_rows);
  void run_as_strip(std::size_t first, std::size_t last, const Strip &strip, std::uint32_t width);
  bool run_in_strips(std::size_t first, std::size_t last, std::uint64_t changes);
  struct Balance;
  Balance balance_of(std::size_t first, std::size_t end);
  std::vector<Balance> gradients();
  Priced price_of_both(const Sections &sections, std::size_t section, std::size_t host, std::uint64_t limit) const;
  std::pair<std::size_t, std::size_t> around(std::size_t section) const;
  bool is_woven(std::size_t section) const;
  std::size_t guests_of(std::size_t section) const;
  bool may_host(std::size_t host, std::size_t section) const;
  bool put_off_beside_unit(std::size_t section, std::size_t host, std::uint64_t changes);
  class Guest;
  class WovenRun;
  struct RunsAlike;
  std::vector<RunsAlike> runs_alike();
  bool change_run(const RunsAlike &runs);
  bool improves_with(const Sections &one, const Sections &before);
  std::pair<std::size_t, std::size_t> with_next_runs(std::size_t first, std::size_t end) const;
  void join_run(const std::vector<std::size_t> &pairs);
  void join_runs(std::uint64_t bursts);
  void change_each_run(std::uint64_t bursts);
  void go_on_with_gradients(std::uint64_t changes);
  std::vector<std::size_t> pick_sections();
  bool improves();
  bool improves(const Priced &step);
  void try_on_all(const std::function<void(Section &)> &change);
  struct Change;
  Change draw_change();
  std::vector<std::size_t> change_linked(std::size_t one);
  void price(Sections &sections, Change &change) const;
  bool keep_change(Change &change);
  static bool goes_nearby(std::uint64_t whole_bursts, std::uint64_t bursts);
  void foresee(std::vector<Change> &changes) const;
  std::uint64_t shared_tensors(std::size_t one, std::size_t other) const;
  /// Calls take(section, index of the phase, whether it is the section's first here, PhasePlan::joined, whether it was
  /// put off) for all phases that run from section `first` to before `end`.
  template <typename Take>
  static void for_phases(const Sections &sections, std::size_t first, std::size_t end, const Take &take);
  /// Plans of the sections from `first` to before `end`.
  std::vector<PhasePlan> range(const Sections &sections, std::size_t first, std::size_t end) const;
  Layout layout_of(std::size_t first, std::size_t end) const;
  /// Of these sections; kNoPlan if they do not fit, or are found to cost `limit` or more.
  std::uint64_t cost(std::size_t first, std::size_t end, std::uint64_t limit);
  Priced price(const Sections &sections, std::size_t first, std::size_t end, std::uint64_t limit) const;
  Priced price_around(const Sections &sections, std::size_t section, std::uint64_t limit) const;
  std::uint64_t counted(const Priced &priced) {
    work_.bursts += priced.bursts;
    return priced.cost;
  }
  /// The first sections are forward passes.
  std::size_t forward_sections() const { return forward_sections_; }
  /// Whether it is the first of the backward pass, which begins when the forward pass has ended: dY depends on all Y.
  bool is_at_turn(std::size_t section) const { return section == forward_sections_; }

  const std::vector<Layer> &layers_;
  const Layout &layout_;
  const Machine &npu_;
  Judge judge_;
  PlansBeside &beside_;
  PlansBeside *thrifty_beside_ = nullptr; ///< that move less, if they are offered
  const std::function<void()> &progress_;
  PlanChanger changer_;
  PlanChanger weaver_; ///< of woven sections: what one draws does not change what the other does
  PlanChanger mover_;  ///< likewise, of sections that share tiles or put gradients off
  Sections sections_;
  unsigned threads_ = 1;
  std::size_t forward_sections_ = 0;
  /// Of each section those that take over a tensor from it or that it takes over from; empty without try_placement().
  std::vector<std::vector<std::size_t>> linked_;
  std::map<std::size_t, std::uint64_t> around_; ///< cost_around() of the sections as they are, where known
  std::uint64_t first_cost_ = 0, cost_ = 0, improvements_ = 0;
  std::vector<StepFall> falls_;
  SearchWork work_;
  std::uint64_t woven_bursts_ = 0;               ///< see the public one
  std::uint64_t whole_bursts_ = 0;               ///< share of its bursts that were simulated in whole steps
  std::uint64_t last_whole_ = 0, last_near_ = 0; ///< bursts that a change took last, on the whole step and nearby
  double seconds_beside_ = 0;
};

template <typename Take>
void StepWalk::for_phases(const Sections &sections, std::size_t first, std::size_t end, const Take &take) {
  std::vector<std::vector<std::size_t>> guests(end);
  for (std::size_t s = 0; s < end; ++s)
    if (const std::size_t host = s + sections[s].later; host > s && host < end) guests[host].push_back(s);
  const auto put_off = [&](const Section &section) {
    std::size_t phase = 0;
    while (phase < section.plans.size() && !section.puts_off(phase))
      ++phase;
    return phase;
  };
  for (std::size_t s = first; s < end; ++s) {
    const Section &section = sections[s];
    std::size_t begun = 0;
    for (std::size_t i = 0; i < section.plans.size(); ++i)
      if (!section.puts_off(i)) {
        take(s, i, begun == 0, begun > 0 && !guests[s].empty(), false);
        ++begun;
      }
    for (const std::size_t guest : guests[s])
      if (const std::size_t phase = put_off(sections[guest]); phase < sections[guest].plans.size())
        take(guest, phase, false, false, true);
  }
}

} // namespace gradweave::compiler
