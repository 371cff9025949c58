#include "compiler/schedule/search.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/cost/estimate.hpp"
#include "compiler/cost/tile_estimate.hpp"
#include "compiler/ir/error.hpp"
#include "compiler/ir/options.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/spm/residency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace gradweave::compiler {
namespace {

/// Program::work() that the search for one layer may do; sets its run time. The phases share it.
constexpr std::uint64_t kPhaseBudget = 500'000;
/// Times as much for the plans of all phases together.
constexpr std::uint64_t kJointShare = 2;
/// Share of it for a phase whose dY tiles are given.
constexpr std::uint64_t kMatchShare = 20;
/// Tilings and orders of a phase that are played at all.
constexpr std::size_t kPlayed = 4000;
/// Of those, how many are tried with other splits, windows and policies.
constexpr std::size_t kRefined = 12;
/// Plans of a phase that are tried together with those of the layer's other phases.
constexpr std::size_t kJoined = 3;
/// Plans of all phases that are handed on, with the usual work and at least.
constexpr double kHandedOn = 12, kLeastHandedOn = 4;
/// A plan this near the bound of its phase ends the search for tilings.
constexpr double kCloseEnough = 1.002;

struct Candidate {
  PhasePlan plan;
  RoughEstimate rough;
  double cycles = std::numeric_limits<double>::infinity();
};

/// Splits on bank boundaries near the wanted shares, the closest first, and last the whole scratchpad as one area.
std::vector<SpmSplit> splits(const RoughEstimate &rough, const NpuConfig &npu, int reach) {
  const auto banks = static_cast<int>(npu.spm_banks);
  const std::uint32_t bank = npu.bank_rows();
  const double total = rough.shared_rows + rough.other_rows + rough.result_rows;
  std::vector<SpmSplit> result;
  const auto add = [&](int shared, int other) {
    if (shared < 1 || other < 1 || shared + other >= banks) return;
    const auto rows = [&](int n) { return static_cast<std::uint32_t>(n) * bank; };
    result.push_back(
        {{0, rows(shared)}, {rows(shared), rows(other)}, {rows(shared + other), rows(banks - shared - other)}});
  };
  const auto wanted = [&](double rows) {
    return std::clamp(static_cast<int>(std::lround(rows / total * banks)), 1, std::max(1, banks - 2));
  };
  const int shared = wanted(rough.shared_rows);
  const int other = std::min(wanted(rough.other_rows), std::max(1, banks - shared - 1));
  for (int distance = 0; distance <= reach; ++distance)
    for (int ds = -distance; ds <= distance; ++ds)
      for (int d_other = -distance; d_other <= distance; ++d_other)
        if (std::max(std::abs(ds), std::abs(d_other)) == distance) add(shared + ds, other + d_other);
  if (banks >= 2) {
    const auto cut = static_cast<std::uint32_t>(std::clamp(shared, 1, banks - 1)) * bank;
    const RowRange rest{cut, npu.spm_rows() - cut};
    result.push_back({{0, cut}, rest, rest});
  }
  const RowRange all{0, npu.spm_rows()};
  result.push_back({all, all, all});
  return result;
}

class PhaseSearch {
public:
  /// `fixed`: tile sides that are given; 0: to be found.
  PhaseSearch(PhaseKind kind, const PhaseParts &parts, const TileShape &fixed, std::uint64_t budget, const Layer &layer,
              const Layer &whole, const Layout &layout, const Machine &npu, const std::function<void()> &tried)
      : kind_(kind), parts_(parts), fixed_(fixed), budget_(budget), layer_(layer), whole_(whole), layers_{layer},
        part_(part_of(layer, parts, npu)), layout_(layout), npu_(npu), tried_(tried) {}

  /// The best plans found, best first. Throws CompileError if no tiling is possible; with given sides, finds nothing
  /// then.
  std::vector<Candidate> run();

private:
  /// A tiling and loop order that has not been played yet. There are many.
  struct Ranked {
    TileShape tile;
    LoopOrder loops;
    RoughEstimate rough;
  };
  std::vector<Ranked> ranked() const;
  /// The tile in all loop orders.
  void add_orders(const TileShape &tile, std::vector<Ranked> &ranked) const;
  Candidate plan_of(const Ranked &ranked) const;
  std::optional<Program> place(const PhasePlan &plan, const TrafficLimit &limit);
  /// Plays the plan and keeps it if it is among the best.
  void play(Candidate candidate);
  void play_in_budget(const Candidate &candidate, std::uint64_t budget) {
    if (played_ < budget) play(candidate);
  }
  double best() const { return found_.empty() ? std::numeric_limits<double>::infinity() : found_.front().cycles; }

  PhaseKind kind_;
  PhaseParts parts_;
  TileShape fixed_;
  std::uint64_t budget_;
  const Layer &layer_, &whole_;
  std::vector<Layer> layers_; ///< the one
  Layer part_;                ///< the largest part: tilings are chosen for it
  const Layout &layout_;
  const Machine &npu_;
  const std::function<void()> &tried_;
  std::uint64_t played_ = 0; ///< work done
  std::vector<Candidate> found_;
  std::vector<PhasePlan> walked_ = std::vector<PhasePlan>(1); ///< the one that walk_ is of
  std::optional<TileWalk> walk_;
};

std::vector<PhaseSearch::Ranked> PhaseSearch::ranked() const {
  const std::uint32_t beat = npu_.bus_bytes / 2;
  const auto sides = [&](std::uint32_t fixed, std::uint32_t extent, std::uint32_t unit) {
    return fixed > 0 ? std::vector<std::uint32_t>{fixed} : tile_sides(extent, unit, beat);
  };
  const auto ms = sides(fixed_.m, part_.m, array_side(kind_, Dim::kM, npu_));
  const auto ks = sides(fixed_.k, part_.k, array_side(kind_, Dim::kK, npu_));
  const auto ns = sides(fixed_.n, part_.n, array_side(kind_, Dim::kN, npu_));
  const RowRange all{0, npu_.spm_rows()};
  std::vector<Ranked> ranked;
  std::uint64_t fewest = ~std::uint64_t{0};
  for (const std::uint32_t m : ms)
    for (const std::uint32_t k : ks)
      for (const std::uint32_t n : ns) {
        const TileShape tile{m, k, n};
        if (!fits(kind_, tile, {all, all, all}, part_, npu_, parts_)) continue;
        const std::uint64_t products = product_count(kind_, tile, whole_);
        fewest = std::min(fewest, products);
        if (products <= kMostProducts) add_orders(tile, ranked);
      }
  if (ranked.empty() && fixed_ == TileShape{}) {
    if (fewest == ~std::uint64_t{0}) refuse_scratchpad(whole_, npu_);
    check_products(fewest, whole_, npu_);
  }
  const std::size_t keep = std::min(ranked.size(), kPlayed);
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(keep), ranked.end(),
                    [](const Ranked &x, const Ranked &y) { return x.rough.cycles < y.rough.cycles; });
  ranked.resize(keep);
  return ranked;
}

void PhaseSearch::add_orders(const TileShape &tile, std::vector<Ranked> &ranked) const {
  for (const LoopOrder &loops : form_of(kind_).loops) {
    Ranked r{tile, loops, rough_estimate(kind_, loops, tile, part_, npu_, parts_.cores)};
    if (parts_.count > 1) r.rough.bound = static_cast<double>(plan_cycles(plan_of(r).plan, layer_, npu_));
    ranked.push_back(r);
  }
}

Candidate PhaseSearch::plan_of(const Ranked &ranked) const {
  Candidate c;
  c.plan.kind = kind_;
  c.plan.parts = parts_;
  c.plan.tile = ranked.tile;
  c.plan.loops = ranked.loops;
  c.rough = ranked.rough;
  return c;
}

/// Plans of the same tile and loops share products and tiles.
std::optional<Program> PhaseSearch::place(const PhasePlan &plan, const TrafficLimit &limit) {
  PhasePlan &walked = walked_.front();
  if (!walk_ || !(walked.tile == plan.tile) || walked.loops != plan.loops) {
    walked = plan;
    walked.products = plan_products(plan, layer_, npu_);
    walk_.emplace(walked_, layers_, layout_, npu_);
  }
  walked.split = plan.split;
  walked.window = plan.window;
  walked.policy = plan.policy;
  return allocate(walked_, *walk_, limit, &played_);
}

void PhaseSearch::play(Candidate candidate) {
  if (tried_) tried_();
  const PhasePlan &plan = candidate.plan;
  if (!fits(kind_, plan.tile, plan.split, part_, npu_, parts_)) return;
  // One entry for each tiling and order, so that the best ones stay different.
  const auto twin = std::find_if(found_.begin(), found_.end(), [&](const Candidate &c) {
    return c.plan.tile == candidate.plan.tile && c.plan.loops == candidate.plan.loops;
  });
  std::uint64_t limit = kTooSlow; // from there on, nothing comes of it
  if (twin != found_.end())
    limit = static_cast<std::uint64_t>(twin->cycles);
  else if (found_.size() == kRefined)
    limit = static_cast<std::uint64_t>(found_.back().cycles);
  const auto program = place(plan, traffic_limit(limit, false, npu_));
  if (!program) return;
  played_ += program->work();
  const std::uint64_t cycles = estimate_cycles(*program, npu_, limit);
  if (cycles >= limit) return;
  candidate.cycles = static_cast<double>(cycles);
  if (twin != found_.end()) found_.erase(twin);
  const auto at = std::upper_bound(found_.begin(), found_.end(), candidate.cycles,
                                   [](double value, const Candidate &c) { return value < c.cycles; });
  found_.insert(at, std::move(candidate));
  if (found_.size() > kRefined) found_.pop_back();
}

std::vector<Candidate> PhaseSearch::run() {
  const std::vector<Ranked> candidates = ranked();
  double bound = std::numeric_limits<double>::infinity();
  for (const Ranked &r : candidates)
    bound = std::min(bound, r.rough.bound);
  for (const Ranked &r : candidates) {
    if ((played_ > budget_ / 2 && !found_.empty()) || best() < kCloseEnough * bound) break;
    if (r.rough.bound > best()) continue;
    Candidate c = plan_of(r);
    for (const SpmSplit &split : splits(c.rough, npu_, 0)) {
      c.plan.split = split;
      play(c);
    }
  }
  for (Candidate c : std::vector<Candidate>(found_))
    for (const std::uint32_t window : {1U, 2U, 3U, 4U, 6U})
      for (const SpmSplit &split : splits(c.rough, npu_, window == 1 ? 2 : 1)) {
        c.plan.split = split;
        c.plan.window = window;
        play_in_budget(c, budget_ * 3 / 4);
      }
  for (Candidate c : std::vector<Candidate>(found_))
    for (const double reload : {1.0, 4.0, 32.0})
      for (const double conflict : {0.3, 1.0, 3.0, 10.0}) {
        c.plan.policy = {reload, conflict};
        play_in_budget(c, budget_);
      }
  return std::move(found_);
}

} // namespace

double effort_of(std::uint64_t plans) {
  constexpr double kLeast = 0.05; // first plans that are far off are not mended by changes
  return std::clamp(static_cast<double>(plans) / static_cast<double>(CompileOptions{}.plans), kLeast, 1.0);
}

namespace {

/// Plans of all phases together: what one phase leaves in the scratchpad can serve the next.
class JointSearch {
public:
  JointSearch(const Layer &layer, const Layer &whole, const Cut &cut, const Layout &layout, const Machine &npu,
              double effort, const std::function<void()> &tried)
      : layer_(layer), whole_(whole), cut_(cut), layout_(layout), npu_(npu),
        budget_(static_cast<std::uint64_t>(kPhaseBudget * effort)),
        handed_on_(static_cast<std::size_t>(std::max(kLeastHandedOn, std::round(kHandedOn * effort)))), tried_(tried) {}

  /// The best plans of one phase after the other, and what goes with them.
  void run(const std::vector<PhaseKind> &kinds);
  std::vector<std::vector<PhasePlan>> take();

private:
  void play(std::vector<PhasePlan> plans);
  /// Gives both phases of a sequential backward pass the same dY tiles, so that dY can stay from dX to dW.
  void match(const std::vector<Candidate> &from, std::size_t other, const std::vector<PhaseKind> &kinds);

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
  std::vector<Joint> found_;      ///< best first
  std::vector<PhasePlan> before_; ///< a phase ahead of the matched ones
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

void JointSearch::match(const std::vector<Candidate> &from, std::size_t other, const std::vector<PhaseKind> &kinds) {
  for (const Candidate &given : from) {
    const TileShape fixed{given.plan.tile.m, 0, given.plan.tile.n};
    const auto partners =
        PhaseSearch(kinds[other], given.plan.parts, fixed, budget_ / kMatchShare, layer_, whole_, layout_, npu_, tried_)
            .run();
    for (std::size_t i = 0; i < std::min(partners.size(), kJoined); ++i) {
      std::vector<PhasePlan> plans = before_;
      plans.push_back(given.plan);
      plans.insert(plans.end() - (other < kinds.size() - 1 ? 1 : 0), partners[i].plan);
      play(plans);
      RoughEstimate both;
      for (const RoughEstimate *r : {&given.rough, &partners[i].rough}) {
        both.shared_rows = std::max(both.shared_rows, r->shared_rows);
        both.other_rows = std::max(both.other_rows, r->other_rows);
        both.result_rows = std::max(both.result_rows, r->result_rows);
      }
      both.shared_rows =
          std::max(both.shared_rows, static_cast<double>(spm_rows(layer_.m, layer_.n, false, npu_.lanes())));
      for (const SpmSplit &split : splits(both, npu_, 1)) {
        plans[plans.size() - 2].split = plans.back().split = split;
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

void JointSearch::run(const std::vector<PhaseKind> &kinds) {
  std::vector<std::vector<Candidate>> choices;
  for (const PhaseKind kind : kinds) {
    const PhaseParts parts = phase_parts(cut_, form_of(kind).forward(), layer_, npu_);
    choices.push_back(
        PhaseSearch(kind, parts, {}, budget_ / kinds.size(), layer_, whole_, layout_, npu_, tried_).run());
    if (kinds.size() > 1) choices.back().resize(std::min(choices.back().size(), kJoined));
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
  if (kinds.size() >= 2 && share_operand(kinds[kinds.size() - 2], kinds.back())) {
    for (std::size_t phase = 0; phase + 2 < kinds.size(); ++phase)
      before_.push_back(choices[phase].front().plan);
    match(choices[kinds.size() - 2], kinds.size() - 1, kinds);
    match(choices[kinds.size() - 1], kinds.size() - 2, kinds);
  }
}

} // namespace

std::vector<std::vector<PhasePlan>> search(const Layer &layer, Schedule schedule, Pass pass, const Cut &cut,
                                           const Layout &layout, const Machine &npu, double effort,
                                           const std::function<void()> &tried, const Layer *whole) {
  JointSearch joint(layer, whole == nullptr ? layer : *whole, cut, layout, npu, effort, tried);
  joint.run(phases(schedule, pass, layer));
  return joint.take();
}

} // namespace gradweave::compiler
