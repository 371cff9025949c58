// Tiles that are computed or read in parts.
#pragma once

#include "compiler/spm/tile.hpp"

#include <vector>

namespace gradweave::compiler {

/// Makes tiles of elements that have the same columns of a tensor, and some rows in common, directly or by way of
/// others, parts of one tile that has the rows of all of them. `may`: of each tile, whether it may
/// be a part. Those are left alone of which only some rows are computed, or some twice.
/// Returns, of the tiles of each product, what it takes of them; nothing if no tile has parts.
std::vector<std::array<TilePart, 4>> join_tiles(std::vector<Tile> &tiles, std::vector<Needs> &needs,
                                                const std::vector<bool> &may, std::uint32_t lanes);

} // namespace gradweave::compiler
