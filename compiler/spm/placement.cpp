#include "compiler/spm/placement.hpp"

#include <algorithm>
#include <limits>

namespace gradweave::compiler {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

} // namespace

void Placement::begin(const PhasePlan &plan, bool empty) {
  split_ = plan.split;
  policy_ = plan.policy;
  cores_ = plan.parts.cores;
  window_ = std::max(plan.window, 1U) * cores_;
  waits_.resize(window_ + 2);
  for (std::uint32_t busy = 0; busy < waits_.size(); ++busy)
    waits_[busy] = static_cast<double>(busy) / window_;
  if (empty) map_.clear(npu_.spm_rows(), {});
}

void Placement::release(Tile &t) {
  map_.release(static_cast<std::uint32_t>(t.at), t.last);
  leave(t);
}

/// Cost of taking the segment's rows for a tile of `rows` rows, in bytes of traffic.
double Placement::cost(const SpmMap::Segment &s, bool loads, std::uint32_t rows) const {
  LastUse last = s.last;
  double lost = 0;
  if (s.tile != SpmMap::kDead) {
    const Tile &t = tile(s.tile);
    if (t.next_use == step_ || has_to_stay(t)) return kInfinite;
    last = t.last;
    // Belady: among tiles of a size, the one whose next use is farthest costs least.
    const double moved = t.role == TileRole::kPartial || t.dirty ? 2 : 1;
    lost = moved * t.rows / (1.0 + (t.next_use - step_));
  }
  // A load must wait for the last GEMM on these rows; a GEMM's result on one core only for stores (GEMMs keep their
  // order).
  const std::int32_t recent = loads || cores_ > 1 ? std::max(last.compute, last.store) : last.store;
  const std::int32_t busy = recent - (static_cast<std::int32_t>(step_) - 1 - static_cast<std::int32_t>(window_));
  const double wait = recent >= 0 && busy > 0 ? waits_[static_cast<std::size_t>(busy)] * rows : 0;
  return lost * policy_.reload + wait;
}

LastUse Placement::evict(std::int32_t id) {
  Tile &t = tile(id);
  if (t.role == TileRole::kPartial || t.dirty) {
    spilled_.push_back({id, static_cast<std::uint32_t>(t.at)});
    t.last.store = static_cast<std::int32_t>(step_);
  }
  leave(t);
  return t.last;
}

void Placement::count_operand(const Tile &t, int change) {
  if (t.side == TileSide::kResult) return;
  BankRows &tiles = operands_[t.side == TileSide::kShared ? 0 : 1];
  const auto first = static_cast<std::uint32_t>(t.at);
  for (std::uint32_t bank = first / bank_rows_; bank <= (first + t.rows - 1) / bank_rows_; ++bank)
    tiles[bank] += static_cast<std::uint32_t>(change);
}

/// For an operand that is to lie in an area: rows in banks that hold tiles of the other operands' area, from which the
/// array reads in the same cycles. None where they are in other banks than the area.
void Placement::find_foreign_rows(const Tile &t, const RowRange &area) {
  foreign_.clear();
  if (t.side == TileSide::kResult || npu_.spm_banks == 1) return;
  const BankRows &tiles = operands_[t.side == TileSide::kShared ? 1 : 0];
  const auto first = tiles.begin() + area.first / bank_rows_, end = tiles.begin() + (area.end() - 1) / bank_rows_ + 1;
  if (std::all_of(first, end, [](std::uint32_t count) { return count == 0; })) return;
  foreign_.resize(tiles.size() + 1, 0);
  for (std::size_t bank = 0; bank < tiles.size(); ++bank)
    foreign_[bank + 1] = foreign_[bank] + (tiles[bank] > 0 ? bank_rows_ : 0);
}

/// Cost of lying in banks that the other operand is read from: the array then takes two cycles a step.
double Placement::bank_cost(RowRange rows) const {
  const std::uint32_t size = bank_rows_;
  const auto before = [&](std::uint32_t row) {
    const std::uint32_t bank = row / size, within = row % size;
    return foreign_[bank] + (within > 0 && foreign_[bank + 1] != foreign_[bank] ? within : 0);
  };
  return policy_.conflict * (before(rows.end()) - before(rows.first));
}

bool Placement::place(std::int32_t id, const RowRange &area) {
  Tile &t = tile(id);
  const bool loads = needs_load(t);
  const auto take = [&](const SpmMap::Segment &s) { return cost(s, loads, t.rows); };
  find_foreign_rows(t, area);
  const bool shares_banks = !foreign_.empty();
  const auto lie = [&](RowRange rows) { return shares_banks ? bank_cost(rows) : 0; };
  const auto row = map_.cheapest(t.rows, area, take, lie, t.side != TileSide::kShared);
  if (!row) return false;
  map_.occupy({*row, t.rows}, id, [&](std::int32_t victim) { return evict(victim); });
  lie_at(t, *row);
  return true;
}

/// Everything goes, and the product's tiles are laid side by side: for scratchpads too fragmented otherwise.
bool Placement::repack() {
  const Needs &needs = needs_[step_];
  for (const auto &s : map_.segments())
    if (s.tile != SpmMap::kDead && has_to_stay(tile(s.tile))) return false;
  for (const std::int32_t id : placed_)
    leave(tile(id));
  for (const auto &s : map_.segments())
    if (s.tile != SpmMap::kDead && tile(s.tile).at >= 0) evict(s.tile);
  const auto now = static_cast<std::int32_t>(step_);
  map_.clear(npu_.spm_rows(), {now - 1, now});
  placed_.clear();
  std::vector<RowRange> used;
  for (const std::int32_t id : needs.tile) {
    if (id < 0 || tile(id).at >= 0) continue;
    const RowRange &area = area_of(tile(id).side);
    std::uint32_t first = area.first;
    for (const RowRange &r : used)
      if (r.end() > first && r.first < area.end()) first = r.end();
    if (first + tile(id).rows > area.end()) return false;
    used.push_back({first, tile(id).rows});
    map_.occupy(used.back(), id, [](std::int32_t) { return LastUse{}; });
    lie_at(tile(id), first);
    placed_.push_back(id);
  }
  return true;
}

bool Placement::make_room(std::uint32_t step) {
  step_ = step;
  const Needs &needs = needs_[step_];
  placed_.clear();
  spilled_.clear();
  wanted_.clear();
  for (const std::int32_t id : needs.tile)
    if (id >= 0 && tile(id).at < 0 && std::find(wanted_.begin(), wanted_.end(), id) == wanted_.end())
      wanted_.push_back(id);
  std::sort(wanted_.begin(), wanted_.end(), [&](auto x, auto y) { return tile(x).rows > tile(y).rows; });
  for (const std::int32_t id : wanted_) {
    if (!place(id, area_of(tile(id).side))) return repack();
    placed_.push_back(id);
  }
  return true;
}

} // namespace gradweave::compiler
