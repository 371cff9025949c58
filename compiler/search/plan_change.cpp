#include "compiler/search/plan_change.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/tiling.hpp"

#include <algorithm>
#include <cmath>

namespace gradweave::compiler {
namespace {

constexpr std::uint32_t kMostChanges = 3;
constexpr std::uint32_t kDeepestWindow = 12;

} // namespace

/// A tile side near or far: by a block, by a bus beat, or another number of even parts.
std::uint32_t PlanChanger::change_side(std::uint32_t side, std::uint32_t extent, std::uint32_t unit) {
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

void PlanChanger::change_tile(std::vector<PhasePlan> &plans, PhasePlan &plan, const Layer &layer) {
  const TileShape largest = largest_tile(plan.kind, layer);
  const auto changed = [&](std::uint32_t side, Dim dim) {
    if (!layer.image) return change_side(side, side_of(largest, dim), array_side(plan.kind, dim, npu_));
    const std::vector<std::uint32_t> sides = sides_along(plan.kind, dim, layer, npu_);
    return sides[pick(sides.size())];
  };
  switch (pick(4)) {
  case 0:
    plan.tile.m = changed(plan.tile.m, Dim::kM);
    break;
  case 1:
    plan.tile.k = changed(plan.tile.k, Dim::kK);
    break;
  case 2:
    plan.tile.n = changed(plan.tile.n, Dim::kN);
    break;
  default: { // dY like another phase, so that it can stay from one to the other
    const TileShape &other = plans[pick(plans.size())].tile;
    plan.tile.m = std::min(other.m, largest.m);
    plan.tile.n = std::min(other.n, largest.n);
  }
  }
}

/// Another kind of split, or the same with its boundaries moved by a bank or two.
void PlanChanger::change_split(SpmSplit &split) {
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

void PlanChanger::change_once(std::vector<PhasePlan> &plans, const Layer &layer) {
  PhasePlan &plan = plans[pick(plans.size())];
  switch (pick(8)) {
  case 0:
  case 1:
  case 2:
    change_tile(plans, plan, layer);
    break;
  case 3: {
    const std::vector<LoopOrder> &orders = form_of(plan.kind).loops;
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

void PlanChanger::change(std::vector<PhasePlan> &plans, const Layer &layer) {
  for (std::uint32_t changes = 1 + pick(kMostChanges); changes > 0; --changes)
    change_once(plans, layer);
}

void align(std::vector<PhasePlan> &plans, const Layer &mine, const PhasePlan &like, const Layer &theirs) {
  for (PhasePlan &p : plans) {
    if (mine.m == theirs.m) p.tile.m = like.tile.m;
    if (mine.k == theirs.n)
      p.tile.k = like.tile.n;
    else if (mine.k == theirs.k)
      p.tile.k = like.tile.k;
    if (mine.n == theirs.k)
      p.tile.n = like.tile.k;
    else if (mine.n == theirs.n)
      p.tile.n = like.tile.n;
  }
}

} // namespace gradweave::compiler
