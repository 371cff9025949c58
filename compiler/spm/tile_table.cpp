#include "compiler/spm/tile_table.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/contraction.hpp"
#include "compiler/ir/grid/tile_rows.hpp"
#include "compiler/ir/image.hpp"
#include "compiler/ir/vector_section.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/spm/tile_parts.hpp"
#include "compiler/spm/tile_tenants.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// A tile is to have rows around it that the product's taps may move to.
void guard_image(const TileProduct &p, const Layer &layer, std::uint32_t lanes, Tile &t) {
  const Guard wanted = guard_of(layer, p, t.rect);
  const std::uint32_t panel = std::max(t.guard.panel, wanted.panel);
  const std::uint32_t end = std::max(t.guard.panel + t.guard.behind, wanted.panel + wanted.behind);
  t.guard = {std::max(t.guard.before, wanted.before), panel, static_cast<std::uint32_t>(round_up(end - panel, 2))};
  t.rows = spm_rows(panel, t.rect.cols, false, lanes) + t.guard.before + t.guard.behind;
}

/// Finds the number of a tile by what it holds. Open addressing: a search looks up millions of tiles.
class TableBuilder {
public:
  TableBuilder(TileTable &table, std::uint32_t lanes) : table_(table), lanes_(lanes), slots_(64, kEmpty) {}

  std::int32_t tile(std::int32_t binding, TileRole role, std::uint32_t part, const Rect &rect, std::uint32_t product) {
    if (2 * table_.tiles.size() >= slots_.size()) grow();
    std::int32_t &slot = find(binding, role, part, rect);
    if (slot == kEmpty) {
      slot = static_cast<std::int32_t>(table_.tiles.size());
      Tile t;
      t.binding = binding;
      t.role = role;
      t.fp32 = role == TileRole::kPartial;
      t.rect = rect;
      t.part = part;
      t.rows = spm_rows(tile_rows(rect), rect.cols, t.fp32, lanes_);
      t.first_use = product;
      table_.tiles.push_back(t);
    }
    return slot;
  }

private:
  static constexpr std::int32_t kEmpty = -1;

  std::int32_t &find(std::int32_t binding, TileRole role, std::uint32_t part, const Rect &rect) {
    std::uint64_t hash = static_cast<std::uint64_t>(binding) * 2 + static_cast<std::uint64_t>(role);
    for (const std::uint64_t v : {rect.row, rect.col, rect.rows, rect.cols, part})
      hash = (hash ^ v) * 0x9E3779B97F4A7C15U;
    std::size_t at = static_cast<std::size_t>(hash >> 20) & (slots_.size() - 1);
    for (;; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == kEmpty) return slots_[at];
      const Tile &t = table_.tiles[static_cast<std::size_t>(slots_[at])];
      if (t.binding == binding && t.role == role && t.part == part && t.rect == rect) return slots_[at];
    }
  }

  void grow() {
    slots_.assign(slots_.size() * 4, kEmpty);
    for (std::size_t i = 0; i < table_.tiles.size(); ++i) {
      const Tile &t = table_.tiles[i];
      find(t.binding, t.role, t.part, t.rect) = static_cast<std::int32_t>(i);
    }
  }

  TileTable &table_;
  std::uint32_t lanes_;
  std::vector<std::int32_t> slots_;
};

/// An intermediate need not be stored if whoever reads it reads the tiles that were computed.
std::vector<bool> stored_tensors(const std::vector<Tile> &tiles, const std::vector<PhasePlan> &plans,
                                 const Layout &layout) {
  std::vector<bool> stored;
  for (const TensorBinding &b : layout.tensors)
    stored.push_back(b.result);
  for (const Tile &t : tiles)
    if (t.role == TileRole::kElements && !t.computed) stored[static_cast<std::size_t>(t.binding)] = true;
  for (const PhasePlan &plan : plans)
    if (plan.section)
      for (const SectionOperand &operand : plan.section->operands)
        stored[static_cast<std::size_t>(layout.place(operand.layer, operand.tensor))] = true;
  return stored;
}

/// Gives each use of a tile the next one.
void link_uses(std::vector<Tile> &tiles, std::vector<Needs> &needs) {
  for (std::size_t p = needs.size(); p-- > 0;)
    for (std::size_t slot = needs[p].tile.size(); slot-- > 0;)
      if (const std::int32_t t = needs[p].tile[slot]; t >= 0) {
        Tile &tile = tiles[static_cast<std::size_t>(t)];
        // A partial sum updated in place fills two slots of the same product.
        needs[p].next[slot] = tile.next_use == p ? needs[p].next[Needs::kCout] : tile.next_use;
        tile.next_use = static_cast<std::uint32_t>(p);
      }
}

} // namespace

Place place_at(const Tile &t, std::uint32_t row) {
  const std::uint32_t panel = std::max(tile_rows(t.rect), t.guard.panel) * (t.fp32 ? 2 : 1);
  return {{row, t.rows}, panel, t.guard.before};
}

TileTable::TileTable(const std::vector<PhasePlan> &plans, const std::vector<Slice> &order,
                     const std::vector<Layer> &layers, const Layout &layout,
                     const std::vector<ReductionPlans> &reductions, const NpuConfig &npu) {
  TableBuilder builder(*this, npu.lanes());
  std::size_t products = 0;
  for (const Slice &slice : order)
    products += slice.end - slice.first;
  needs.reserve(products);
  const bool takes_parts = std::any_of(plans.begin(), plans.end(), [](const PhasePlan &p) { return p.takes_parts; });
  std::vector<Slots> in_parts; // of each product, if any takes parts
  std::vector<std::uint32_t> runs;
  for (const Slice &slice : order) {
    if (slice.begins) runs.push_back(static_cast<std::uint32_t>(needs.size()));
    for (std::size_t i = slice.first; i < slice.end; ++i) {
      const TileProduct &p = plans[slice.plan].products[i];
      const Layer &layer = layers[p.layer];
      if (p.vector) { // finds its operands in memory
        needs.emplace_back();
        continue;
      }
      const ReductionPlans &reduction = reductions[p.layer];
      const GemmRoles r = roles(p, layer);
      const auto index = static_cast<std::uint32_t>(needs.size());
      const auto elements = [&](Tensor t, const Rect &rect) {
        return builder.tile(layout.place(p.layer, t), TileRole::kElements, 0, rect, index);
      };
      const auto sum = [&](std::uint32_t part) {
        return builder.tile(layout.place(p.layer, p.result), TileRole::kPartial, part, r.c_rect, index);
      };
      const bool complete = r.red + r.red_size == reduction_extent(p, layer);
      const bool last = complete && (p.add || reduction.of(p.result).empty());
      const bool leaves_rounded = rounds(layer, p.result) && last;
      Needs n;
      if (p.add) {
        n.tile[Needs::kA] = sum(0);
        n.tile[Needs::kCin] = sum(p.part);
      } else {
        n.tile[Needs::kA] = elements(r.a, r.a_rect);
        n.tile[Needs::kB] = elements(r.b, r.b_rect);
        if (layer.image) guard_image(p, layer, npu.lanes(), tiles[static_cast<std::size_t>(n.tile[Needs::kA])]);
        if (r.red != reduction.first(p.result, p.part)) n.tile[Needs::kCin] = sum(p.part);
      }
      n.tile[Needs::kCout] = leaves_rounded ? elements(p.result, r.c_rect) : sum(p.add ? 0 : p.part);
      tiles[static_cast<std::size_t>(n.tile[Needs::kCout])].computed = true;
      if (takes_parts) {
        in_parts.resize(needs.size());
        if (plans[slice.plan].takes_parts && !p.add)
          in_parts.push_back(Slots{1U << Needs::kA | static_cast<unsigned>(r.b != Tensor::kW) << Needs::kB});
      }
      needs.push_back(n);
    }
  }
  if (takes_parts) {
    in_parts.resize(needs.size());
    parts = join_tiles(tiles, needs, in_parts, runs, npu.lanes(), npu.spm_rows());
    share_places(tiles, needs, parts, npu.spm_rows());
  }
  for (Tile &t : tiles)
    t.form = forms.number_of(t.rect, place_at(t, 0));
  stored = stored_tensors(tiles, plans, layout);
  link_uses(tiles, needs);
}

} // namespace gradweave::compiler
