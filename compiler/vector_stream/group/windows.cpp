#include "compiler/vector_stream/group/windows.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

struct Placed {
  const StridedTile *tile;
  std::size_t cols;
  bool written;

  std::size_t end() const { return tile->first + cols; }
};

void add_tiles(const Stage &stage, std::vector<Placed> &all) {
  for (const StridedTile &t : stage.operands)
    all.push_back({&t, stage.steps, false});
  for (const StridedTile &t : stage.results)
    all.push_back({&t, stage.steps, true});
}

bool is_window(const Placed &p) {
  return p.tile->lane > 1 && (p.tile->step == 1 || p.cols == 1) && p.tile->period == 0;
}

bool is_one(const StridedTile &t) { return t.lane == 0 && t.step == 0; }

/// Whether all that either covers is a part of rows no longer than the pitch.
bool are_of_rows(const Placed &a, const Placed &b) {
  return a.tile->lane == b.tile->lane &&
         std::max(a.end(), b.end()) - std::min(a.tile->first, b.tile->first) <= a.tile->lane;
}

/// Whether a tile may be written behind those before.
bool may_be_written(const Placed &before, const Placed &written) {
  return before.written && (before.end() <= written.tile->first || written.end() <= before.tile->first);
}

/// Of an operand whose value `before` writes: one of them writes just this window.
bool is_read_as_written(const std::vector<Placed> &before, const Placed &read) {
  bool written = false;
  for (const Placed &b : before) {
    if (!b.written || b.tile->value != read.tile->value) continue;
    if (*b.tile == *read.tile && b.cols == read.cols) return true;
    written = true;
  }
  return !written;
}

/// Whether columns of rows that are read lie in none of their windows.
bool has_gaps(const std::vector<Stage> &stages, const WindowRows &rows) {
  std::vector<bool> read(rows.cols);
  for (const Stage &stage : stages)
    for (const StridedTile &t : stage.operands)
      if (rows.has(t))
        for (std::size_t col = 0; col < stage.steps; ++col)
          read[t.first - rows.tile.first + col] = true;
  return !std::all_of(read.begin(), read.end(), [](bool one) { return one; });
}

} // namespace

std::vector<WindowRows> rows_of_windows(const std::vector<Stage> &stages) {
  std::vector<Placed> all;
  for (const Stage &stage : stages)
    add_tiles(stage, all);
  std::vector<WindowRows> rows;
  for (const Placed &p : all) {
    if (!is_window(p)) continue;
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const WindowRows &r) { return r.tile.value == p.tile->value; });
    WindowRows &r = found != rows.end() ? *found : rows.emplace_back(WindowRows{*p.tile, p.cols, 0, p.cols, false});
    r.tile.step = 1; // of a window of one column it is none
    const std::size_t end = std::max(r.tile.first + r.cols, p.end());
    r.tile.first = std::min(r.tile.first, p.tile->first);
    r.cols = end - r.tile.first;
    r.least = std::min(r.least, p.cols);
    r.written = r.written || p.written;
    if (p.written) r.taken += p.cols;
  }
  return rows;
}

bool shares_windows(const std::vector<Stage> &stages, const Stage &stage, const NpuConfig &npu) {
  constexpr std::size_t kFewBeats = 4;
  if (!stage.elementwise || (!stages.empty() && stage.lanes != stages.front().lanes)) return false;
  std::vector<Placed> before, own;
  for (const Stage &s : stages)
    add_tiles(s, before);
  add_tiles(stage, own);
  const std::size_t others = before.size();
  bool shares = stages.empty();
  for (const Placed &p : own) {
    if (is_one(*p.tile) && !p.written) continue;
    if (!is_window(p) || p.cols * (p.tile->fp32 ? 4 : 2) >= kFewBeats * npu.bus_bytes) return false;
    if (!p.written && !is_read_as_written(before, p)) return false;
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i].tile->value != p.tile->value) continue;
      if (!are_of_rows(before[i], p) || (p.written && !may_be_written(before[i], p))) return false;
      shares = shares || i < others;
    }
    before.push_back(p);
  }
  return shares;
}

bool make_whole_rows(const std::vector<Stage> &stages, const std::vector<bool> &in_memory) {
  const std::vector<WindowRows> rows = rows_of_windows(stages);
  const auto is_whole = [&](const WindowRows &r) {
    if (r.written) return r.taken == r.cols;
    return in_memory[r.tile.value] || !has_gaps(stages, r);
  };
  return std::all_of(rows.begin(), rows.end(), is_whole) &&
         std::any_of(rows.begin(), rows.end(), [](const WindowRows &r) { return r.least < r.cols; });
}

} // namespace gradweave::compiler
