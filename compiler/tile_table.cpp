#include "compiler/tile_table.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// The tiles of one tensor cut in one way, numbered by rows of tiles.
struct Grid {
  Tensor tensor = Tensor::kX;
  TileRole role = TileRole::kOperand;
  std::uint32_t tile_rows = 0, tile_cols = 0;
  std::size_t columns = 0; ///< tiles side by side
  std::size_t first = 0;   ///< index of the first tile in the table
};

struct Extent {
  std::uint32_t rows, cols;
};

Extent tensor_extent(Tensor t, const Layer &l) {
  switch (t) {
  case Tensor::kX:
  case Tensor::kDX:
    return {l.m, l.k};
  case Tensor::kW:
  case Tensor::kDW:
    return {l.k, l.n};
  default:
    return {l.m, l.n};
  }
}

Extent tile_extent(Tensor t, const TileShape &s) {
  Layer as_layer;
  as_layer.m = s.m;
  as_layer.k = s.k;
  as_layer.n = s.n;
  return tensor_extent(t, as_layer);
}

class Builder {
public:
  Builder(TileTable &table, const Layer &layer, std::uint32_t lanes) : table_(table), layer_(layer), lanes_(lanes) {}

  std::int32_t tile(Tensor tensor, TileRole role, const Rect &rect, const TileShape &shape, std::uint32_t product) {
    const Grid &grid = find(tensor, role, shape);
    const std::size_t index = grid.first + rect.row / grid.tile_rows * grid.columns + rect.col / grid.tile_cols;
    Tile &t = table_.tiles[index];
    if (t.rows == 0) {
      t.tensor = tensor;
      t.role = role;
      t.fp32 = role == TileRole::kPartial;
      t.rect = rect;
      t.rows = spm_rows(rect.rows, rect.cols, t.fp32, lanes_);
      t.first_use = product;
    }
    return static_cast<std::int32_t>(index);
  }

private:
  const Grid &find(Tensor tensor, TileRole role, const TileShape &shape) {
    const Extent side = tile_extent(tensor, shape);
    for (const Grid &g : grids_)
      if (g.tensor == tensor && g.role == role && g.tile_rows == side.rows && g.tile_cols == side.cols) return g;
    const Extent extent = tensor_extent(tensor, layer_);
    const std::size_t columns = divide_up(extent.cols, side.cols);
    grids_.push_back({tensor, role, side.rows, side.cols, columns, table_.tiles.size()});
    table_.tiles.resize(table_.tiles.size() + columns * divide_up(extent.rows, side.rows));
    return grids_.back();
  }

  TileTable &table_;
  const Layer &layer_;
  std::uint32_t lanes_;
  std::vector<Grid> grids_;
};

} // namespace

TileTable::TileTable(const std::vector<PhasePlan> &plans, const Layer &layer, const NpuConfig &npu) {
  Builder builder(*this, layer, npu.lanes());
  for (const PhasePlan &plan : plans)
    for (const TileProduct &p : plan.products) {
      const GemmRoles r = roles(p);
      const auto index = static_cast<std::uint32_t>(needs.size());
      const bool first = r.red == 0;
      const bool rounds = p.result != Tensor::kDW && r.red + r.red_size == reduction_extent(p.result, layer);
      Needs n;
      n.tile[Needs::kA] = builder.tile(r.a, TileRole::kOperand, r.a_rect, plan.tile, index);
      n.tile[Needs::kB] = builder.tile(r.b, TileRole::kOperand, r.b_rect, plan.tile, index);
      if (!first) n.tile[Needs::kCin] = builder.tile(p.result, TileRole::kPartial, r.c_rect, plan.tile, index);
      n.tile[Needs::kCout] =
          builder.tile(p.result, rounds ? TileRole::kResult : TileRole::kPartial, r.c_rect, plan.tile, index);
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
