#include "compiler/spm/residency.hpp"
#include "base/process/peak_memory.hpp"
#include "compiler/ir/contraction.hpp"
#include "compiler/ir/vector_section.hpp"
#include "compiler/lower/dram_bytes.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/spm/action_writer.hpp"
#include "compiler/spm/placement.hpp"
#include "compiler/spm/tile_table.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::compiler {
namespace {

/// The operand slot that reads from the shared area; none for an ADD.
std::size_t shared_slot(const TileProduct &p) {
  const Contraction &c = contraction_of(p.result);
  return c.a == c.shared ? Needs::kA : Needs::kB;
}

/// What a product uses a slot's tile for.
TileSide side_of(const TileProduct &p, std::size_t slot) {
  if (p.add || slot == Needs::kCin || slot == Needs::kCout) return TileSide::kResult;
  return slot == shared_slot(p) ? TileSide::kShared : TileSide::kOther;
}

/// Whether the tile is stored once it is complete.
bool leaves(const Tile &t, const TileTable &table, const Layout &layout) {
  const auto binding = static_cast<std::size_t>(t.binding);
  if (!table.stored[binding] || !t.computed) return false;
  // A sum leaves as what it is if it is not rounded, and the first part is what others are added to.
  return t.role == TileRole::kElements || (t.part == 0 && layout.tensors[binding].fp32);
}

/// See the public one.
std::uint64_t least_traffic(const TileTable &table, const std::vector<Tile> &tiles, const Layout &layout,
                            const Machine &npu, std::uint32_t command_bytes) {
  std::uint64_t bytes = table.needs.size() * command_bytes;
  for (const Tile &t : tiles)
    if (leaves(t, table, layout) || !t.computed) {
      const TensorBinding &binding = layout.tensors[static_cast<std::size_t>(t.binding)];
      bytes += dram_bytes_of(element_address(binding, t.rect), t.rect, t.fp32, npu) + command_bytes;
    }
  return bytes;
}

class Allocator {
public:
  /// `table`: the walk's; `tiles`: its tiles. `copies`: the program gets its products one by one, as they run.
  Allocator(const std::vector<PhasePlan> &plans, const TileWalk &walk, const TileTable &table, std::vector<Tile> tiles,
            const TrafficLimit &limit, bool copies)
      : layout_(walk.layout()), npu_(walk.npu()), limit_(limit), copies_(copies), table_(table),
        tiles_(std::move(tiles)), placement_(tiles_, table.needs, npu_),
        writer_(program_, tiles_, table.forms, layout_, npu_) {
    for (const PhasePlan &plan : plans)
      if (plan.section) program_.sections[{plan.layer, plan.section->result}] = plan.section;
    writer_.follow_sections();
    program_.dram_bytes = layout_.bytes;
    if (copies_) program_.products.reserve(table_.needs.size());
    program_.actions.reserve(table_.needs.size() + 2 * tiles_.size()); // to grow would take twice the memory
    std::uint32_t step = 0;
    for (const Slice &slice : walk.order()) {
      if (slice.begins) {
        if (plans[slice.run].starts_empty) empty_.push_back(step);
        starts_.push_back(step);
      }
      step += static_cast<std::uint32_t>(slice.end - slice.first);
    }
    if (limited()) traffic_ = least_traffic(table_, tiles_, layout_, npu_, limit_.command_bytes);
  }

  bool run(const std::vector<PhasePlan> &plans, const Slice &slice, PlacementWatch *watch);
  /// The program of the walk, once all of it has run.
  Program take(const TileWalk &walk) {
    program_.layers = walk.layers();
    program_.reductions = walk.reductions();
    program_.visits = placement_.visits();
    return std::move(program_);
  }

private:
  std::uint32_t end_of(const PhasePlan &plan) const;
  bool limited() const { return limit_.bytes != TrafficLimit{}.bytes; }
  void count(const Tile &t, std::uint64_t address) {
    traffic_ += dram_bytes_of(address, t.rect, t.fp32, npu_) + limit_.command_bytes;
  }
  void move(Action::Kind kind, Tile &t, std::int64_t row, bool spill, bool in_any_case);
  void store(Tile &t, bool in_any_case);
  bool write_part(Tile &t, const TilePart &part);
  void move_tiles();
  void run_vector(const TileProduct &product);
  void end_product(const TileProduct &product) {
    if (copies_) program_.products.push_back(product);
    writer_.next_product();
    ++step_;
  }
  bool use_tiles(const Needs &needs);
  const std::array<TilePart, 4> *parts() const { return table_.parts.empty() ? nullptr : &table_.parts[step_]; }

  Tile &tile(std::int32_t id) { return tiles_[static_cast<std::size_t>(id)]; }

  const Layout &layout_;
  const Machine &npu_;
  TrafficLimit limit_;
  bool copies_;
  /// Of the program at least: what has to move in any case, and what has moved beyond that.
  std::uint64_t traffic_ = 0;
  Program program_;
  const TileTable &table_; ///< whose tiles may be elsewhere: those below
  std::vector<Tile> tiles_;
  Placement placement_;
  ActionWriter writer_;
  std::vector<std::uint32_t> empty_;  ///< products before which the scratchpad is to be empty
  std::vector<std::uint32_t> starts_; ///< first products of the phases, of woven ones together
  std::uint32_t step_ = 0;            ///< the product at hand
  std::uint32_t end_ = kNever;        ///< tiles that are needed from this product on do not stay
};

void Allocator::move(Action::Kind kind, Tile &t, std::int64_t row, bool spill, bool in_any_case) {
  writer_.move(kind, t, row, spill);
  if (limited() && !in_any_case) count(t, program_.actions.back().memory.address);
}

void Allocator::store(Tile &t, bool in_any_case) {
  move(Action::Kind::kStore, t, t.at, false, in_any_case);
  t.last.store = static_cast<std::int32_t>(step_);
  t.dirty = false;
}

/// Stores what lost its place, and loads what has got one.
void Allocator::move_tiles() {
  for (const SpilledTile &s : placement_.spilled()) {
    move(Action::Kind::kStore, tile(s.tile), s.row, tile(s.tile).role == TileRole::kPartial, false);
    tile(s.tile).dirty = false;
  }
  for (const std::int32_t id : placement_.placed())
    if (Tile &t = tile(id); placement_.needs_load(t))
      move(Action::Kind::kLoad, t, t.at, t.role == TileRole::kPartial, !t.computed && t.first_use == step_);
}

/// A part of a tile is complete; it leaves if the tensor does. Whether the tile may stay until the others are.
bool Allocator::write_part(Tile &t, const TilePart &part) {
  --t.parts_left;
  t.dirty = !table_.stored[static_cast<std::size_t>(t.binding)];
  if (!t.dirty) {
    writer_.store_part(t, part);
    if (limited() && part.ahead > 0) traffic_ += dram_bytes_of(program_, program_.actions.back(), npu_);
    t.last.store = static_cast<std::int32_t>(step_);
  }
  return t.parts_left == 0 || t.next_use != kNever;
}

/// After the product: a complete result leaves, and tiles that are needed no more give up their rows. Whether those
/// that are not complete may stay.
bool Allocator::use_tiles(const Needs &needs) {
  for (std::size_t slot = 0; slot < needs.tile.size(); ++slot) {
    if (needs.tile[slot] < 0) continue;
    Tile &t = tile(needs.tile[slot]);
    t.last.compute = static_cast<std::int32_t>(step_);
    t.next_use = needs.next[slot] < end_ ? needs.next[slot] : kNever;
    if (t.at < 0 || (slot != Needs::kCout && needs.tile[slot] == needs.tile[Needs::kCout]))
      continue; // updated in place: handled as the result
    const bool complete = t.role == TileRole::kElements || t.next_use == kNever;
    if (slot == Needs::kCout && parts() != nullptr && (*parts())[slot].rows != 0) {
      if (!write_part(t, (*parts())[slot])) return false;
    } else if (slot == Needs::kCout && complete) {
      t.dirty = !table_.stored[static_cast<std::size_t>(t.binding)];
      if (!t.dirty) store(t, true);
    }
    if (t.next_use != kNever) continue;
    if (t.parts_left > 0 || (t.tenants > 1 && needs.next[slot] != kNever))
      return false;                                             // it would come back without those
    if (t.dirty && needs.next[slot] != kNever) store(t, false); // it will be loaded again
    placement_.release(t);
  }
  return true;
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

/// Has rows of its own, which no tile is in.
void Allocator::run_vector(const TileProduct &product) {
  writer_.vector(product);
  const VectorPiece &piece = section_of(program_, product).piece(product);
  if (limited()) traffic_ += piece.dram_bytes + (piece.commands.size() - 1) * limit_.command_bytes;
  end_product(product);
}

bool Allocator::run(const std::vector<PhasePlan> &plans, const Slice &slice, PlacementWatch *watch) {
  const PhasePlan &plan = plans[slice.plan];
  placement_.begin(plan, slice.begins && plans[slice.run].starts_empty);
  end_ = end_of(plan);
  for (std::size_t i = slice.first; i < slice.end; ++i) {
    const TileProduct &product = plan.products[i];
    if (traffic_ >= limit_.bytes) return false;
    if (product.vector) {
      run_vector(product);
      if (watch != nullptr && !watch->goes_on(program_, traffic_)) return false;
      continue;
    }
    const Needs &needs = table_.needs[step_];
    for (std::size_t slot = 0; slot < needs.tile.size(); ++slot) {
      if (needs.tile[slot] < 0) continue;
      Tile &t = tile(needs.tile[slot]);
      t.next_use = step_; // also of one that was given up because this product was beyond the reach of its phase
      placement_.use_as(t, side_of(product, slot));
    }
    if (!placement_.make_room(step_)) return false;
    move_tiles();
    writer_.compute(product, needs, parts());
    if (!use_tiles(needs)) return false;
    end_product(product);
    if (watch != nullptr && !watch->goes_on(program_, traffic_)) return false;
  }
  return traffic_ < limit_.bytes;
}

std::vector<ReductionPlans> reductions_of(const std::vector<PhasePlan> &plans, const std::vector<Layer> &layers,
                                          const Machine &npu) {
  std::vector<ReductionPlans> reductions(layers.size());
  for (const PhasePlan &plan : plans)
    add_reductions(plan, layers[plan.layer], npu, reductions[plan.layer]);
  return reductions;
}

} // namespace

TileWalk::TileWalk(const std::vector<PhasePlan> &plans, const std::vector<Layer> &layers, const Layout &layout,
                   const Machine &npu)
    : TileWalk(plans, layers, layout, npu, run_order(plans, layers, layout)) {}

TileWalk::TileWalk(const std::vector<PhasePlan> &plans, const std::vector<Layer> &layers, const Layout &layout,
                   const Machine &npu, std::vector<Slice> order)
    : layers_(layers), layout_(layout), npu_(npu), reductions_(reductions_of(plans, layers, npu)),
      order_(std::move(order)), table_(plans, order_, layers, layout, reductions_, npu) {}

std::uint64_t least_traffic(const TileWalk &walk, std::uint32_t command_bytes) {
  return least_traffic(walk.table(), walk.table().tiles, walk.layout(), walk.npu(), command_bytes);
}

namespace {

/// The products of plans in the order of the slices; afterwards the plans have none.
std::vector<TileProduct> take_products(std::vector<PhasePlan> &plans, const std::vector<Slice> &order) {
  if (order.size() == 1) return std::exchange(plans[order.front().plan].products, {});
  std::size_t count = 0;
  for (const Slice &slice : order)
    count += slice.end - slice.first;
  std::vector<TileProduct> products;
  products.reserve(count);
  for (const Slice &slice : order) {
    std::vector<TileProduct> &own = plans[slice.plan].products;
    products.insert(products.end(), own.begin() + static_cast<std::ptrdiff_t>(slice.first),
                    own.begin() + static_cast<std::ptrdiff_t>(slice.end));
    if (slice.end == own.size()) own = std::vector<TileProduct>();
  }
  return products;
}

std::optional<Program> place_all(const std::vector<PhasePlan> &plans, const TileWalk &walk, const TileTable &table,
                                 std::vector<Tile> tiles, const TrafficLimit &limit, std::uint64_t *lost,
                                 PlacementWatch *watch, bool copies = true) {
  const std::size_t products = table.needs.size();
  Allocator allocator(plans, walk, table, std::move(tiles), limit, copies);
  for (const Slice &slice : walk.order())
    if (!allocator.run(plans, slice, watch)) {
      if (lost != nullptr) *lost += products;
      return std::nullopt;
    }
  return allocator.take(walk);
}

} // namespace

std::optional<Program> allocate(const std::vector<PhasePlan> &plans, const TileWalk &walk, const TrafficLimit &limit,
                                std::uint64_t *lost, PlacementWatch *watch) {
  return place_all(plans, walk, walk.table(), walk.table().tiles, limit, lost, watch);
}

std::optional<Program> allocate(const std::vector<PhasePlan> &plans, TileWalk &&walk, const TrafficLimit &limit,
                                std::uint64_t *lost, PlacementWatch *watch) {
  TileTable table = walk.take_table();
  return place_all(plans, walk, table, std::move(table.tiles), limit, lost, watch);
}

std::optional<Program> allocate(const std::vector<PhasePlan> &plans, const std::vector<Layer> &layers,
                                const Layout &layout, const Machine &npu, const TrafficLimit &limit,
                                std::uint64_t *lost) {
  return allocate(plans, TileWalk(plans, layers, layout, npu), limit, lost);
}

std::optional<Program> allocate_once(std::vector<PhasePlan> &plans, const std::vector<Layer> &layers,
                                     const Layout &layout, const Machine &npu) {
  TileWalk walk(plans, layers, layout, npu);
  if (walk.table().needs.size() >= kManyActions) give_back_memory();
  TileTable table = walk.take_table();
  std::optional<Program> program = place_all(plans, walk, table, std::move(table.tiles), {}, nullptr, nullptr, false);
  if (program) program->products = take_products(plans, walk.order());
  return program;
}

} // namespace gradweave::compiler
