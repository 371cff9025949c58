// Tiles that are computed or read in parts.
#pragma once

#include "compiler/spm/tile_table.hpp"

#include <vector>

namespace gradweave::compiler {

/// Makes tiles of elements that have the same columns of a tensor, and some rows in common, directly or by way of
/// others, parts of one tile that has the rows of all of them (TileTable::parts). `may`: of each tile, whether it may
/// be a part. Those are left alone of which only some rows are computed, or some twice.
void join_tiles(TileTable &table, const std::vector<bool> &may, std::uint32_t lanes);

} // namespace gradweave::compiler
