// The scratchpad as flexer_cgo23 manages it (section 4.1): blocks of any size, placed in place of a dead one of the
// same size, else where they fit best, else over victims.
#pragma once

#include "compiler/ir/program.hpp"
#include "compiler/request/flexer_policy.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace gradweave::compiler::flexer {

/// What the map asks of its tiles, by number.
struct TileUses {
  std::vector<std::uint32_t> remaining; ///< operations that are still to read it; 0: its rows are free for others
  std::vector<std::uint32_t> pinned;    ///< of the set with this number at hand, so that it must stay
  std::uint32_t set = 0;                ///< the number of the set at hand

  bool is_pinned(std::int32_t tile) const { return pinned[static_cast<std::size_t>(tile)] == set; }
  std::uint32_t of(std::int32_t tile) const { return remaining[static_cast<std::size_t>(tile)]; }
};

class BlockMap {
public:
  static constexpr std::int32_t kFree = -1;
  struct Block {
    RowRange rows;
    std::int32_t tile = kFree;
  };

  explicit BlockMap(std::uint32_t rows) : blocks_{{{0, rows}, kFree}} {}

  /// Gives a tile of so many rows a place: its first row; nothing if there is none, and the map is as before. Tiles
  /// that lose theirs and are still to be read are appended to `lost`, in order of rows.
  std::optional<std::uint32_t> place(std::int32_t tile, std::uint32_t rows, const Policy &policy, const TileUses &uses,
                                     std::vector<std::int32_t> &lost);
  /// Puts the tile at these rows, which must be free or of tiles that may go.
  void put(std::int32_t tile, RowRange rows);
  /// All rows are free.
  void clear();

  /// Ascending, without gaps; neighbours may both be free.
  const std::vector<Block> &blocks() const { return blocks_; }
  /// Rows of tiles that are still to be read.
  std::uint32_t live_rows(const TileUses &uses) const;

private:
  struct Run {
    std::size_t first = 0, count = 0; ///< blocks
  };

  bool is_open(const Block &b, const TileUses &uses) const {
    return b.tile == kFree || (uses.of(b.tile) == 0 && !uses.is_pinned(b.tile));
  }
  std::optional<std::uint32_t> dead_twin(std::uint32_t rows, const TileUses &uses) const;
  std::optional<std::uint32_t> best_fit(std::uint32_t rows, const TileUses &uses) const;
  std::optional<Run> least_harm(std::uint32_t rows, const Policy &policy, const TileUses &uses) const;
  std::optional<Run> first_large(std::uint32_t rows, const TileUses &uses) const;
  std::optional<std::uint32_t> after_smallest(std::uint32_t rows, const TileUses &uses,
                                              std::vector<std::int32_t> &lost);

  std::vector<Block> blocks_;
};

} // namespace gradweave::compiler::flexer
