#include "compiler/list/blocks.hpp"

#include "compiler/ir/contraction.hpp"
#include "compiler/lower/order.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace gradweave::compiler::list {
namespace {

const Contraction &contraction_of_phase(PhaseKind kind) { return contraction_of(form_of(kind).results.front()); }

/// Index of each first index along a dimension, ascending.
std::map<std::uint32_t, std::uint32_t> ranks(const std::vector<TileProduct> &products, Dim dim) {
  std::map<std::uint32_t, std::uint32_t> all;
  for (const TileProduct &p : products)
    all.emplace(range_of(p, dim).first, 0);
  std::uint32_t next = 0;
  for (auto &[first, rank] : all)
    rank = next++;
  return all;
}

/// Each sum to a core by turns, in the order in which they begin: blocks whose sums are no multiple of the cores then
/// keep all of them busy.
void give_to_cores(std::vector<TileProduct> &products, const Contraction &c, std::uint32_t cores) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint8_t> core_of;
  std::uint32_t next = 0;
  for (TileProduct &p : products) {
    const auto [sum, is_new] = core_of.try_emplace({p.group, range_of(p, c.row).first, range_of(p, c.col).first});
    if (is_new) sum->second = static_cast<std::uint8_t>(next++ % cores);
    p.core = sum->second;
  }
}

} // namespace

TileShape together(PhaseKind kind, const TileShape &tile, const Block &block) {
  const Contraction &c = contraction_of_phase(kind);
  const TileShape sides = tile;
  const auto side = [&](Dim dim) {
    const std::uint32_t times = dim == c.row ? block.rows : dim == c.col ? block.cols : 1;
    return side_of(sides, dim) * times;
  };
  return {side(Dim::kM), side(Dim::kK), side(Dim::kN)};
}

std::vector<TileProduct> blocked_products(PhaseKind kind, const TileShape &tile, const Block &block, const Layer &layer,
                                          std::uint32_t cores) {
  const Contraction &c = contraction_of_phase(kind);
  const Turns rows{Dim::kM, c.row == Dim::kM ? block.rows : 1};
  std::vector<TileProduct> products = make_order(kind, {c.row, c.col, c.red}, tile, layer, whole(layer), rows);
  const auto row_ranks = ranks(products, c.row), col_ranks = ranks(products, c.col);

  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  std::vector<std::pair<Key, TileProduct>> keyed;
  keyed.reserve(products.size());
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> steps; // of each sum so far
  const auto row_blocks = static_cast<std::uint32_t>(row_ranks.size() / block.rows);
  const auto col_blocks = static_cast<std::uint32_t>(col_ranks.size() / block.cols);
  for (TileProduct &p : products) {
    const std::uint32_t row = row_ranks.at(range_of(p, c.row).first), col = col_ranks.at(range_of(p, c.col).first);
    std::uint32_t outer = row / block.rows, inner = col / block.cols, last = col_blocks;
    if (block.down) {
      std::swap(outer, inner);
      last = row_blocks;
    }
    if (outer % 2 == 1) inner = last - inner;
    const std::uint32_t step = steps[{p.group, row, col}]++;
    keyed.emplace_back(Key{p.group, outer, inner, step, row, col}, p);
  }
  std::sort(keyed.begin(), keyed.end(), [](const auto &x, const auto &y) { return x.first < y.first; });
  std::transform(keyed.begin(), keyed.end(), products.begin(), [](const auto &k) { return k.second; });
  give_to_cores(products, c, cores);
  return products;
}

std::vector<TileProduct> first_step(PhaseKind kind, const TileShape &tile, const Block &block, const Layer &layer) {
  const Contraction &c = contraction_of_phase(kind);
  const TileShape all = together(kind, tile, block);
  Region region = whole(layer);
  region.g_end = 1;
  if (c.red != Dim::kM) region.m_end = std::min(region.m_end, all.m);
  const Turns rows{Dim::kM, c.row == Dim::kM ? block.rows : 1};
  std::vector<TileProduct> products = make_order(kind, {c.red, c.row, c.col}, tile, layer, region, rows);
  const std::uint32_t first = range_of(products.front(), c.red).first;
  const auto is_other = [&](const TileProduct &p) {
    return range_of(p, c.red).first != first || range_of(p, c.row).first >= side_of(all, c.row) ||
           range_of(p, c.col).first >= side_of(all, c.col);
  };
  products.erase(std::remove_if(products.begin(), products.end(), is_other), products.end());
  return products;
}

} // namespace gradweave::compiler::list
