// How a group's items go through the scratchpad: how many at once, and what overlaps with what.
#pragma once

#include "compiler/items/item_jobs.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace gradweave::compiler {

/// Items go in chunks. Of each chunk the stages that follow one another on the same engine are a *phase*.
struct ItemCut {
  std::uint32_t chunk = 1; ///< items at once, at most
  bool ahead = false;      ///< a phase's LOADs come a turn before it: beside the phase of the chunk before
  bool overlap = false;    ///< phases of several chunks are under way at once; else those of a chunk follow one another
  std::vector<std::uint8_t> buffers; ///< of each tile: chunks whose tiles are there at once
  /// Of each tile: rows of the items of a chunk lie side by side, as they do in memory, and are moved together.
  std::vector<bool> wide;
};

/// In which turn of its chunk something is done.
struct ItemTurns {
  std::vector<std::uint32_t> stages, loads; ///< of each stage; of each tile that is loaded, else 0
  std::uint32_t last = 0;
};
ItemTurns turns_of(const ItemJobs &jobs, const ItemCut &cut);

/// The fewest buffers of each tile that turns allow: what a chunk writes has been read of the chunk before.
std::vector<std::uint8_t> least_buffers(const ItemJobs &jobs, const ItemCut &cut);

/// Scratchpad rows of a chunk's tile in a panel, and in all. Rows of the items lie below each other, or side by side.
std::uint32_t panel_rows(const ItemJobs &jobs, std::size_t tile, const ItemCut &cut);
std::uint32_t rows_of(const ItemJobs &jobs, std::size_t tile, const ItemCut &cut, const NpuConfig &npu);

/// Whether items may lie side by side in a tile: it comes from or goes to memory, and only products have it, of which
/// its columns are columns of the result. Then these products are cut where a panel ends.
bool may_be_wide(const ItemJobs &jobs, std::size_t tile);

/// Columns of a product that go together.
struct ColumnPart {
  std::uint32_t first = 0, count = 0;
};
std::vector<ColumnPart> column_parts(const ItemJobs &jobs, const ItemProduct &product, std::size_t item,
                                     const ItemCut &cut, const NpuConfig &npu);

/// The first scratchpad row of each buffer of each tile; empty if they do not fit, or lines are longer than commands
/// can say.
std::optional<std::vector<std::vector<std::uint32_t>>> place_items(const ItemJobs &jobs, const ItemCut &cut,
                                                                   const NpuConfig &npu);

/// Items that go together; all have the same elements in tiles that are shared.
struct ItemChunk {
  std::size_t first = 0, count = 1;
};
std::vector<ItemChunk> chunks_of(const ItemJobs &jobs, std::uint32_t most);

} // namespace gradweave::compiler
