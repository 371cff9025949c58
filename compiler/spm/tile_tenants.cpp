#include "compiler/spm/tile_tenants.hpp"
#include "compiler/spm/tile_parts.hpp"

#include <algorithm>
#include <tuple>

namespace gradweave::compiler {
namespace {

/// A product that computes or reads rows of a tile.
struct Use {
  std::uint32_t product = 0, slot = 0;
  std::uint32_t first = 0, end = 0; ///< rows of the tile
  bool overlaps(const Use &o) const { return first < o.end && o.first < end; }
};

struct Tenant {
  std::int32_t tile = -1;
  std::vector<Use> uses;     ///< ascending by product
  std::vector<Use> computed; ///< those that compute it
};

class Landlord {
public:
  Landlord(std::vector<Tile> &tiles, std::vector<Needs> &needs, std::vector<std::array<TilePart, 4>> &parts)
      : tiles_(tiles), needs_(needs), parts_(parts) {}

  void share(std::uint32_t spm_rows);

private:
  Tile &tile(std::int32_t id) { return tiles_[static_cast<std::size_t>(id)]; }
  std::vector<Tenant> candidates(std::uint32_t spm_rows);
  bool alike(const Tenant &one, const Tenant &other);
  static bool may_follow(const std::vector<Use> &uses, const Tenant &next);
  void live_together(std::vector<Tenant>::const_iterator first, std::vector<Tenant>::const_iterator end);

  std::vector<Tile> &tiles_;
  std::vector<Needs> &needs_;
  std::vector<std::array<TilePart, 4>> &parts_;
  std::vector<bool> shared_; ///< of each tile, whether another one has taken it in; empty: none has
};

/// By columns and then by rows.
std::vector<Tenant> Landlord::candidates(std::uint32_t spm_rows) {
  std::vector<Tenant> found;
  std::vector<std::int32_t> number(tiles_.size(), -1);
  for (std::size_t i = 0; i < tiles_.size(); ++i)
    if (tiles_[i].computed && tiles_[i].parts_left > 0 && 2 * tiles_[i].rows > spm_rows) {
      number[i] = static_cast<std::int32_t>(found.size());
      found.push_back({static_cast<std::int32_t>(i), {}, {}});
    }
  if (found.size() < 2) return {};
  for (std::uint32_t p = 0; p < needs_.size(); ++p)
    for (std::uint32_t slot = 0; slot < needs_[p].tile.size(); ++slot) {
      const std::int32_t id = needs_[p].tile[slot];
      if (id < 0 || number[static_cast<std::size_t>(id)] < 0) continue;
      Tenant &tenant = found[static_cast<std::size_t>(number[static_cast<std::size_t>(id)])];
      const TilePart &part = parts_[p][slot];
      const Use use{p, slot, part.skip, part.skip + (part.rows != 0 ? part.rows : tile(id).rect.rows)};
      tenant.uses.push_back(use);
      if (slot == Needs::kCout) tenant.computed.push_back(use);
    }
  std::sort(found.begin(), found.end(), [this](const Tenant &x, const Tenant &y) {
    const auto key = [this](const Tenant &t) {
      const Tile &of = tile(t.tile);
      return std::tuple(of.binding, of.rect.col, of.rect.row);
    };
    return key(x) < key(y);
  });
  return found;
}

bool Landlord::alike(const Tenant &one, const Tenant &other) {
  const Tile &a = tile(one.tile), &b = tile(other.tile);
  return a.binding == b.binding && a.rect.col == b.rect.col && a.rect.cols == b.rect.cols &&
         a.rect.rows == b.rect.rows && a.rows == b.rows && a.guard.before == b.guard.before &&
         a.guard.panel == b.guard.panel;
}

/// Whether the next one may come to lie in the place that has these uses, and does so while they last.
bool Landlord::may_follow(const std::vector<Use> &uses, const Tenant &next) {
  if (next.uses.front().product > uses.back().product) return false;
  for (const Use &computed : next.computed)
    for (auto use = uses.rbegin(); use != uses.rend() && use->product >= computed.product; ++use)
      if (use->overlaps(computed)) return false;
  return true;
}

/// Makes the tenants one tile, the first of them.
void Landlord::live_together(std::vector<Tenant>::const_iterator first, std::vector<Tenant>::const_iterator end) {
  if (end - first < 2) return;
  const std::int32_t host = first->tile;
  shared_.resize(tiles_.size(), false);
  for (auto t = first + 1; t != end; ++t) {
    shared_[static_cast<std::size_t>(t->tile)] = true;
    const std::uint32_t ahead = tile(t->tile).rect.row - tile(host).rect.row;
    for (const Use &use : t->uses) {
      needs_[use.product].tile[use.slot] = host;
      parts_[use.product][use.slot] = {use.first, use.end - use.first, ahead};
    }
    tile(host).parts_left += tile(t->tile).parts_left;
    ++tile(host).tenants;
  }
}

void Landlord::share(std::uint32_t spm_rows) {
  const std::vector<Tenant> all = candidates(spm_rows);
  for (auto first = all.cbegin(); first != all.cend();) {
    std::vector<Use> uses = first->uses;
    auto next = first + 1;
    for (; next != all.cend() && alike(*first, *next) && may_follow(uses, *next); ++next) {
      const auto before = static_cast<std::ptrdiff_t>(uses.size());
      uses.insert(uses.end(), next->uses.begin(), next->uses.end());
      std::vector<Use> both(uses.size());
      std::merge(uses.begin(), uses.begin() + before, uses.begin() + before, uses.end(), both.begin(),
                 [](const Use &x, const Use &y) { return x.product < y.product; });
      uses = std::move(both);
    }
    live_together(first, next);
    first = next;
  }
  if (!shared_.empty()) drop_tiles(tiles_, needs_, shared_);
}

} // namespace

void share_places(std::vector<Tile> &tiles, std::vector<Needs> &needs, std::vector<std::array<TilePart, 4>> &parts,
                  std::uint32_t spm_rows) {
  if (!parts.empty()) Landlord(tiles, needs, parts).share(spm_rows);
}

} // namespace gradweave::compiler
