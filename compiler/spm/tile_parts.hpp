// Tiles that are computed or read in parts.
#pragma once

#include "compiler/spm/tile.hpp"

#include <bitset>
#include <vector>

namespace gradweave::compiler {

/// Of Needs::tile, a bit each.
using Slots = std::bitset<4>;

/// Makes tiles of elements that have the same columns of a tensor, and some rows in common, directly or by way of
/// others, parts of one tile that has the rows of all of them. `in_parts`: of each product, the slots that may take a
/// part; what is computed may be one, too. Those are left alone of which only some rows are computed, or some twice. Of
/// tiles that take more than half of the scratchpad, and that the run which computes them reads, later runs have tiles
/// of their own. `runs`: first products of the runs, ascending; the first is product 0. `spm_rows`: of the scratchpad.
/// Returns, of the tiles of each product, what it takes of them; nothing if no tile has parts.
std::vector<std::array<TilePart, 4>> join_tiles(std::vector<Tile> &tiles, std::vector<Needs> &needs,
                                                const std::vector<Slots> &in_parts,
                                                const std::vector<std::uint32_t> &runs, std::uint32_t lanes,
                                                std::uint32_t spm_rows);

/// Drops tiles that no product needs any more, and gives the others new numbers. `dropped`: of each tile.
void drop_tiles(std::vector<Tile> &tiles, std::vector<Needs> &needs, const std::vector<bool> &dropped);

} // namespace gradweave::compiler
