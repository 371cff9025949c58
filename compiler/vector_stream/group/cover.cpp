#include "compiler/vector_stream/group/cover.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>

namespace gradweave::compiler {
namespace {

/// Rows and columns as they lie in memory, a pitch apart.
struct Extent {
  std::int64_t rows = 0, cols = 0;
};

/// Whether it is a matrix of several rows and columns, so that two of them may be some rows and columns apart.
bool is_matrix(const StridedTile &t) {
  return t.period == 0 && std::min(t.lane, t.step) == 1 && std::max(t.lane, t.step) > 1;
}

std::int64_t pitch_of(const StridedTile &t) { return static_cast<std::int64_t>(std::max(t.lane, t.step)); }

Extent extent(const StridedTile &t, std::size_t lanes, std::size_t steps) {
  const auto l = static_cast<std::int64_t>(lanes), s = static_cast<std::int64_t>(steps);
  return t.lane == 1 ? Extent{s, l} : Extent{l, s};
}

bool have_same_strides(const StridedTile &a, const StridedTile &b) {
  return a.value == b.value && a.lane == b.lane && a.step == b.step && a.period == b.period;
}

/// The cover with the operand, which is `apart` from it; nothing if that takes many more elements than both have, or
/// elements that the value does not have.
std::optional<Cover> joined(const Cover &cover, const Stage &stage, const StridedTile &t, const Extent &apart) {
  const Extent own = extent(t, stage.lanes, stage.steps),
               all = extent(t, stage.lanes + cover.more_lanes, stage.steps + cover.more_steps);
  const std::int64_t row = std::min<std::int64_t>(0, apart.rows), col = std::min<std::int64_t>(0, apart.cols);
  const Extent both{std::max(all.rows, apart.rows + own.rows) - row, std::max(all.cols, apart.cols + own.cols) - col};
  if (both.cols > pitch_of(t)) return std::nullopt;
  if (4 * both.rows * both.cols > 5 * (all.rows * all.cols + own.rows * own.cols)) return std::nullopt;
  const std::int64_t first = static_cast<std::int64_t>(cover.tile.first) + row * pitch_of(t) + col;
  const std::int64_t end = first + (both.rows - 1) * pitch_of(t) + both.cols;
  if (first < 0 || end > static_cast<std::int64_t>(t.elements)) return std::nullopt;
  Cover result = cover;
  result.tile.first = static_cast<std::size_t>(first);
  const auto more_rows = static_cast<std::size_t>(both.rows - own.rows),
             more_cols = static_cast<std::size_t>(both.cols - own.cols);
  result.more_lanes = t.lane == 1 ? more_cols : more_rows;
  result.more_steps = t.lane == 1 ? more_rows : more_cols;
  return result;
}

std::optional<Cover> joined(const Cover &cover, const Stage &stage, const StridedTile &t) {
  if (!have_same_strides(cover.tile, t)) return std::nullopt;
  const std::int64_t apart = static_cast<std::int64_t>(t.first) - static_cast<std::int64_t>(cover.tile.first);
  const std::int64_t pitch = pitch_of(t), col = (apart % pitch + pitch) % pitch, row = (apart - col) / pitch;
  if (auto right = joined(cover, stage, t, {row, col})) return right;
  return joined(cover, stage, t, {row + 1, col - pitch});
}

void add(std::vector<Cover> &covers, const Stage &stage, const StridedTile &t) {
  if (std::any_of(covers.begin(), covers.end(), [&](const Cover &cover) { return cover.has(t); })) return;
  for (Cover &cover : covers)
    if (const auto more = joined(cover, stage, t)) {
      cover = *more;
      return;
    }
  covers.push_back({t, 0, 0});
}

} // namespace

bool Cover::has(const StridedTile &t) const {
  if (!have_same_strides(tile, t) || t.first < tile.first) return false;
  const auto pitch = static_cast<std::size_t>(pitch_of(t));
  const std::size_t row = (t.first - tile.first) / pitch, col = (t.first - tile.first) % pitch;
  return tile.lane == 1 ? row <= more_steps && col <= more_lanes : row <= more_lanes && col <= more_steps;
}

std::vector<Cover> covers_of(const std::vector<Stage> &stages) {
  std::set<std::size_t> written;
  for (const Stage &stage : stages)
    for (const StridedTile &result : stage.results)
      written.insert(result.value);
  std::vector<Cover> covers;
  for (const Stage &stage : stages)
    for (const StridedTile &t : stage.operands)
      if (is_matrix(t) && written.count(t.value) == 0) add(covers, stage, t);
  covers.erase(std::remove_if(covers.begin(), covers.end(),
                              [](const Cover &cover) { return cover.more_lanes + cover.more_steps == 0; }),
               covers.end());
  return covers;
}

} // namespace gradweave::compiler
