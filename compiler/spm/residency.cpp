#include "compiler/spm/residency.hpp"
#include "compiler/ir/contraction.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/spm/action_writer.hpp"
#include "compiler/spm/placement.hpp"
#include "compiler/spm/tile_table.hpp"

#include <algorithm>

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

class Allocator {
public:
  Allocator(const std::vector<PhasePlan> &plans, const std::vector<Layer> &layers, const Layout &layout,
            const NpuConfig &npu)
      : program_(begin(plans, layers, layout, npu)), table_(plans, layers, layout, program_.reductions, npu),
        placement_(table_, npu), writer_(program_, layout, npu) {
    std::uint32_t step = 0;
    for (const PhasePlan &plan : plans) {
      if (plan.starts_empty) empty_.push_back(step);
      starts_.push_back(step);
      step += static_cast<std::uint32_t>(plan.products.size());
    }
  }

  bool run(const PhasePlan &plan);
  Program take() {
    program_.visits = placement_.visits();
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
  void store(Tile &t);
  void move_tiles();
  void use_tiles(const Needs &needs);

  Tile &tile(std::int32_t id) { return table_.tiles[static_cast<std::size_t>(id)]; }

  Program program_;
  TileTable table_;
  Placement placement_;
  ActionWriter writer_;
  std::vector<std::uint32_t> empty_;  ///< products before which the scratchpad is to be empty
  std::vector<std::uint32_t> starts_; ///< first products of the phases
  std::uint32_t step_ = 0;            ///< the product at hand
  std::uint32_t end_ = kNever;        ///< tiles that are needed from this product on do not stay
};

void Allocator::store(Tile &t) {
  writer_.move(Action::Kind::kStore, t, t.at, false);
  t.last.store = static_cast<std::int32_t>(step_);
  t.dirty = false;
}

/// Stores what lost its place, and loads what has got one.
void Allocator::move_tiles() {
  for (const SpilledTile &s : placement_.spilled()) {
    writer_.move(Action::Kind::kStore, tile(s.tile), s.row, tile(s.tile).role == TileRole::kPartial);
    tile(s.tile).dirty = false;
  }
  for (const std::int32_t id : placement_.placed())
    if (placement_.needs_load(tile(id)))
      writer_.move(Action::Kind::kLoad, tile(id), tile(id).at, tile(id).role == TileRole::kPartial);
}

/// After the product: a complete result leaves, and tiles that are needed no more give up their rows.
void Allocator::use_tiles(const Needs &needs) {
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
    placement_.release(t);
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
  placement_.begin(plan);
  end_ = end_of(plan);
  for (const TileProduct &product : plan.products) {
    const Needs &needs = table_.needs[step_];
    for (std::size_t slot = 0; slot < needs.tile.size(); ++slot)
      if (needs.tile[slot] >= 0) tile(needs.tile[slot]).side = side_of(product, slot);
    if (!placement_.make_room(step_)) return false;
    move_tiles();
    writer_.compute(product, needs, table_);
    use_tiles(needs);
    program_.products.push_back(product);
    ++step_;
  }
  return true;
}

} // namespace

std::optional<Program> allocate(const std::vector<PhasePlan> &plans, const std::vector<Layer> &layers,
                                const Layout &layout, const NpuConfig &npu) {
  Allocator allocator(plans, layers, layout, npu);
  for (const PhasePlan &plan : plans)
    if (!allocator.run(plan)) return std::nullopt;
  return allocator.take();
}

} // namespace gradweave::compiler
