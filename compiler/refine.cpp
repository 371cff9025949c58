#include "compiler/refine.hpp"
#include "compiler/cost.hpp"
#include "compiler/partition.hpp"
#include "compiler/residency.hpp"

#include <algorithm>
#include <cmath>

namespace gradweave::compiler {
namespace {

/// Plans that are kept to be changed.
constexpr std::size_t kKept = 16;
/// Changes made to a plan at a time, at most.
constexpr std::uint32_t kMostChanges = 3;
/// Consecutive changes of one plan that turn out to be known already, before the search ends: its surroundings are
/// exhausted.
constexpr std::uint32_t kGiveUp = 2000;
constexpr std::uint64_t kProgressInterval = 64;
constexpr std::uint32_t kDeepestWindow = 12;

} // namespace

Refinement::Refinement(const std::vector<std::vector<PhasePlan>> &plans, const Layer &layer, const Layout &layout,
                       const NpuConfig &npu)
    : layer_(layer), layout_(layout), npu_(npu) {
  for (const std::vector<PhasePlan> &p : plans)
    if (seen_.insert(fingerprint(p)).second) evaluate(p);
}

Refinement::Fingerprint Refinement::fingerprint(const std::vector<PhasePlan> &plans) {
  Fingerprint f;
  for (const PhasePlan &p : plans) {
    for (const std::uint32_t v :
         {p.tile.m, p.tile.k, p.tile.n, p.split.shared.first, p.split.shared.rows, p.split.other.first,
          p.split.other.rows, p.split.result.first, p.split.result.rows, p.window})
      f.push_back(v);
    for (const Dim d : p.loops)
      f.push_back(static_cast<double>(d));
    f.push_back(p.policy.reload);
    f.push_back(p.policy.conflict);
  }
  return f;
}

/// A tile side near or far: by a block, by a bus beat, or another number of even parts.
std::uint32_t Refinement::change_side(std::uint32_t side, std::uint32_t extent, std::uint32_t unit) {
  const std::int64_t beat = npu_.bus_bytes / 2;
  const auto parts = static_cast<std::int64_t>(divide_up(extent, side));
  std::int64_t wanted = side;
  switch (pick(6)) {
  case 0:
    wanted = side + (pick(2) ? 1 : -1) * static_cast<std::int64_t>(unit);
    break;
  case 1:
    wanted = side + (pick(2) ? 1 : -1) * beat;
    break;
  case 2: // the nearest whole number of blocks
    wanted = static_cast<std::int64_t>(round_up(side, unit));
    break;
  case 3: // even parts, as they come
    wanted = static_cast<std::int64_t>(
        divide_up(extent, static_cast<std::uint64_t>(std::max<std::int64_t>(1, parts + pick(5) - 2))));
    break;
  case 4: // even parts of whole beats
    wanted = static_cast<std::int64_t>(
        round_up(divide_up(extent, static_cast<std::uint64_t>(std::max<std::int64_t>(1, parts + pick(5) - 2))),
                 static_cast<std::uint64_t>(beat)));
    break;
  default: {
    const std::vector<std::uint32_t> sides = tile_sides(extent, unit, static_cast<std::uint32_t>(beat));
    wanted = sides[pick(sides.size())];
  }
  }
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(wanted, 1, std::min(extent, kMaxTileSide)));
}

void Refinement::change_tile(std::vector<PhasePlan> &plans, PhasePlan &plan) {
  switch (pick(4)) {
  case 0:
    plan.tile.m = change_side(plan.tile.m, layer_.m, npu_.rows);
    break;
  case 1:
    plan.tile.k = change_side(plan.tile.k, layer_.k, plan.kind == PhaseKind::kDw ? npu_.rows : npu_.cols);
    break;
  case 2:
    plan.tile.n = change_side(plan.tile.n, layer_.n, npu_.cols);
    break;
  default: { // what phases have in common can stay from one to the next
    const PhasePlan &other = plans[pick(plans.size())];
    plan.tile.m = other.tile.m;
    plan.tile.n = other.tile.n;
  }
  }
}

/// Another kind of split, or the same with its boundaries moved by a bank or two.
void Refinement::change_split(SpmSplit &split) {
  const std::uint32_t banks = npu_.spm_banks, bank = npu_.bank_rows(), rows = npu_.spm_rows();
  if (banks < 2) return;
  const auto moved = [&](std::uint32_t row) {
    return std::clamp<std::int64_t>(std::int64_t{row} / bank + pick(5) - 2, 1, banks - 1) * bank;
  };
  const auto first = static_cast<std::uint32_t>(moved(split.shared.rows));
  const auto second = static_cast<std::uint32_t>(moved(split.other.end()));
  const RowRange rest{first, rows - first};
  switch (pick(4)) {
  case 0:
    split = {{0, rows}, {0, rows}, {0, rows}};
    break;
  case 1:
    split = {{0, first}, rest, rest};
    break;
  default:
    if (first < second) split = {{0, first}, {first, second - first}, {second, rows - second}};
  }
}

void Refinement::change(std::vector<PhasePlan> &plans) {
  PhasePlan &plan = plans[pick(plans.size())];
  switch (pick(8)) {
  case 0:
  case 1:
  case 2:
    change_tile(plans, plan);
    break;
  case 3: {
    const std::vector<LoopOrder> orders = loop_orders(plan.kind);
    plan.loops = orders[pick(orders.size())];
    break;
  }
  case 4:
  case 5:
    change_split(plan.split);
    break;
  case 6:
    plan.window = 1 + pick(kDeepestWindow);
    break;
  default:
    plan.policy.reload = std::exp2(static_cast<int>(pick(8)) - 1);
    plan.policy.conflict = std::exp2(static_cast<int>(pick(7)) - 2);
  }
}

void Refinement::evaluate(std::vector<PhasePlan> plans) {
  ++effort_.candidates;
  const bool full = kept_.size() == kKept;
  std::uint64_t compute = 0;
  for (const PhasePlan &p : plans) {
    if (!fits(p.kind, p.tile, p.split, layer_, npu_, p.parts)) return;
    compute += plan_cycles(p, layer_, npu_);
  }
  if (full && compute >= kept_.back().cycles) return;
  for (PhasePlan &p : plans)
    p.products = plan_products(p, layer_, npu_);
  for (const PhasePlan &p : plans)
    placed_ += p.products.size();
  auto program = allocate(plans, layer_, layout_, npu_);
  if (!program || (full && program_bound(*program, npu_) >= kept_.back().cycles)) return;
  ++effort_.simulated;
  const std::uint64_t cycles = program_cycles(*program, npu_);
  if (kept_.empty() || cycles < best_.cycles) {
    ++effort_.improvements;
    best_ = {plans, std::move(*program), cycles};
  }
  const auto at = std::upper_bound(kept_.begin(), kept_.end(), cycles,
                                   [](std::uint64_t c, const Kept &other) { return c < other.cycles; });
  kept_.insert(at, {std::move(plans), cycles});
  if (kept_.size() > kKept) kept_.pop_back();
}

void Refinement::run(std::uint64_t candidates, std::uint64_t products, const RefineProgress &progress) {
  const std::uint64_t start = effort_.candidates, placed = placed_;
  std::uint32_t known = 0;
  while (effort_.candidates - start < candidates && placed_ - placed < products && known < kGiveUp) {
    // The better of two: good plans are changed more often.
    std::vector<PhasePlan> plans = kept_[std::min(pick(kept_.size()), pick(kept_.size()))].plans;
    for (std::uint32_t changes = 1 + pick(kMostChanges); changes > 0; --changes)
      change(plans);
    if (!seen_.insert(fingerprint(plans)).second) {
      ++known;
      continue;
    }
    known = 0;
    evaluate(std::move(plans));
    const std::uint64_t done = effort_.candidates - start;
    if (progress && done % kProgressInterval == 0) progress(done);
  }
}

} // namespace gradweave::compiler
