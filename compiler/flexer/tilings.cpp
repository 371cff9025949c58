#include "compiler/flexer/tilings.hpp"

#include "compiler/cost/estimate/estimate.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/request/error.hpp"
#include "compiler/spm/residency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace gradweave::compiler::flexer {
std::vector<Tiling> tilings_of(PhaseKind kind, const Layer &layer, const Machine &npu, std::size_t most,
                               TilingCount *count) {
  const RowRange all{0, npu.spm_rows()};
  const auto sides = [&](Dim dim) { return sides_along(kind, dim, layer, npu); };
  const std::vector<std::uint32_t> ms = sides(Dim::kM), ks = sides(Dim::kK), ns = sides(Dim::kN);
  std::vector<Tiling> found;
  TilingCount counted;
  for (const std::uint32_t m : ms)
    for (const std::uint32_t k : ks)
      for (const std::uint32_t n : ns) {
        const TileShape tile{m, k, n};
        if (!fits(kind, tile, {all, all, all}, layer, npu)) continue;
        ++counted.fitting;
        if (product_count(kind, tile, layer) > kMostOperations) {
          ++counted.too_large;
          continue;
        }
        Tiling best;
        const std::vector<LoopOrder> &orders = form_of(kind).loops;
        const Dim dim = contraction_of(form_of(kind).results.front()).col;
        const auto estimates = rough_estimates_together(kind, orders, tile, layer, npu, dim, npu.cores);
        for (std::size_t i = 0; i < orders.size(); ++i)
          if (const double cycles = estimates[i].cycles; best.cycles == 0 || cycles < best.cycles)
            best = {tile, orders[i], cycles};
        found.push_back(best);
      }
  if (count != nullptr) *count = counted;
  if (counted.fitting == 0) refuse_scratchpad(layer, npu);
  if (found.empty())
    throw CompileError(fmt::format("layer '{}': all {} tilings that fit the scratchpad of NPU '{}' have more than {} "
                                   "operations; give it more spm_bytes, or choose another schedule",
                                   layer.name, counted.fitting, npu.name, kMostOperations));
  std::sort(found.begin(), found.end(), [](const Tiling &x, const Tiling &y) {
    const auto key = [](const Tiling &t) { return std::make_tuple(t.cycles, t.tile.m, t.tile.k, t.tile.n); };
    return key(x) < key(y);
  });
  found.resize(std::min(found.size(), most));
  return found;
}

PhasePlan plan_of(PhaseKind kind, const Tiling &tiling, const Layer &layer, const Machine &npu) {
  PhasePlan plan;
  plan.kind = kind;
  plan.tile = tiling.tile;
  plan.loops = tiling.loops;
  const RowRange all{0, npu.spm_rows()};
  plan.split = {all, all, all};
  plan.products = make_order(kind, plan.loops, plan.tile, layer, whole(layer));
  return plan;
}

} // namespace gradweave::compiler::flexer
