// A tile in the scratchpad, and which tiles a product needs.
#pragma once

#include "compiler/ir/image.hpp"
#include "compiler/spm/spm_map.hpp"

#include <array>
#include <limits>

namespace gradweave::compiler {

inline constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

/// Elements are those of the tensor in memory: an operand, or a result of bf16.
enum class TileRole : std::uint8_t { kElements, kPartial };

/// What a product uses the tile for: an operand from the shared or the other area, or a sum or result.
enum class TileSide : std::uint8_t { kShared, kOther, kResult };

/// What is looked at for every tile in the scratchpad, for each that is placed, comes first, close together.
struct Tile {
  // State during allocation.
  std::uint32_t next_use = kNever; ///< next product that needs it
  std::uint32_t rows = 0;          ///< scratchpad rows it takes
  LastUse last;
  TileRole role = TileRole::kElements;
  bool dirty = false;                ///< during allocation: computed, and not in memory yet
  TileSide side = TileSide::kResult; ///< in the last product that used it
  bool fp32 = false;
  bool computed = false;     ///< by some product, else it is an input
  std::int32_t at = -1;      ///< first scratchpad row; -1: not resident
  std::uint32_t form = 0;    ///< number of its form in the table's
  std::int32_t binding = -1; ///< of the tensor in the layout
  std::uint32_t first_use = kNever;
  std::uint32_t part = 0;       ///< of a partial sum: which part of the reduction plan
  std::uint32_t parts_left = 0; ///< products that are still to write a part of it, if it is computed in parts
  std::uint32_t tenants = 1;    ///< tiles of its size that lie there, each in rows that those before need no more
  Rect rect;
  Guard guard;               ///< rows of `rows` that are no part of it, where it is read as an image; else none
  std::int64_t scratch = -1; ///< DRAM address of its spill space; -1: none yet
};

/// Whether the tile has to stay until its last use: what lies there is nowhere else, or not all that it is to hold.
inline bool has_to_stay(const Tile &t) { return t.parts_left > 0 || t.tenants > 1; }

/// Where all of the tile lies.
Place place_at(const Tile &t, std::uint32_t row);

/// The tiles of a product; -1: none. An ADD has the sum so far as A and the part that it adds as CIN.
struct Needs {
  static constexpr std::size_t kA = 0, kB = 1, kCin = 2, kCout = 3;
  std::array<std::int32_t, 4> tile{-1, -1, -1, -1};
  std::array<std::uint32_t, 4> next{kNever, kNever, kNever, kNever}; ///< next product that needs the tile
};

/// Rows of a tile that a product takes; none: all.
struct TilePart {
  std::uint32_t skip = 0, rows = 0; ///< rows before it, and its own
  std::uint32_t ahead = 0;          ///< rows of the tensor from the tile's to those that lie there now (Tile::tenants)
};

} // namespace gradweave::compiler
