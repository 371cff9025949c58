#include "compiler/items/item_cut.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "compiler/vector_stream/stage/places.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// The tiles that a stage reads, or writes.
std::vector<std::size_t> tiles_of(const ItemStage &stage, bool written) {
  if (const auto *product = std::get_if<ItemProduct>(&stage))
    return written ? std::vector<std::size_t>{product->c} : std::vector<std::size_t>{product->a, product->b};
  std::vector<std::size_t> tiles;
  const auto &run = std::get<ItemRun>(stage);
  for (const ItemView &view : written ? run.results : run.operands)
    tiles.push_back(view.tile);
  return tiles;
}

/// The column of its panel in which an item's columns of a tile begin.
std::uint32_t begin_in_panel(const ItemJobs &jobs, std::size_t tile, std::size_t item, const ItemCut &cut,
                             const NpuConfig &npu) {
  return cut.wide[tile] ? static_cast<std::uint32_t>(item) * jobs.tiles[tile].cols % npu.lanes() : 0;
}

/// `all` columns, cut where a panel ends of a tile in which they begin inside of one.
std::vector<ProductPart> parts_of(std::uint32_t all, const std::vector<std::uint32_t> &begins, const NpuConfig &npu) {
  if (std::all_of(begins.begin(), begins.end(), [](std::uint32_t begin) { return begin == 0; })) return {{0, all}};
  std::vector<ProductPart> parts;
  for (std::uint32_t first = 0; first < all;) {
    std::uint32_t count = all - first;
    for (const std::uint32_t begin : begins)
      count = std::min(count, npu.lanes() - (begin + first) % npu.lanes());
    parts.push_back({first, count});
    first += count;
  }
  return parts;
}

/// Whether a tile is of sums that are not cut.
bool is_unused(const ItemJobs &jobs, std::size_t tile, const ItemCut &cut) {
  return std::any_of(jobs.stages.begin(), jobs.stages.end(), [&](const ItemStage &stage) {
    const auto *p = std::get_if<ItemProduct>(&stage);
    return p != nullptr && p->sums == tile && p->c != tile && !(p->a_col && cut.wide[p->a]) &&
           !(p->b_col && cut.wide[p->b]);
  });
}

bool same_shared(const ItemTile &tile, std::size_t a, std::size_t b) {
  return tile.each || tile.firsts[a] == tile.firsts[b];
}

} // namespace

ItemTurns turns_of(const ItemJobs &jobs, const ItemCut &cut) {
  ItemTurns turns;
  turns.loads.assign(jobs.tiles.size(), 0);
  std::vector<bool> seen(jobs.tiles.size());
  const std::uint32_t lead = cut.ahead ? 1 : 0;
  std::uint32_t phase = 0;
  for (std::size_t s = 0; s < jobs.stages.size(); ++s) {
    if (cut.overlap && s > 0 && jobs.stages[s].index() != jobs.stages[s - 1].index()) ++phase;
    turns.stages.push_back(lead + phase);
    for (const std::size_t tile : tiles_of(jobs.stages[s], false)) {
      if (jobs.tiles[tile].loaded && !seen[tile]) turns.loads[tile] = phase;
      seen[tile] = true;
    }
  }
  turns.last = lead + phase;
  return turns;
}

std::vector<std::uint8_t> least_buffers(const ItemJobs &jobs, const ItemCut &cut) {
  const ItemTurns turns = turns_of(jobs, cut);
  std::vector<std::uint32_t> written = turns.loads, read(jobs.tiles.size());
  for (std::size_t s = 0; s < jobs.stages.size(); ++s) {
    for (const std::size_t tile : tiles_of(jobs.stages[s], true))
      written[tile] = read[tile] = turns.stages[s];
    for (const std::size_t tile : tiles_of(jobs.stages[s], false))
      read[tile] = std::max(read[tile], turns.stages[s]);
  }
  for (std::size_t tile = jobs.tiles.size(); tile-- > 0;) {
    const std::size_t place = place_of_tile(jobs.tiles, tile);
    read[place] = std::max(read[place], read[tile]);
  }
  std::vector<std::uint8_t> buffers;
  for (std::size_t tile = 0; tile < jobs.tiles.size(); ++tile)
    buffers.push_back(static_cast<std::uint8_t>(std::max<std::uint32_t>(1, read[tile] - written[tile])));
  return buffers;
}

std::uint32_t panel_rows(const ItemJobs &jobs, std::size_t tile, const ItemCut &cut) {
  const ItemTile &t = jobs.tiles[tile];
  const bool below = t.each && !cut.wide[tile];
  return (t.line ? 1 : t.rows * (below ? cut.chunk : 1)) * (t.fp32 ? 2 : 1);
}

std::uint32_t rows_of(const ItemJobs &jobs, std::size_t tile, const ItemCut &cut, const NpuConfig &npu) {
  const ItemTile &t = jobs.tiles[tile];
  const std::uint32_t cols = t.line ? t.rows * cut.chunk : t.cols * (cut.wide[tile] ? cut.chunk : 1);
  return static_cast<std::uint32_t>(round_up(panel_rows(jobs, tile, cut) * divide_up(cols, npu.lanes()), 2));
}

bool may_be_wide(const ItemJobs &jobs, std::size_t tile) {
  const ItemTile &t = jobs.tiles[tile];
  if (!t.each || t.line || !(t.loaded || t.stored)) return false;
  return std::all_of(jobs.stages.begin(), jobs.stages.end(), [&](const ItemStage &stage) {
    if (const auto *product = std::get_if<ItemProduct>(&stage)) return product->a != tile || product->a_col;
    for (const bool written : {false, true}) {
      const std::vector<std::size_t> tiles = tiles_of(stage, written);
      if (std::find(tiles.begin(), tiles.end(), tile) != tiles.end()) return false;
    }
    return true;
  });
}

std::vector<ProductPart> column_parts(const ItemJobs &jobs, const ItemProduct &product, std::size_t item,
                                      const ItemCut &cut, const NpuConfig &npu) {
  std::vector<std::uint32_t> begins{begin_in_panel(jobs, product.c, item, cut, npu)};
  if (!product.b_col) begins.push_back(begin_in_panel(jobs, product.b, item, cut, npu));
  return parts_of(product.n, begins, npu);
}

std::vector<ProductPart> sum_parts(const ItemJobs &jobs, const ItemProduct &product, std::size_t item,
                                   const ItemCut &cut, const NpuConfig &npu) {
  std::vector<std::uint32_t> begins;
  if (product.a_col) begins.push_back(begin_in_panel(jobs, product.a, item, cut, npu));
  if (product.b_col) begins.push_back(begin_in_panel(jobs, product.b, item, cut, npu));
  return parts_of(product.k, begins, npu);
}

std::optional<std::vector<std::vector<std::uint32_t>>> place_items(const ItemJobs &jobs, const ItemCut &cut,
                                                                   const NpuConfig &npu) {
  std::vector<std::vector<std::uint32_t>> rows;
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < jobs.tiles.size(); ++i) {
    const ItemTile &tile = jobs.tiles[i];
    if (std::uint64_t{tile.rows} * cut.chunk > kMostInField ||
        std::uint64_t{tile.cols} * (cut.wide[i] ? cut.chunk : 1) > kMostInField)
      return std::nullopt;
    rows.emplace_back();
    if (tile.over != kOwnPlace || is_unused(jobs, i, cut)) continue;
    for (std::uint8_t b = 0; b < cut.buffers[i]; ++b) {
      rows.back().push_back(static_cast<std::uint32_t>(next));
      next += std::uint64_t{rows_of(jobs, i, cut, npu)} * copies_of(jobs, i, cut);
      if (next > npu.spm_rows()) return std::nullopt;
    }
  }
  return rows;
}

std::vector<ItemChunk> chunks_of(const ItemJobs &jobs, const ItemCut &cut) {
  std::vector<ItemChunk> chunks;
  const auto together = [&](std::size_t a, std::size_t b) {
    return cut.across ||
           std::all_of(jobs.tiles.begin(), jobs.tiles.end(), [&](const ItemTile &t) { return same_shared(t, a, b); });
  };
  for (std::size_t begin = 0; begin < jobs.items;) {
    std::size_t end = begin + 1;
    while (end < jobs.items && together(begin, end))
      ++end;
    const std::size_t parts = divide_up(end - begin, cut.chunk);
    for (std::size_t part = 0; part < parts; ++part) {
      const std::size_t first = begin + (end - begin) * part / parts;
      chunks.push_back({first, begin + (end - begin) * (part + 1) / parts - first});
    }
    begin = end;
  }
  return chunks;
}

std::uint32_t copy_of(const ItemTile &tile, const ItemChunk &chunk, std::size_t item) {
  std::uint32_t copy = 0;
  for (std::size_t i = chunk.first + 1; i <= chunk.first + item; ++i)
    copy += same_shared(tile, i - 1, i) ? 0 : 1;
  return copy;
}

std::uint32_t copies_of(const ItemJobs &jobs, std::size_t tile, const ItemCut &cut) {
  std::uint32_t most = 1;
  if (jobs.tiles[tile].each || !cut.across) return most;
  for (const ItemChunk &chunk : chunks_of(jobs, cut))
    most = std::max(most, copy_of(jobs.tiles[tile], chunk, chunk.count - 1) + 1);
  return most;
}

} // namespace gradweave::compiler
