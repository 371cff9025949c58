#include "compiler/tile_table.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// Finds the number of a tile by what it holds. Open addressing: a search looks up millions of tiles.
class Builder {
public:
  Builder(TileTable &table, std::uint32_t lanes) : table_(table), lanes_(lanes), slots_(64, kEmpty) {}

  std::int32_t tile(Tensor tensor, TileRole role, std::uint32_t part, const Rect &rect, std::uint32_t product) {
    if (2 * table_.tiles.size() >= slots_.size()) grow();
    std::int32_t &slot = find(tensor, role, part, rect);
    if (slot == kEmpty) {
      slot = static_cast<std::int32_t>(table_.tiles.size());
      Tile t;
      t.tensor = tensor;
      t.role = role;
      t.fp32 = role == TileRole::kPartial;
      t.rect = rect;
      t.part = part;
      t.rows = spm_rows(rect.rows, rect.cols, t.fp32, lanes_);
      t.first_use = product;
      table_.tiles.push_back(t);
    }
    return slot;
  }

private:
  static constexpr std::int32_t kEmpty = -1;

  std::int32_t &find(Tensor tensor, TileRole role, std::uint32_t part, const Rect &rect) {
    std::uint64_t hash = static_cast<std::uint64_t>(tensor) * 4 + static_cast<std::uint64_t>(role);
    for (const std::uint64_t v : {rect.row, rect.col, rect.rows, rect.cols, part})
      hash = (hash ^ v) * 0x9E3779B97F4A7C15U;
    std::size_t at = static_cast<std::size_t>(hash >> 20) & (slots_.size() - 1);
    for (;; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == kEmpty) return slots_[at];
      const Tile &t = table_.tiles[static_cast<std::size_t>(slots_[at])];
      if (t.tensor == tensor && t.role == role && t.part == part && t.rect == rect) return slots_[at];
    }
  }

  void grow() {
    slots_.assign(slots_.size() * 4, kEmpty);
    for (std::size_t i = 0; i < table_.tiles.size(); ++i) {
      const Tile &t = table_.tiles[i];
      find(t.tensor, t.role, t.part, t.rect) = static_cast<std::int32_t>(i);
    }
  }

  TileTable &table_;
  std::uint32_t lanes_;
  std::vector<std::int32_t> slots_;
};

} // namespace

TileTable::TileTable(const std::vector<PhasePlan> &plans, const Layer &layer, const ReductionPlans &reductions,
                     const NpuConfig &npu) {
  Builder builder(*this, npu.lanes());
  for (const PhasePlan &plan : plans)
    for (const TileProduct &p : plan.products) {
      const GemmRoles r = roles(p, layer);
      const auto index = static_cast<std::uint32_t>(needs.size());
      const auto sum = [&](std::uint32_t part) {
        return builder.tile(p.result, TileRole::kPartial, part, r.c_rect, index);
      };
      const bool complete = r.red + r.red_size == reduction_extent(p.result, layer);
      const bool last = complete && (p.add || reductions.of(p.result).empty());
      const bool rounds = p.result != Tensor::kDW && last;
      Needs n;
      if (p.add) {
        n.tile[Needs::kA] = sum(0);
        n.tile[Needs::kCin] = sum(p.part);
      } else {
        n.tile[Needs::kA] = builder.tile(r.a, TileRole::kOperand, 0, r.a_rect, index);
        n.tile[Needs::kB] = builder.tile(r.b, TileRole::kOperand, 0, r.b_rect, index);
        if (r.red != reductions.first(p.result, p.part)) n.tile[Needs::kCin] = sum(p.part);
      }
      n.tile[Needs::kCout] =
          rounds ? builder.tile(p.result, TileRole::kResult, 0, r.c_rect, index) : sum(p.add ? 0 : p.part);
      needs.push_back(n);
    }
  for (std::size_t p = needs.size(); p-- > 0;)
    for (std::size_t slot = needs[p].tile.size(); slot-- > 0;)
      if (const std::int32_t t = needs[p].tile[slot]; t >= 0) {
        Tile &tile = tiles[static_cast<std::size_t>(t)];
        // A partial sum updated in place fills two slots of the same product.
        needs[p].next[slot] = tile.next_use == p ? needs[p].next[Needs::kCout] : tile.next_use;
        tile.next_use = static_cast<std::uint32_t>(p);
      }
}

} // namespace gradweave::compiler
