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
  bool across = false;     ///< a chunk goes on where a shared tile changes; else all its items have the same elements
  std::vector<std::uint8_t> buffers; ///< of each tile: chunks whose tiles are there at once
  /// Of each tile: rows of the items of a chunk lie side by side; those that do so in memory are moved together.
  std::vector<bool> wide;
};

/// Items that go together.
struct ItemChunk {
  std::size_t first = 0, count = 1;
};
/// Chunks of at most cut.chunk items, as even as can be.
std::vector<ItemChunk> chunks_of(const ItemJobs &jobs, const ItemCut &cut);

/// A shared tile has a copy for each of a chunk's items that has other elements than the one before: which one the
/// item `item` of a chunk has, and how many a buffer has room for. Of a tile that is not shared 0, and 1.
std::uint32_t copy_of(const ItemTile &tile, const ItemChunk &chunk, std::size_t item);
std::uint32_t copies_of(const ItemJobs &jobs, std::size_t tile, const ItemCut &cut);

/// In which turn of its chunk something is done.
struct ItemTurns {
  std::vector<std::uint32_t> stages, loads; ///< of each stage; of each tile that is loaded, else 0
  std::uint32_t last = 0;
};
ItemTurns turns_of(const ItemJobs &jobs, const ItemCut &cut);

/// The fewest buffers of each tile that turns allow: what a chunk writes has been read of the chunk before.
std::vector<std::uint8_t> least_buffers(const ItemJobs &jobs, const ItemCut &cut);

/// Scratchpad rows of a chunk's tile in a panel, and in all, of one copy. Rows of the items lie below each other, or
/// side by side.
std::uint32_t panel_rows(const ItemJobs &jobs, std::size_t tile, const ItemCut &cut);
std::uint32_t rows_of(const ItemJobs &jobs, std::size_t tile, const ItemCut &cut, const NpuConfig &npu);

/// Whether items may lie side by side in a tile: it comes from or goes to memory, and only products have it. Its
/// columns are columns of their results, or they sum over them and give fp32. Then these products are cut where a panel
/// ends.
bool may_be_wide(const ItemJobs &jobs, std::size_t tile);

/// Columns of a product, or terms of its sums, that go together.
struct ProductPart {
  std::uint32_t first = 0, count = 0;
};
std::vector<ProductPart> column_parts(const ItemJobs &jobs, const ItemProduct &product, std::size_t item,
                                      const ItemCut &cut, const NpuConfig &npu);
/// In their order: each goes on with the sums of the one before (N9).
std::vector<ProductPart> sum_parts(const ItemJobs &jobs, const ItemProduct &product, std::size_t item,
                                   const ItemCut &cut, const NpuConfig &npu);

/// The first scratchpad row of each buffer of each tile that has a place of its own, but for sums that no cut asks for;
/// empty if they do not fit, or lines are longer than commands can say.
std::optional<std::vector<std::vector<std::uint32_t>>> place_items(const ItemJobs &jobs, const ItemCut &cut,
                                                                   const NpuConfig &npu);

} // namespace gradweave::compiler
