// Where tiles lie in the scratchpad, and which give way to others.
#pragma once

#include "compiler/spm/spm_map.hpp"
#include "compiler/spm/tile_table.hpp"
#include "sw_models/config/npu_config.hpp"

#include <array>
#include <vector>

namespace gradweave::compiler {

/// A tile that loses its place and is not in memory.
struct SpilledTile {
  std::int32_t tile;
  std::uint32_t row; ///< where it was
};

/// The scratchpad while products follow one another. Tiles are those of the table, by index; Tile::at is their place.
class Placement {
public:
  /// The table's tiles, and what its products need of them. The references must outlive the object.
  Placement(std::vector<Tile> &tiles, const std::vector<Needs> &needs, const NpuConfig &npu)
      : tiles_(tiles), needs_(needs), npu_(npu), map_(npu.spm_rows()), bank_rows_(npu.bank_rows()) {
    for (BankRows &counts : operands_)
      counts.resize(npu.spm_banks, 0);
  }

  /// The phase that the next products belong to; `empty`: all that is there is given up first.
  void begin(const PhasePlan &plan, bool empty);
  /// What the product at hand uses a tile for.
  void use_as(Tile &t, TileSide side) {
    if (t.side == side) return;
    if (t.at >= 0) count_operand(t, -1);
    t.side = side;
    if (t.at >= 0) count_operand(t, 1);
  }
  /// Gives all tiles of the product with index `step` places in the areas of the phase's split. Returns whether they
  /// fit.
  bool make_room(std::uint32_t step);
  /// The tile is needed no more: its rows are free.
  void release(Tile &t);

  /// Of the last make_room(): tiles that got a place, and tiles that lost theirs.
  const std::vector<std::int32_t> &placed() const { return placed_; }
  const std::vector<SpilledTile> &spilled() const { return spilled_; }
  /// Whether a tile that gets a place has to be loaded: an operand, or a sum that was begun before.
  bool needs_load(const Tile &t) const {
    return t.role == TileRole::kElements ? t.side != TileSide::kResult : t.first_use < step_;
  }
  /// Segments that were looked at, in all.
  std::uint64_t visits() const { return map_.visits(); }

private:
  /// A number of each bank.
  using BankRows = std::vector<std::uint32_t>;

  bool place(std::int32_t id, const RowRange &area);
  bool repack();
  const RowRange &area_of(TileSide side) const {
    return side == TileSide::kShared ? split_.shared : side == TileSide::kOther ? split_.other : split_.result;
  }
  void lie_at(Tile &t, std::uint32_t row) {
    t.at = static_cast<std::int32_t>(row);
    count_operand(t, 1);
  }
  void leave(Tile &t) {
    count_operand(t, -1);
    t.at = -1;
  }
  /// The tile comes to, or leaves, the banks where it lies.
  void count_operand(const Tile &t, int change);
  void find_foreign_rows(const Tile &t, const RowRange &area);
  double bank_cost(RowRange rows) const;
  double cost(const SpmMap::Segment &s, bool loads, std::uint32_t rows) const;
  LastUse evict(std::int32_t id);
  Tile &tile(std::int32_t id) { return tiles_[static_cast<std::size_t>(id)]; }
  const Tile &tile(std::int32_t id) const { return tiles_[static_cast<std::size_t>(id)]; }

  std::vector<Tile> &tiles_;
  const std::vector<Needs> &needs_; ///< of each product
  const NpuConfig &npu_;
  SpmMap map_;
  std::uint32_t step_ = 0; ///< the product at hand
  SpmSplit split_;         ///< of the phase at hand, likewise those below
  PlacementPolicy policy_;
  std::uint32_t window_ = 1; ///< on all its cores
  std::uint32_t cores_ = 1;
  std::vector<double> waits_; ///< share of the window that a load waits, by products that it waits for
  std::uint32_t bank_rows_;
  std::array<BankRows, 2> operands_; ///< tiles of the shared and of the other area, by bank
  // Room to work in, for what is called too often to allocate:
  /// Rows in banks with operands of the other area, before the first row of each bank; empty: they share no bank. Of
  /// the last find_foreign_rows().
  BankRows foreign_;
  std::vector<std::int32_t> wanted_;
  std::vector<std::int32_t> placed_;
  std::vector<SpilledTile> spilled_;
};

} // namespace gradweave::compiler
