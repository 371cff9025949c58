#include "compiler/spm/tile_parts.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "compiler/lower/tiling.hpp"

#include <algorithm>
#include <tuple>

namespace gradweave::compiler {
namespace {

std::uint32_t even(std::uint32_t rows) { return static_cast<std::uint32_t>(round_up(rows, 2)); }
std::uint32_t end_of(const Rect &rect) { return rect.row + rect.rows; }

using Parts = std::vector<std::array<TilePart, 4>>;

class Joiner {
public:
  Joiner(std::vector<Tile> &tiles, std::vector<Needs> &needs, const std::vector<Slots> &in_parts, std::uint32_t lanes,
         std::uint32_t rows)
      : tiles_(tiles), needs_(needs), in_parts_(in_parts), lanes_(lanes), spm_rows_(rows), own_(tiles),
        later_(tiles.size(), false) {}

  /// Before join(): later runs have tiles of their own.
  void part_runs(const std::vector<std::uint32_t> &runs);
  Parts join();

private:
  using Ids = std::vector<std::int32_t>;

  /// Whether the scratchpad has no room for two tiles of so much.
  bool takes_most(std::uint32_t rows, std::uint32_t cols) const {
    return 2 * spm_rows(rows, cols, false, lanes_) > spm_rows_;
  }
  const Tile &own(std::int32_t id) const { return own_[static_cast<std::size_t>(id)]; }
  Ids candidates() const;
  template <typename Take> void for_groups(const Ids &ids, const Take &take) const;
  void find_complete();
  void join(Ids::const_iterator first, Ids::const_iterator end);
  void take_guard(Tile &whole, const Tile &part) const;
  Parts give_parts();
  void drop_joined();

  std::vector<Tile> &tiles_;
  std::vector<Needs> &needs_;
  const std::vector<Slots> &in_parts_;
  std::uint32_t lanes_, spm_rows_;
  std::vector<Tile> own_;               ///< as they were
  std::vector<bool> later_;             ///< and whether it is of runs behind the one that computes it
  std::vector<std::uint32_t> complete_; ///< by binding: the product before which all that is computed of it is there
  Ids whole_;                           ///< of each tile: the one that it is a part of now
  bool any_ = false;
};

/// Those that may, by columns and then by rows.
Joiner::Ids Joiner::candidates() const {
  std::vector<bool> may(own_.size(), false);
  for (std::size_t p = 0; p < needs_.size(); ++p)
    for (std::size_t slot = 0; slot < needs_[p].tile.size(); ++slot)
      if (in_parts_[p][slot]) may[static_cast<std::size_t>(needs_[p].tile[slot])] = true;
  Ids ids;
  for (std::size_t i = 0; i < own_.size(); ++i)
    if (const Tile &t = own_[i]; (may[i] || t.computed) && t.role == TileRole::kElements && t.rect.pixels.width == 0 &&
                                 t.rect.taps.rows == 0) // whatever is computed fills what is read
      ids.push_back(static_cast<std::int32_t>(i));
  const auto key = [this](std::int32_t id) {
    const Tile &t = own(id);
    return std::tuple(t.binding, t.rect.col, t.rect.cols, bool{later_[static_cast<std::size_t>(id)]}, t.rect.row,
                      end_of(t.rect));
  };
  std::sort(ids.begin(), ids.end(), [&](std::int32_t x, std::int32_t y) { return key(x) < key(y); });
  return ids;
}

/// Calls take(first, end, rows) for those of the candidates that follow one another and have rows in common.
template <typename Take> void Joiner::for_groups(const Ids &ids, const Take &take) const {
  const auto later = [this](std::int32_t id) { return bool{later_[static_cast<std::size_t>(id)]}; };
  for (auto first = ids.cbegin(); first != ids.cend();) {
    const Tile &begin = own(*first);
    std::uint32_t end = end_of(begin.rect);
    auto next = first + 1;
    for (; next != ids.cend(); ++next) {
      const Tile &t = own(*next);
      if (t.binding != begin.binding || t.rect.col != begin.rect.col || t.rect.cols != begin.rect.cols ||
          later(*next) != later(*first) || t.rect.row >= end)
        break;
      end = std::max(end, end_of(t.rect));
    }
    if (next - first > 1) take(first, next, end - begin.rect.row);
    first = next;
  }
}

void Joiner::part_runs(const std::vector<std::uint32_t> &runs) {
  if (runs.size() < 2) return;
  struct Group {
    std::uint32_t first = kNever, end = 0; ///< products of the runs that compute it
    bool read = false;                     ///< by these
  };
  std::vector<Group> groups;
  std::vector<std::int32_t> group(own_.size(), -1);
  for_groups(candidates(), [&](Ids::const_iterator first, Ids::const_iterator end, std::uint32_t rows) {
    if (!takes_most(rows, own(*first).rect.cols)) return;
    for (auto id = first; id != end; ++id)
      group[static_cast<std::size_t>(*id)] = static_cast<std::int32_t>(groups.size());
    groups.emplace_back();
  });
  if (groups.empty()) return;
  const auto for_uses = [&](const auto &take) {
    for (std::uint32_t p = 0; p < needs_.size(); ++p)
      for (std::size_t slot = 0; slot < needs_[p].tile.size(); ++slot)
        if (const std::int32_t id = needs_[p].tile[slot]; id >= 0 && group[static_cast<std::size_t>(id)] >= 0)
          take(p, slot, groups[static_cast<std::size_t>(group[static_cast<std::size_t>(id)])]);
  };
  for_uses([&](std::uint32_t p, std::size_t slot, Group &of) {
    if (slot != Needs::kCout) return;
    const auto next = std::upper_bound(runs.begin(), runs.end(), p);
    of.first = std::min(of.first, *(next - 1));
    of.end = std::max(of.end, next == runs.end() ? kNever : *next);
  });
  for_uses([&](std::uint32_t p, std::size_t slot, Group &of) {
    if (slot != Needs::kCout && p >= of.first && p < of.end) of.read = true;
  });
  std::vector<std::int32_t> own_of_later(own_.size(), -1);
  for_uses([&](std::uint32_t p, std::size_t slot, const Group &of) {
    if (!of.read || p < of.end) return;
    std::int32_t &id = needs_[p].tile[slot], &other = own_of_later[static_cast<std::size_t>(id)];
    if (other < 0) {
      other = static_cast<std::int32_t>(own_.size());
      Tile t = own(id);
      t.computed = false;
      t.first_use = p;
      own_.push_back(t);
      tiles_.push_back(t);
      later_.push_back(true);
      group.push_back(-1);
    }
    id = other;
  });
}

void Joiner::find_complete() {
  for (std::uint32_t p = 0; p < needs_.size(); ++p) {
    const std::int32_t result = needs_[p].tile[Needs::kCout];
    if (result < 0) continue;
    const auto binding = static_cast<std::size_t>(own(result).binding);
    if (binding >= complete_.size()) complete_.resize(binding + 1, 0);
    complete_[binding] = p + 1;
  }
}

Parts Joiner::join() {
  find_complete();
  for (std::size_t i = 0; i < own_.size(); ++i)
    whole_.push_back(static_cast<std::int32_t>(i));
  for_groups(candidates(),
             [this](Ids::const_iterator first, Ids::const_iterator end, std::uint32_t) { join(first, end); });
  if (!any_) return {};
  Parts parts = give_parts();
  drop_joined();
  return parts;
}

void Joiner::join(Ids::const_iterator first, Ids::const_iterator end) {
  Rect all = own(*first).rect;
  std::uint32_t computed = 0, written_to = all.row, parts = 0, first_use = kNever;
  for (auto id = first; id != end; ++id) {
    const Rect &rect = own(*id).rect;
    all.rows = std::max(end_of(all), end_of(rect)) - all.row;
    first_use = std::min(first_use, own(*id).first_use);
    if (!own(*id).computed) continue;
    if (rect.row != written_to) return; // some rows are computed twice, or not
    written_to = end_of(rect);
    computed += rect.rows;
    ++parts;
  }
  if (computed != 0 && computed != all.rows) return;
  const auto binding = static_cast<std::size_t>(own(*first).binding);
  if (computed == 0 && binding < complete_.size() && first_use < complete_[binding]) return;
  if (computed == 0 && takes_most(all.rows, all.cols)) return;
  any_ = true;
  Tile &whole = tiles_[static_cast<std::size_t>(*first)];
  whole.rect = all;
  whole.rows = spm_rows(all.rows, all.cols, false, lanes_);
  whole.guard = {};
  whole.computed = computed != 0;
  whole.first_use = first_use;
  whole.parts_left = parts > 1 ? parts : 0;
  for (auto id = first; id != end; ++id) {
    whole_[static_cast<std::size_t>(*id)] = *first;
    take_guard(whole, own(*id));
  }
}

/// Rows around the whole tile that a part's products move to.
void Joiner::take_guard(Tile &whole, const Tile &part) const {
  if (part.guard.panel == 0) return;
  const std::uint32_t skip = part.rect.row - whole.rect.row, old = std::max(whole.guard.panel, whole.rect.rows);
  const std::uint32_t before = part.guard.before - std::min(skip, part.guard.before);
  const std::uint32_t panel = std::max(old, part.guard.panel);
  const std::uint32_t end = std::max(old + whole.guard.behind, skip + part.guard.panel + part.guard.behind);
  whole.guard = {even(std::max(whole.guard.before, before)), panel, even(end - std::min(end, panel))};
  whole.rows = spm_rows(panel, whole.rect.cols, false, lanes_) + whole.guard.before + whole.guard.behind;
}

Parts Joiner::give_parts() {
  Parts parts(needs_.size());
  for (std::size_t p = 0; p < needs_.size(); ++p)
    for (std::size_t slot = 0; slot < needs_[p].tile.size(); ++slot) {
      std::int32_t &id = needs_[p].tile[slot];
      if (id < 0) continue;
      const Rect &rect = own(id).rect;
      id = whole_[static_cast<std::size_t>(id)];
      const Rect &all = tiles_[static_cast<std::size_t>(id)].rect;
      if (!(rect == all)) parts[p][slot] = {rect.row - all.row, rect.rows};
    }
  return parts;
}

void Joiner::drop_joined() {
  std::vector<bool> joined(tiles_.size());
  for (std::size_t i = 0; i < tiles_.size(); ++i)
    joined[i] = whole_[i] != static_cast<std::int32_t>(i);
  drop_tiles(tiles_, needs_, joined);
}

} // namespace

void drop_tiles(std::vector<Tile> &tiles, std::vector<Needs> &needs, const std::vector<bool> &dropped) {
  std::vector<std::int32_t> moved(tiles.size(), -1);
  std::size_t count = 0;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (dropped[i]) continue;
    moved[i] = static_cast<std::int32_t>(count);
    tiles[count++] = tiles[i];
  }
  tiles.resize(count);
  for (Needs &of_product : needs)
    for (std::int32_t &id : of_product.tile)
      if (id >= 0) id = moved[static_cast<std::size_t>(id)];
}

std::vector<std::array<TilePart, 4>> join_tiles(std::vector<Tile> &tiles, std::vector<Needs> &needs,
                                                const std::vector<Slots> &in_parts,
                                                const std::vector<std::uint32_t> &runs, std::uint32_t lanes,
                                                std::uint32_t spm_rows) {
  Joiner joiner(tiles, needs, in_parts, lanes, spm_rows);
  joiner.part_runs(runs);
  return joiner.join();
}

} // namespace gradweave::compiler
