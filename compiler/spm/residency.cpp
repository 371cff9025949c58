#include "compiler/spm/residency.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/spm/spm_map.hpp"
#include "compiler/spm/tile_table.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace gradweave::compiler {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// The operand slot that reads from the shared area; none for an ADD.
std::size_t shared_slot(const TileProduct &p) {
  const Contraction &c = contraction_of(p.result);
  return c.a == c.shared ? Needs::kA : Needs::kB;
}

class Allocator {
public:
  Allocator(const std::vector<PhasePlan> &plans, const std::vector<Layer> &layers, const Layout &layout,
            const NpuConfig &npu)
      : layout_(layout), npu_(npu), program_(begin(plans, layers, layout, npu)),
        table_(plans, layers, layout, program_.reductions, npu), map_(npu.spm_rows()) {
    std::uint32_t step = 0;
    for (const PhasePlan &plan : plans) {
      if (plan.starts_empty) empty_.push_back(step);
      starts_.push_back(step);
      step += static_cast<std::uint32_t>(plan.products.size());
    }
  }

  bool run(const PhasePlan &plan);
  Program take() {
    program_.visits = map_.visits();
    return std::move(program_);
  }

private:
  static Program begin(const std::vector<PhasePlan> &plans, const std::vector<Layer> &layers, const Layout &layout,
                       const NpuConfig &npu) {
    Program program;
    program.layers = layers;
    program.reductions.resize(layers.size());
    program.dram_bytes = layout.bytes;
    for (const PhasePlan &plan : plans)
      add_reductions(plan, layers[plan.layer], npu, program.reductions[plan.layer]);
    return program;
  }
  std::uint32_t end_of(const PhasePlan &plan) const;
  bool make_room(const Needs &needs, const PhasePlan &plan);
  bool place(std::int32_t id, const RowRange &area);
  static const RowRange &area_of(TileSide side, const SpmSplit &split) {
    return side == TileSide::kShared ? split.shared : side == TileSide::kOther ? split.other : split.result;
  }
  bool repack(const Needs &needs, const PhasePlan &plan);
  /// Rows in banks of a kind, before the first row of each bank.
  using BankRows = std::vector<std::uint32_t>;
  BankRows foreign_rows(const Tile &t) const;
  double bank_cost(RowRange rows, const BankRows &foreign) const;
  double cost(const SpmMap::Segment &s, bool loads, std::uint32_t rows) const;
  LastUse evict(std::int32_t id);
  void store(Tile &t);
  void emit(const TileProduct &product, const Needs &needs);
  void dma(Action::Kind kind, Tile &t, std::int64_t row, bool spill);
  Place place_at(const Tile &t, std::int64_t row) const;

  Tile &tile(std::int32_t id) { return table_.tiles[static_cast<std::size_t>(id)]; }
  const Tile &tile(std::int32_t id) const { return table_.tiles[static_cast<std::size_t>(id)]; }
  bool needs_load(const Tile &t) const {
    return t.role == TileRole::kElements ? t.side != TileSide::kResult : t.first_use < step_;
  }

  const Layout &layout_;
  const NpuConfig &npu_;
  Program program_;
  TileTable table_;
  SpmMap map_;
  std::vector<std::uint32_t> empty_;  ///< products before which the scratchpad is to be empty
  std::vector<std::uint32_t> starts_; ///< first products of the phases
  std::uint32_t step_ = 0;            ///< the product at hand
  std::uint32_t end_ = kNever;        ///< tiles that are needed from this product on do not stay
  PlacementPolicy policy_;
  std::uint32_t window_ = 1;          ///< of the phase at hand, on all its cores
  std::uint32_t cores_ = 1;           ///< of the phase at hand
  std::vector<std::int32_t> missing_; ///< tiles of the product that get a place in this step
  struct Spill {
    std::int32_t tile;
    std::uint32_t row; ///< where it was
  };
  std::vector<Spill> spilled_; ///< tiles that lose their place in this step and are not in memory
};

/// Cost of taking the segment's rows for a tile of `rows` rows, in bytes of traffic.
double Allocator::cost(const SpmMap::Segment &s, bool loads, std::uint32_t rows) const {
  LastUse last = s.last;
  double lost = 0;
  if (s.tile != SpmMap::kDead) {
    const Tile &t = tile(s.tile);
    const Needs &now = table_.needs[step_];
    if (std::find(now.tile.begin(), now.tile.end(), s.tile) != now.tile.end()) return kInfinite;
    last = t.last;
    // Belady: among tiles of a size, the one whose next use is farthest costs least.
    const double moved = t.role == TileRole::kPartial || t.dirty ? 2 : 1;
    lost = moved * t.rows / (1.0 + (t.next_use - step_));
  }
  // A load must wait for the last GEMM on these rows; a GEMM's result on one core only for stores (GEMMs keep their
  // order).
  const std::int32_t recent = loads || cores_ > 1 ? std::max(last.compute, last.store) : last.store;
  const std::int32_t busy = recent - (static_cast<std::int32_t>(step_) - 1 - static_cast<std::int32_t>(window_));
  const double wait = recent >= 0 && busy > 0 ? static_cast<double>(busy) / window_ * rows : 0;
  return lost * policy_.reload + wait;
}

LastUse Allocator::evict(std::int32_t id) {
  Tile &t = tile(id);
  if (t.role == TileRole::kPartial || t.dirty) {
    spilled_.push_back({id, static_cast<std::uint32_t>(t.at)});
    t.last.store = static_cast<std::int32_t>(step_);
  }
  t.at = -1;
  return t.last;
}

/// For an operand: rows in banks that hold tiles of the other operands' area, from which the array reads in the same
/// cycles.
Allocator::BankRows Allocator::foreign_rows(const Tile &t) const {
  if (t.side == TileSide::kResult || npu_.spm_banks == 1) return {};
  const std::uint32_t size = npu_.bank_rows();
  BankRows foreign(npu_.spm_banks + 1, 0);
  for (const auto &s : map_.segments())
    if (s.tile != SpmMap::kDead && tile(s.tile).side != TileSide::kResult && tile(s.tile).side != t.side)
      for (std::uint32_t bank = s.rows.first / size; bank <= (s.rows.end() - 1) / size; ++bank)
        foreign[bank + 1] = size;
  std::partial_sum(foreign.begin(), foreign.end(), foreign.begin());
  return foreign;
}

/// Cost of lying in banks that the other operand is read from: the array then takes two cycles a step.
double Allocator::bank_cost(RowRange rows, const BankRows &foreign) const {
  const std::uint32_t size = npu_.bank_rows();
  const auto before = [&](std::uint32_t row) {
    const std::uint32_t bank = row / size, within = row % size;
    return foreign[bank] + (within > 0 && foreign[bank + 1] != foreign[bank] ? within : 0);
  };
  return policy_.conflict * (before(rows.end()) - before(rows.first));
}

bool Allocator::place(std::int32_t id, const RowRange &area) {
  Tile &t = tile(id);
  const bool loads = needs_load(t);
  const auto take = [&](const SpmMap::Segment &s) { return cost(s, loads, t.rows); };
  const BankRows foreign = foreign_rows(t);
  const bool shares_banks = !foreign.empty() && bank_cost(area, foreign) > 0;
  const auto lie = [&](RowRange rows) { return shares_banks ? bank_cost(rows, foreign) : 0; };
  const auto row = map_.cheapest(t.rows, area, take, lie, t.side != TileSide::kShared);
  if (!row) return false;
  map_.occupy({*row, t.rows}, id, [&](std::int32_t victim) { return evict(victim); });
  t.at = *row;
  return true;
}

/// Everything goes, and the product's tiles are laid side by side: for scratchpads too fragmented otherwise.
bool Allocator::repack(const Needs &needs, const PhasePlan &plan) {
  for (const std::int32_t id : missing_)
    tile(id).at = -1;
  for (const auto &s : map_.segments())
    if (s.tile != SpmMap::kDead && tile(s.tile).at >= 0) evict(s.tile);
  const auto now = static_cast<std::int32_t>(step_);
  map_.clear(npu_.spm_rows(), {now - 1, now});
  missing_.clear();
  std::vector<RowRange> used;
  for (const std::int32_t id : needs.tile) {
    if (id < 0 || tile(id).at >= 0) continue;
    const RowRange &area = area_of(tile(id).side, plan.split);
    std::uint32_t first = area.first;
    for (const RowRange &r : used)
      if (r.end() > first && r.first < area.end()) first = r.end();
    if (first + tile(id).rows > area.end()) return false;
    used.push_back({first, tile(id).rows});
    map_.occupy(used.back(), id, [](std::int32_t) { return LastUse{}; });
    tile(id).at = first;
    missing_.push_back(id);
  }
  return true;
}

bool Allocator::make_room(const Needs &needs, const PhasePlan &plan) {
  missing_.clear();
  spilled_.clear();
  std::vector<std::int32_t> wanted;
  for (const std::int32_t id : needs.tile)
    if (id >= 0 && tile(id).at < 0 && std::find(wanted.begin(), wanted.end(), id) == wanted.end()) wanted.push_back(id);
  std::sort(wanted.begin(), wanted.end(), [&](auto x, auto y) { return tile(x).rows > tile(y).rows; });
  for (const std::int32_t id : wanted) {
    if (!place(id, area_of(tile(id).side, plan.split))) return repack(needs, plan);
    missing_.push_back(id);
  }
  return true;
}

Place Allocator::place_at(const Tile &t, std::int64_t row) const {
  const std::uint32_t panel = t.rect.rows * (t.fp32 ? 2 : 1);
  return {{static_cast<std::uint32_t>(row), t.rows}, panel};
}

/// A LOAD or STORE between the tile's rows and its tensor, or its spill space.
void Allocator::dma(Action::Kind kind, Tile &t, std::int64_t row, bool spill) {
  Action action;
  action.kind = kind;
  action.product = step_;
  const TensorBinding &binding = layout_.tensors[static_cast<std::size_t>(t.binding)];
  action.tensor = binding.tensor;
  action.layer = binding.layer;
  action.binding = t.binding;
  action.rect = t.rect;
  action.fp32 = t.fp32;
  action.spill = spill;
  action.place = place_at(t, row);
  if (spill) {
    // A tile is packed in its spill space: no other tile shares its bus beats.
    action.pitch = static_cast<std::uint32_t>(round_up(t.rect.cols * 4ULL, npu_.bus_bytes));
    if (t.scratch < 0) {
      program_.dram_bytes = round_up(program_.dram_bytes, npu_.bus_bytes);
      t.scratch = static_cast<std::int64_t>(program_.dram_bytes);
      program_.dram_bytes += static_cast<std::uint64_t>(action.pitch) * t.rect.rows;
    }
    action.dram_addr = static_cast<std::uint64_t>(t.scratch);
  } else {
    action.pitch = binding.pitch;
    action.dram_addr = binding.offset + static_cast<std::uint64_t>(t.rect.row) * binding.pitch +
                       t.rect.col * (binding.fp32 ? 4ULL : 2ULL);
  }
  program_.actions.push_back(action);
}

void Allocator::store(Tile &t) {
  dma(Action::Kind::kStore, t, t.at, false);
  t.last.store = static_cast<std::int32_t>(step_);
  t.dirty = false;
}

void Allocator::emit(const TileProduct &product, const Needs &needs) {
  for (const Spill &s : spilled_) {
    dma(Action::Kind::kStore, tile(s.tile), s.row, tile(s.tile).role == TileRole::kPartial);
    tile(s.tile).dirty = false;
  }
  for (const std::int32_t id : missing_)
    if (needs_load(tile(id))) dma(Action::Kind::kLoad, tile(id), tile(id).at, tile(id).role == TileRole::kPartial);

  const auto place = [&](std::size_t slot) {
    const std::int32_t id = needs.tile[slot];
    return id < 0 ? Place{} : place_at(tile(id), tile(id).at);
  };
  const Tile &result = tile(needs.tile[Needs::kCout]);
  Action gemm;
  gemm.kind = product.add ? Action::Kind::kAdd : Action::Kind::kGemm;
  gemm.core = product.core;
  gemm.product = step_;
  gemm.tensor = product.result;
  gemm.layer = product.layer;
  gemm.binding = result.binding;
  gemm.rect = result.rect;
  gemm.acc = !product.add && needs.tile[Needs::kCin] >= 0;
  gemm.out_bf16 = !result.fp32;
  gemm.a = place(Needs::kA);
  gemm.b = place(Needs::kB);
  gemm.cin = place(Needs::kCin);
  gemm.cout = place(Needs::kCout);
  program_.actions.push_back(gemm);

  for (std::size_t slot = 0; slot < needs.tile.size(); ++slot) {
    if (needs.tile[slot] < 0) continue;
    Tile &t = tile(needs.tile[slot]);
    t.last.compute = static_cast<std::int32_t>(step_);
    t.next_use = needs.next[slot] < end_ ? needs.next[slot] : kNever;
    if (t.at < 0 || (slot != Needs::kCout && needs.tile[slot] == needs.tile[Needs::kCout]))
      continue; // updated in place: handled as the result
    const bool complete = t.role == TileRole::kElements || t.next_use == kNever;
    if (slot == Needs::kCout && complete) {
      t.dirty = !table_.stored[static_cast<std::size_t>(t.binding)];
      if (!t.dirty) store(t);
    }
    if (t.next_use != kNever) continue;
    if (t.dirty && needs.next[slot] != kNever) store(t); // it will be loaded again
    map_.release(static_cast<std::uint32_t>(t.at), t.last);
    t.at = -1;
  }
}

/// The product before which everything is given up that the phase at hand leaves.
std::uint32_t Allocator::end_of(const PhasePlan &plan) const {
  const auto empty = std::upper_bound(empty_.begin(), empty_.end(), step_);
  auto end = empty == empty_.end() ? kNever : *empty;
  const auto after =
      static_cast<std::size_t>(std::upper_bound(starts_.begin(), starts_.end(), step_) - starts_.begin());
  if (plan.reach > 0 && after + plan.reach < starts_.size()) end = std::min(end, starts_[after + plan.reach]);
  return end;
}

bool Allocator::run(const PhasePlan &plan) {
  cores_ = plan.parts.cores;
  window_ = std::max(plan.window, 1U) * cores_;
  policy_ = plan.policy;
  if (plan.starts_empty) map_.clear(npu_.spm_rows(), {});
  end_ = end_of(plan);
  for (const TileProduct &product : plan.products) {
    const Needs &needs = table_.needs[step_];
    const std::size_t shared = shared_slot(product);
    for (std::size_t slot = 0; slot < needs.tile.size(); ++slot)
      if (needs.tile[slot] >= 0)
        tile(needs.tile[slot]).side = product.add || slot == Needs::kCin || slot == Needs::kCout ? TileSide::kResult
                                      : slot == shared                                           ? TileSide::kShared
                                                                                                 : TileSide::kOther;
    if (!make_room(needs, plan)) return false;
    emit(product, needs);
    program_.products.push_back(product);
    ++step_;
  }
  return true;
}

} // namespace

namespace {

/// Scratchpad rows that a product takes of each area.
struct AreaRows {
  std::uint64_t shared = 0, other = 0, result = 0;

  bool fit(const SpmSplit &split) const {
    const bool one_area = split.shared.first == split.other.first && split.other.first == split.result.first;
    if (one_area) return shared + other + result <= split.shared.rows;
    const bool two_areas = split.other.first == split.result.first;
    if (two_areas) return shared <= split.shared.rows && other + result <= split.other.rows;
    return shared <= split.shared.rows && other <= split.other.rows && result <= split.result.rows;
  }
};

/// Scratchpad rows of full tiles of a layer.
class FullTiles {
public:
  FullTiles(const TileShape &tile, const NpuConfig &npu) : tile_(tile), lanes_(npu.lanes()) {}

  std::uint64_t rows(Tensor tensor, bool fp32) const {
    const TensorForm &form = form_of(tensor);
    return spm_rows(side_of(tile_, form.row), side_of(tile_, form.col), fp32, lanes_);
  }
  /// A product; `whole`: it sums up all of the reduction, so that no sum needs a place beside the bf16 result.
  AreaRows product(const Contraction &c, bool whole) const {
    AreaRows rows_of{rows(c.shared, false), rows(c.a == c.shared ? c.b : c.a, false), 0};
    if (c.rounds) rows_of.result += rows(c.result, false);
    if (!c.rounds || !whole) rows_of.result += rows(c.result, true);
    return rows_of;
  }
  /// Two sums that are added, and what leaves as bf16.
  AreaRows addition(const Contraction &c) const {
    return {0, 0, 2 * rows(c.result, true) + (c.rounds ? rows(c.result, false) : 0)};
  }

private:
  const TileShape &tile_;
  std::uint32_t lanes_;
};

} // namespace

bool fits(PhaseKind kind, const TileShape &tile, const SpmSplit &split, const Layer &layer, const NpuConfig &npu,
          const PhaseParts &parts) {
  const FullTiles full(tile, npu);
  for (const Tensor result : form_of(kind).results) {
    const Contraction &c = contraction_of(result);
    const bool cut = parts.count > 1 && parts.dim == c.red;
    const bool whole = side_of(tile, c.red) == extent_of(layer, c.red) && !cut;
    if (!full.product(c, whole).fit(split)) return false;
    if (cut && parts.reduction == Reduction::kAdd && !full.addition(c).fit(split)) return false;
  }
  return true;
}

std::optional<Program> allocate(const std::vector<PhasePlan> &plans, const std::vector<Layer> &layers,
                                const Layout &layout, const NpuConfig &npu) {
  Allocator allocator(plans, layers, layout, npu);
  for (const PhasePlan &plan : plans)
    if (!allocator.run(plan)) return std::nullopt;
  return allocator.take();
}

} // namespace gradweave::compiler
