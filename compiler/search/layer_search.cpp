#include "compiler/search/layer_search.hpp"

#include "compiler/back/compile_plan.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/search/refine.hpp"
#include "compiler/search/search.hpp"
#include "graph/layer_fingerprint.hpp"
#include "sw_models/config/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>

namespace gradweave::compiler {
namespace {

/// Continues the search with `plans` more, whatever they take.
Tuning tune(Refinement &refinement, std::uint64_t plans, const RefineProgress &progress) {
  constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
  const Tuning before = refinement.effort();
  Tuning tuning;
  const auto start = std::chrono::steady_clock::now();
  refinement.run(plans, kNoLimit, progress);
  tuning.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  tuning.candidates = refinement.effort().candidates - before.candidates;
  tuning.simulated = refinement.effort().simulated - before.simulated;
  tuning.improvements = refinement.effort().improvements - before.improvements;
  return tuning;
}

/// What the plans depend on, and nothing else: orders with the same phases have the same plans.
std::string key(const Layer &layer, const Machine &npu, const CompileOptions &options, std::uint64_t tune) {
  const Cut cut = cut_of(layer, npu, options);
  Fingerprint all;
  all.add(shape_fingerprint(layer), phases(options.schedule, options.pass, layer), cut.partition,
          cut.partition == Partition::kNone ? 1 : cut.parts, cut.reduction, cut.sharing, plan_fingerprint(options),
          tune, gradweave::fingerprint(npu));
  if (options.objective != Objective::kCycles) all.add(gradweave::fingerprint(npu.energy), npu.clock_ghz);
  return all.hex();
}

/// A search for one layer's plans, on a sample of it if it is large.
class LayerSearch {
public:
  LayerSearch(const Layer &layer, const Machine &npu, const CompileOptions &options)
      : layer_(layer), npu_(npu), options_(options), cut_(cut_of(layer, npu, options)),
        layout_(make_layout({layer}, options.pass, npu)) {}

  FoundPlans run(KnownPlans &known);

private:
  Refinement begin(const Layer &sample, const Layout &sample_layout) const;
  RefineProgress report(std::uint64_t before) const;
  FoundPlans best(const Layer &sample, const Refinement &refinement) const;

  const Layer &layer_;
  const Machine &npu_;
  const CompileOptions &options_;
  Cut cut_;
  Layout layout_;
};

RefineProgress LayerSearch::report(std::uint64_t before) const {
  if (!options_.progress) return {};
  return [this, before](std::uint64_t done) { options_.progress(before + done, options_.plans + options_.tune); };
}

Refinement LayerSearch::begin(const Layer &sample, const Layout &sample_layout) const {
  std::function<void()> tried;
  if (options_.progress) tried = [this] { options_.progress(0, options_.plans + options_.tune); };
  std::vector<std::vector<PhasePlan>> first = search(sample, options_.schedule, options_.pass, cut_, sample_layout,
                                                     npu_, effort_of(options_.plans), tried, &layer_);
  // Where few changes are asked for, few plans to change are enough.
  first.resize(std::min(first.size(), std::max<std::size_t>(options_.plans, 1)));
  return {first, sample, sample_layout, npu_, tried, options_.search_seed, options_.objective};
}

FoundPlans LayerSearch::best(const Layer &sample, const Refinement &refinement) const {
  TimedPlan best = fastest_for(layer_, sample, refinement.kept(), layout_, npu_, options_.objective);
  const std::uint64_t cost = Judge(npu_, options_.objective).cost_of(best.program, best.cycles);
  return {std::move(best.plans), best.cycles, cost, {}};
}

FoundPlans LayerSearch::run(KnownPlans &known) {
  check_room({layer_}, {layout_.bytes, 0}, npu_);
  const Layer sample = sample_of(layer_, npu_, cut_.partition == Partition::kNone ? 1 : cut_.parts);
  const Layout sample_layout = make_layout({sample}, options_.pass, npu_);
  Refinement refinement = begin(sample, sample_layout);
  if (refinement.kept().empty()) refuse_plans(layer_, refinement.least_room(), npu_);
  refinement.run(options_.plans, work_of(options_.plans), report(0));
  if (options_.tune == 0) return best(sample, refinement);
  const auto before = known.found.get(key(layer_, npu_, options_, 0), [&] { return best(sample, refinement); });
  const Tuning tuning = tune(refinement, options_.tune, report(options_.plans));
  FoundPlans found = best(sample, refinement);
  if (before->cost < found.cost) found = *before; // better on the sample only
  found.tuning = tuning;
  found.tuning.cycles_before = before->cycles;
  return found;
}

bool lies_within(const RowRange &range, std::uint32_t rows) {
  return range.rows > 0 && range.first < rows && range.rows <= rows - range.first;
}

bool is_usable(const PlacementPolicy &policy) {
  const auto weight = [](double w) { return std::isfinite(w) && w >= 0; };
  return weight(policy.reload) && weight(policy.conflict);
}

bool are_alike(const PhaseParts &x, const PhaseParts &y) {
  return x.dim == y.dim && x.count == y.count && x.cores == y.cores && x.reduction == y.reduction &&
         x.sharing == y.sharing;
}

/// Whether plans from elsewhere are plans of the layer at all, as a search gives them.
bool are_plans_of(const std::vector<PhasePlan> &plans, const Layer &layer, const Machine &npu,
                  const CompileOptions &options) {
  constexpr std::uint32_t kDeepestWindow = 1U << 16U;
  const std::vector<PhaseKind> kinds = phases(options.schedule, options.pass, layer);
  const Cut cut = cut_of(layer, npu, options);
  const auto is_plan_of = [&](const PhasePlan &p, PhaseKind kind) {
    const PhaseForm &form = form_of(kind);
    const TileShape largest = largest_tile(kind, layer);
    const auto cuts = [](std::uint32_t side, std::uint32_t extent) {
      return side > 0 && side <= std::min(extent, kMaxTileSide);
    };
    return p.kind == kind && p.layer == 0 && !p.starts_empty && p.reach == 0 &&
           are_alike(p.parts, phase_parts(cut, form.forward(), layer, npu)) && cuts(p.tile.m, largest.m) &&
           cuts(p.tile.k, largest.k) && cuts(p.tile.n, largest.n) &&
           std::find(form.loops.begin(), form.loops.end(), p.loops) != form.loops.end() && p.window > 0 &&
           p.window <= kDeepestWindow && is_usable(p.policy) && lies_within(p.split.shared, npu.spm_rows()) &&
           lies_within(p.split.other, npu.spm_rows()) && lies_within(p.split.result, npu.spm_rows()) &&
           product_count(kind, p.tile, layer) <= kMostProducts;
  };
  return std::equal(plans.begin(), plans.end(), kinds.begin(), kinds.end(), is_plan_of);
}

/// What the store has, if it is of use.
std::optional<FoundPlans> kept_plans(PlanStore &store, const std::string &key, const Layer &layer, const Machine &npu,
                                     const CompileOptions &options) {
  std::optional<FoundPlans> kept = store.find(key);
  if (!kept) return std::nullopt;
  try {
    if (are_plans_of(kept->plans, layer, npu, options)) {
      const TimedPlan timed = time_plans(kept->plans, {layer}, make_layout({layer}, options.pass, npu), npu);
      kept->cost = Judge(npu, options.objective).cost_of(timed.program, timed.cycles);
      if (timed.cycles == kept->cycles) return kept;
    }
  } catch (const CompileError &) { // does not fit
  }
  store.reject(key);
  return std::nullopt;
}

} // namespace

Memo<FoundPlans>::Pointer search_layer(const Layer &layer, const Machine &npu, const CompileOptions &options,
                                       KnownPlans &known) {
  const std::string name = key(layer, npu, options, options.tune);
  return known.found.get(name, [&] {
    if (known.store != nullptr)
      if (std::optional<FoundPlans> kept = kept_plans(*known.store, name, layer, npu, options)) return *std::move(kept);
    FoundPlans found = LayerSearch(layer, npu, options).run(known);
    if (known.store != nullptr) known.store->keep(name, found);
    return found;
  });
}

} // namespace gradweave::compiler
