#include "compiler/search/ranked_tilings.hpp"

#include "compiler/lower/order.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/request/error.hpp"
#include "compiler/spm/residency.hpp"

#include <algorithm>
#include <tuple>

namespace gradweave::compiler {

bool RankedTilings::Estimated::operator<(const Estimated &other) const {
  return std::tie(ranked.rough.cycles, tiling, order) > std::tie(other.ranked.rough.cycles, other.tiling, other.order);
}

RankedTilings::RankedTilings(PhaseKind kind, const PhaseParts &parts, const TileShape &fixed, const Layer &layer,
                             const Layer &part, const Layer &whole, const Machine &npu)
    : kind_(kind), parts_(parts), layer_(layer), part_(part), whole_(whole), npu_(npu) {
  const auto sides = [&](std::uint32_t side, Dim dim) {
    return side > 0 ? std::vector<std::uint32_t>{side} : sides_along(kind, dim, part, npu);
  };
  const auto ms = sides(fixed.m, Dim::kM), ks = sides(fixed.k, Dim::kK), ns = sides(fixed.n, Dim::kN);
  tilings_.reserve(ms.size() * ks.size() * ns.size());
  for (const std::uint32_t m : ms)
    for (const std::uint32_t k : ks)
      for (const std::uint32_t n : ns)
        tilings_.push_back({least({m, k, n}), {m, k, n}});
  std::sort(tilings_.begin(), tilings_.end(), [](const Tiling &x, const Tiling &y) {
    return std::tie(x.least, y.tile.m, y.tile.k, y.tile.n) < std::tie(y.least, x.tile.m, x.tile.k, x.tile.n);
  });
}

bool RankedTilings::fits_alone(const TileShape &tile) const {
  const RowRange all{0, npu_.spm_rows()};
  return fits(kind_, tile, {all, all, all}, part_, npu_, parts_);
}

double RankedTilings::least(const TileShape &tile) const {
  return parts_.by_turns() ? least_estimate_together(kind_, tile, part_, npu_, parts_.dim, parts_.cores)
                           : least_estimate(kind_, tile, part_, npu_);
}

std::vector<RoughEstimate> RankedTilings::estimates(const TileShape &tile) const {
  const std::vector<LoopOrder> &orders = form_of(kind_).loops;
  return parts_.by_turns() ? rough_estimates_together(kind_, orders, tile, part_, npu_, parts_.dim, parts_.cores)
                           : rough_estimates(kind_, orders, tile, part_, npu_, parts_.cores);
}

/// All its loop orders, if it fits.
void RankedTilings::estimate(std::size_t tiling) {
  const TileShape &tile = tilings_[tiling].tile;
  if (!fits_alone(tile) || product_count(kind_, tile, whole_) > kMostProducts) return;
  PhasePlan plan;
  plan.kind = kind_;
  plan.parts = parts_;
  plan.tile = tile;
  // The same in all orders.
  const double bound = parts_.count > 1 ? static_cast<double>(plan_cycles(plan, layer_, npu_)) : 0;
  const std::vector<LoopOrder> &orders = form_of(kind_).loops;
  const std::vector<RoughEstimate> rough = estimates(tile);
  for (std::size_t order = 0; order < orders.size(); ++order) {
    const Ranked ranked{tile, orders[order], rough[order], parts_.count > 1 ? bound : rough[order].bound};
    bound_ = std::min(bound_, ranked.bound);
    ready_.push({ranked, tiling, order});
  }
}

std::optional<RankedTilings::Ranked> RankedTilings::next() {
  while (estimated_ < tilings_.size() &&
         (ready_.empty() || tilings_[estimated_].least <= ready_.top().ranked.rough.cycles))
    estimate(estimated_++);
  if (ready_.empty()) return std::nullopt;
  const Ranked best = ready_.top().ranked;
  ready_.pop();
  return best;
}

void RankedTilings::refuse() const {
  std::uint64_t fewest = ~std::uint64_t{0};
  for (const Tiling &tiling : tilings_)
    if (fits_alone(tiling.tile)) fewest = std::min(fewest, product_count(kind_, tiling.tile, whole_));
  if (fewest != ~std::uint64_t{0}) check_products(fewest, whole_, npu_);
  refuse_scratchpad(whole_, npu_);
}

} // namespace gradweave::compiler
