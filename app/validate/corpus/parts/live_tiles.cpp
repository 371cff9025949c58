#include "app/validate/corpus/parts/live_tiles.hpp"

#include <algorithm>

namespace gradweave::corpus {

LiveTiles::LiveTiles(const NpuConfig &config, Dice &dice) : dice_(dice), lanes_(config.lanes()) {
  // Large scratchpads would keep tiles so far apart that they never meet; a window brings them together.
  const std::uint32_t window = std::min(config.spm_rows(), 40 * lanes_) / 2 * 2;
  first_row_ = dice_.between(0, config.spm_rows() - window) / 2 * 2;
  end_row_ = first_row_ + window;
}

std::size_t LiveTiles::count(bool fp32) const {
  return static_cast<std::size_t>(
      std::count_if(objects_.begin(), objects_.end(), [&](const Object &o) { return o.fp32 == fp32; }));
}

bool LiveTiles::is_live(const Object &o) const {
  return std::any_of(objects_.begin(), objects_.end(), [&](const Object &a) { return same(a, o); });
}

const Object &LiveTiles::pick(bool fp32) {
  const auto any = [&]() -> const Object & {
    for (;;)
      if (const Object &o = pick_any(); o.fp32 == fp32) return o;
  };
  const Object &a = any();
  const Object &b = any();
  return dice_.chance(0.8) == (a.size() > b.size()) ? a : b;
}

std::optional<Object> LiveTiles::place_once(std::uint32_t rows, std::uint32_t cols, bool fp32,
                                            const std::vector<Object> &avoid) {
  const std::uint32_t height = rows * height_of(fp32);
  const std::uint32_t panels = (cols + lanes_ - 1) / lanes_;
  Object o;
  o.rows = rows;
  o.cols = cols;
  o.fp32 = fp32;
  o.tile.rot = static_cast<isa::Lane>(dice_.below(lanes_));
  o.tile.pstride = height + (dice_.chance(0.5) ? 0 : dice_.between(0, 4) * 2);
  const std::uint64_t extent = std::uint64_t{panels - 1} * o.tile.pstride + height;
  if (extent > window_rows()) return std::nullopt;
  if (panels == 1 && dice_.chance(0.5)) o.tile.pstride = dice_.between(0, 100) * 2; // of no effect
  const auto last_start = static_cast<std::uint32_t>(end_row_ - extent);
  for (int attempt = 0; attempt < 20; ++attempt) {
    o.tile.row = dice_.between(first_row_, last_start);
    if (fp32) o.tile.row = o.tile.row / 2 * 2;
    o.end = static_cast<std::uint32_t>(o.tile.row + extent);
    if (std::none_of(avoid.begin(), avoid.end(), [&](const Object &a) { return a.overlaps(o); })) return o;
  }
  return std::nullopt;
}

std::optional<Object> LiveTiles::place(std::uint32_t rows, std::uint32_t cols, bool fp32,
                                       const std::vector<Object> &avoid) {
  if (dice_.chance(0.6))
    if (std::optional<Object> o = place_once(rows, cols, fp32, objects_)) return o;
  return place_once(rows, cols, fp32, avoid);
}

void LiveTiles::remove_overlapping(const Object &o) {
  objects_.erase(std::remove_if(objects_.begin(), objects_.end(), [&](const Object &a) { return a.overlaps(o); }),
                 objects_.end());
}

Object LiveTiles::remove_smallest() {
  const auto smallest = std::min_element(objects_.begin(), objects_.end(),
                                         [](const Object &a, const Object &b) { return a.size() < b.size(); });
  const Object removed = *smallest;
  objects_.erase(smallest);
  return removed;
}

Part LiveTiles::part_of(const Object &o) {
  const std::uint32_t rows = up_to(o.rows, dice_);
  const std::uint32_t cols = up_to(o.cols, dice_);
  return part_of(o, rows, cols);
}

Part LiveTiles::part_of(const Object &o, std::uint32_t rows, std::uint32_t cols) {
  const std::uint32_t i0 = dice_.between(0, o.rows - rows);
  std::uint32_t j0 = dice_.between(0, o.cols - cols);
  if (j0 % lanes_ + cols > lanes_) j0 = j0 / lanes_ * lanes_;
  Part p{o.tile, rows, cols};
  p.tile.row += j0 / lanes_ * o.tile.pstride + i0 * height_of(o.fp32);
  p.tile.rot = static_cast<isa::Lane>((o.tile.rot + i0 + j0) % lanes_);
  return p;
}

std::uint32_t up_to(std::uint32_t limit, Dice &dice) { return dice.chance(0.6) ? limit : dice.between(1, limit); }

} // namespace gradweave::corpus
