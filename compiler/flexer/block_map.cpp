#include "compiler/flexer/block_map.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace gradweave::compiler::flexer {

void BlockMap::clear() {
  const std::uint32_t end = blocks_.back().rows.end();
  blocks_.assign(1, {{0, end}, kFree});
}

void BlockMap::put(std::int32_t tile, RowRange rows) {
  const auto first =
      std::find_if(blocks_.begin(), blocks_.end(), [&](const Block &b) { return b.rows.end() > rows.first; });
  const auto end = std::find_if(first, blocks_.end(), [&](const Block &b) { return b.rows.first >= rows.end(); });
  std::array<Block, 3> now; // what is left before the tile, the tile, and what is left behind it
  std::size_t count = 0;
  if (first->rows.first < rows.first) now[count++] = {{first->rows.first, rows.first - first->rows.first}, kFree};
  now[count++] = {rows, tile};
  const std::uint32_t behind = std::prev(end)->rows.end();
  if (behind > rows.end()) now[count++] = {{rows.end(), behind - rows.end()}, kFree};
  const auto at = blocks_.erase(first, end);
  blocks_.insert(at, now.begin(), now.begin() + static_cast<std::ptrdiff_t>(count));
}

std::uint32_t BlockMap::live_rows(const TileUses &uses) const {
  std::uint32_t rows = 0;
  for (const Block &b : blocks_)
    if (b.tile != kFree && uses.of(b.tile) > 0) rows += b.rows.rows;
  return rows;
}

/// A dead block of exactly this size.
std::optional<std::uint32_t> BlockMap::dead_twin(std::uint32_t rows, const TileUses &uses) const {
  for (const Block &b : blocks_)
    if (b.tile != kFree && b.rows.rows == rows && is_open(b, uses)) return b.rows.first;
  return std::nullopt;
}

/// The start of the smallest stretch of open rows that is large enough.
std::optional<std::uint32_t> BlockMap::best_fit(std::uint32_t rows, const TileUses &uses) const {
  std::optional<std::uint32_t> best;
  std::uint32_t smallest = std::numeric_limits<std::uint32_t>::max(), open = 0;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (!is_open(blocks_[i], uses)) {
      open = 0;
      continue;
    }
    open += blocks_[i].rows.rows;
    const bool ends = i + 1 == blocks_.size() || !is_open(blocks_[i + 1], uses);
    if (!ends || open < rows || open >= smallest) continue;
    smallest = open;
    best = blocks_[i].rows.end() - open;
  }
  return best;
}

/// Algorithm 2: from each block on the shortest run that is large enough.
std::optional<BlockMap::Run> BlockMap::least_harm(std::uint32_t rows, const Policy &policy,
                                                  const TileUses &uses) const {
  std::optional<Run> best;
  std::uint32_t least_gap = 0;
  std::uint64_t least_uses = 0;
  for (std::size_t start = 0; start < blocks_.size(); ++start) {
    std::uint32_t size = 0;
    std::uint64_t lost = 0; // rows x uses
    for (std::size_t i = start; i < blocks_.size(); ++i) {
      const Block &b = blocks_[i];
      if (b.tile == kFree ? !policy.gaps_count : uses.is_pinned(b.tile)) break;
      size += b.rows.rows;
      if (b.tile != kFree) lost += std::uint64_t{b.rows.rows} * uses.of(b.tile);
      if (size < rows) continue;
      const std::uint32_t gap = size - rows;
      const std::size_t count = i - start + 1;
      const bool better = !best || gap < least_gap ||
                          (gap == least_gap && (lost < least_uses || (lost == least_uses && count < best->count)));
      if (better) {
        best = Run{start, count};
        least_gap = gap;
        least_uses = lost;
      }
      break;
    }
  }
  return best;
}

std::optional<BlockMap::Run> BlockMap::first_large(std::uint32_t rows, const TileUses &uses) const {
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    if (blocks_[i].rows.rows >= rows && (blocks_[i].tile == kFree || !uses.is_pinned(blocks_[i].tile)))
      return Run{i, 1};
  return std::nullopt;
}

/// Frees the smallest blocks until there is a stretch that is large enough.
std::optional<std::uint32_t> BlockMap::after_smallest(std::uint32_t rows, const TileUses &uses,
                                                      std::vector<std::int32_t> &lost) {
  std::vector<Block> before = blocks_;
  const std::size_t known = lost.size();
  for (;;) {
    Block *smallest = nullptr;
    for (Block &b : blocks_)
      if (!is_open(b, uses) && !uses.is_pinned(b.tile) && (smallest == nullptr || b.rows.rows < smallest->rows.rows))
        smallest = &b;
    if (smallest == nullptr) break;
    lost.push_back(smallest->tile);
    smallest->tile = kFree;
    if (const auto row = best_fit(rows, uses)) return row;
  }
  blocks_ = std::move(before);
  lost.resize(known);
  return std::nullopt;
}

std::optional<std::uint32_t> BlockMap::place(std::int32_t tile, std::uint32_t rows, const Policy &policy,
                                             const TileUses &uses, std::vector<std::int32_t> &lost) {
  std::optional<std::uint32_t> row = dead_twin(rows, uses);
  if (!row) row = best_fit(rows, uses);
  if (!row && policy.victims == Victims::kSmallest) row = after_smallest(rows, uses, lost);
  if (!row && policy.victims != Victims::kSmallest) {
    std::optional<Run> run;
    if (policy.victims == Victims::kFirstFit) run = first_large(rows, uses);
    if (!run) run = least_harm(rows, policy, uses); // no single block is large enough
    if (!run) return std::nullopt;
    for (std::size_t i = run->first; i < run->first + run->count; ++i)
      if (!is_open(blocks_[i], uses)) lost.push_back(blocks_[i].tile);
    row = blocks_[run->first].rows.first;
  }
  if (row) put(tile, {*row, rows});
  return row;
}

} // namespace gradweave::compiler::flexer
