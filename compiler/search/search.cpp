#include "compiler/search/search.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/cost/estimate/splits.hpp"
#include "compiler/cost/estimate/tile_estimate.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/request/options.hpp"
#include "compiler/search/phase_search.hpp"
#include "compiler/spm/residency.hpp"

#include <algorithm>
#include <cmath>

namespace gradweave::compiler {
namespace {

/// Program::work() that a search for a layer's first plans may do at most; sets its run time. The phases share it.
constexpr std::uint64_t kUsualWork = 500'000;
/// Times a search's work for plans of all phases together.
constexpr std::uint64_t kJointShare = 2;
/// Share of it for a phase whose dY tiles are given.
constexpr std::uint64_t kMatchShare = 20;
/// Plans of a phase that are tried together with those of the layer's other phases.
constexpr std::size_t kJoined = 3;
/// Plans of all phases that are handed on, with the usual work and at least.
constexpr double kHandedOn = 12, kLeastHandedOn = 4;

} // namespace

double effort_of(std::uint64_t plans) {
  constexpr double kLeast = 0.05; // first plans that are far off are not mended by changes
  return std::clamp(static_cast<double>(plans) / static_cast<double>(CompileOptions{}.plans), kLeast, 1.0);
}

namespace {

/// Plans of all phases together: what one phase leaves in the scratchpad can serve the next.
class JointSearch {
public:
  JointSearch(const std::vector<PhaseKind> &kinds, const Layer &layer, const Layer &whole, const Cut &cut,
              const Layout &layout, const Machine &npu, double effort, const std::function<void()> &tried)
      : kinds_(kinds), layer_(layer), whole_(whole), cut_(cut), layout_(layout), npu_(npu),
        budget_(static_cast<std::uint64_t>(kUsualWork * effort)),
        handed_on_(static_cast<std::size_t>(std::max(kLeastHandedOn, std::round(kHandedOn * effort)))), tried_(tried) {}

  /// The best plans of one phase after the other, and what goes with them.
  void run();
  std::vector<std::vector<PhasePlan>> take();

private:
  void play(std::vector<PhasePlan> plans);
  /// Gives both phases of a sequential backward pass the same dY tiles, so that dY can stay from dX to dW.
  void match(const std::vector<Candidate> &from, std::size_t other);
  /// The best plans of a phase by itself. `fixed`: sides of its tiles that are given; `budget`: work that it may do.
  std::vector<Candidate> plans_of(PhaseKind kind, const TileShape &fixed, std::uint64_t budget) const {
    const PhaseParts parts = phase_parts(cut_, form_of(kind).forward(), layer_, npu_);
    return PhaseSearch(kind, parts, fixed, budget, layer_, whole_, layout_, npu_, tried_).run();
  }

  std::vector<PhaseKind> kinds_;
  const Layer &layer_, &whole_;
  Cut cut_;
  const Layout &layout_;
  const Machine &npu_;
  std::uint64_t budget_; ///< of all phases
  std::size_t handed_on_;
  std::uint64_t played_ = 0; ///< work done on plans of all phases
  const std::function<void()> &tried_;
  struct Joint {
    std::vector<PhasePlan> plans;
    std::uint64_t cycles = 0; ///< estimated
  };
  std::vector<Joint> found_; ///< best first
};

void JointSearch::play(std::vector<PhasePlan> plans) {
  if (played_ > kJointShare * budget_) return;
  if (tried_) tried_();
  for (PhasePlan &p : plans)
    p.products = plan_products(p, layer_, npu_);
  const std::uint64_t limit = found_.size() == handed_on_ ? found_.back().cycles : kTooSlow;
  auto program = allocate(plans, {layer_}, layout_, npu_, traffic_limit(limit, false, npu_), &played_);
  if (!program) return;
  played_ += program->work();
  const std::uint64_t cycles = estimate_cycles(*program, npu_, limit);
  if (cycles >= limit) return;
  const auto at = std::upper_bound(found_.begin(), found_.end(), cycles,
                                   [](std::uint64_t c, const Joint &other) { return c < other.cycles; });
  found_.insert(at, {std::move(plans), cycles});
  if (found_.size() > handed_on_) found_.pop_back();
}

std::vector<std::vector<PhasePlan>> JointSearch::take() {
  std::vector<std::vector<PhasePlan>> plans;
  for (Joint &j : found_)
    plans.push_back(std::move(j.plans));
  return plans;
}

void JointSearch::match(const std::vector<Candidate> &from, std::size_t other) {
  for (const Candidate &given : from) {
    const TileShape fixed{given.plan.tile.m, 0, given.plan.tile.n};
    const auto partners = plans_of(kinds_[other], fixed, budget_ / kMatchShare);
    for (std::size_t i = 0; i < std::min(partners.size(), kJoined); ++i) {
      std::vector<PhasePlan> plans{given.plan};
      plans.insert(other == 0 ? plans.begin() : plans.end(), partners[i].plan);
      play(plans);
      RoughEstimate both;
      for (const RoughEstimate *r : {&given.rough, &partners[i].rough}) {
        both.shared_rows = std::max(both.shared_rows, r->shared_rows);
        both.other_rows = std::max(both.other_rows, r->other_rows);
        both.result_rows = std::max(both.result_rows, r->result_rows);
      }
      both.shared_rows =
          std::max(both.shared_rows, static_cast<double>(spm_rows(layer_.m, layer_.n, false, npu_.lanes())));
      for (const SpmSplit &split : splits_near(both, npu_, 1)) {
        plans.front().split = plans.back().split = split;
        play(plans);
      }
    }
  }
}

/// Whether two phases of single results have an operand in common.
bool share_operand(PhaseKind one, PhaseKind other) {
  const PhaseForm &x = form_of(one), &y = form_of(other);
  return !x.fused() && !y.fused() &&
         contraction_of(x.results.front()).shared == contraction_of(y.results.front()).shared;
}

void JointSearch::run() {
  std::vector<std::vector<Candidate>> choices;
  for (const PhaseKind kind : kinds_) {
    choices.push_back(plans_of(kind, {}, budget_ / kinds_.size()));
    if (choices.back().empty()) refuse_scratchpad(layer_, npu_); // tiles of images may fit but for how they lie
    if (kinds_.size() > 1) choices.back().resize(std::min(choices.back().size(), kJoined));
  }
  std::vector<std::size_t> pick(choices.size(), 0);
  for (std::size_t i = 0; i < pick.size();) {
    std::vector<PhasePlan> plans;
    for (std::size_t phase = 0; phase < choices.size(); ++phase)
      plans.push_back(choices[phase][pick[phase]].plan);
    play(std::move(plans));
    for (i = 0; i < pick.size() && ++pick[i] == choices[i].size(); ++i)
      pick[i] = 0;
  }
  if (kinds_.size() == 2 && share_operand(kinds_.front(), kinds_.back())) {
    match(choices[0], 1);
    match(choices[1], 0);
  }
}

} // namespace

std::vector<std::vector<PhasePlan>> search(const Layer &layer, Schedule schedule, Pass pass, const Cut &cut,
                                           const Layout &layout, const Machine &npu, double effort,
                                           const std::function<void()> &tried, const Layer *whole) {
  JointSearch joint(phases(schedule, pass, layer), layer, whole == nullptr ? layer : *whole, cut, layout, npu, effort,
                    tried);
  joint.run();
  return joint.take();
}

} // namespace gradweave::compiler
