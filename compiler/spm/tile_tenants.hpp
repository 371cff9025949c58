// Tiles of parts that lie in one place by turns: an image begins where the one before it is needed no more.
#pragma once

#include "compiler/spm/tile.hpp"

#include <vector>

namespace gradweave::compiler {

/// Of tiles that are computed in parts and of which the scratchpad has no room for two, makes those one
/// (Tile::tenants) that have other rows of the same columns of a tensor and overlap in time, if each part is computed
/// when nothing needs the rows any more in which it then lies.
/// `parts`: of each product, as join_tiles() gives them. `spm_rows`: of the scratchpad.
void share_places(std::vector<Tile> &tiles, std::vector<Needs> &needs, std::vector<std::array<TilePart, 4>> &parts,
                  std::uint32_t spm_rows);

} // namespace gradweave::compiler
