#include "compiler/lower/order.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/lower/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

namespace gradweave::compiler {

GemmRoles roles(const TileProduct &p, const Layer &layer) {
  const std::uint32_t group_k = p.group * layer.k, group_n = p.group * layer.n;
  const Rect x{p.m, group_k + p.k, p.m_size, p.k_size};
  const Rect w{group_k + p.k, p.n, p.k_size, p.n_size};
  const Rect y{p.m, group_n + p.n, p.m_size, p.n_size};
  if (p.result == Tensor::kDX) return {Tensor::kDY, Tensor::kW, y, w, x, true, true, p.n, p.n_size};
  if (p.result == Tensor::kDW) return {Tensor::kX, Tensor::kDY, x, y, w, false, false, p.m, p.m_size};
  return {Tensor::kX, Tensor::kW, x, w, y, true, false, p.k, p.k_size};
}

std::uint32_t reduction_extent(Tensor result, const Layer &layer) {
  return result == Tensor::kDX ? layer.n : result == Tensor::kDW ? layer.m : layer.k;
}

const std::array<LoopOrder, 6> &all_loop_orders() {
  static constexpr std::array<LoopOrder, 6> orders{{{Dim::kM, Dim::kK, Dim::kN},
                                                    {Dim::kM, Dim::kN, Dim::kK},
                                                    {Dim::kK, Dim::kM, Dim::kN},
                                                    {Dim::kK, Dim::kN, Dim::kM},
                                                    {Dim::kN, Dim::kM, Dim::kK},
                                                    {Dim::kN, Dim::kK, Dim::kM}}};
  return orders;
}

std::string to_string(const LoopOrder &order) {
  std::string text;
  for (const Dim d : order)
    text += d == Dim::kM ? 'm' : d == Dim::kK ? 'k' : 'n';
  return text;
}

std::vector<LoopOrder> loop_orders(PhaseKind kind) {
  switch (kind) {
  case PhaseKind::kInterleave:
    return {{Dim::kN, Dim::kK, Dim::kM}, {Dim::kK, Dim::kN, Dim::kM}};
  case PhaseKind::kDxMajor:
    return {{Dim::kM, Dim::kN, Dim::kK}};
  case PhaseKind::kDwMajor:
    return {{Dim::kN, Dim::kM, Dim::kK}};
  default:
    return {all_loop_orders().begin(), all_loop_orders().end()};
  }
}

namespace {

/// The products of one result in group `g` of the region.
std::vector<TileProduct> walk(Tensor result, const LoopOrder &order, const TileShape &tile, const Region &region,
                              std::uint32_t g) {
  const std::array<std::uint32_t, 3> first{region.m, region.k, region.n};
  const std::array<std::uint32_t, 3> end{region.m_end, region.k_end, region.n_end};
  const std::array<std::uint32_t, 3> side{tile.m, tile.k, tile.n};
  const auto outer = static_cast<std::size_t>(order[0]), middle = static_cast<std::size_t>(order[1]),
             inner = static_cast<std::size_t>(order[2]);
  std::vector<TileProduct> products;
  std::array<std::uint32_t, 3> at{};
  for (at[outer] = first[outer]; at[outer] < end[outer]; at[outer] += side[outer])
    for (at[middle] = first[middle]; at[middle] < end[middle]; at[middle] += side[middle])
      for (at[inner] = first[inner]; at[inner] < end[inner]; at[inner] += side[inner]) {
        TileProduct p;
        p.result = result;
        p.m = at[0];
        p.k = at[1];
        p.n = at[2];
        p.m_size = std::min(side[0], end[0] - at[0]);
        p.k_size = std::min(side[1], end[1] - at[1]);
        p.n_size = std::min(side[2], end[2] - at[2]);
        p.group = g;
        products.push_back(p);
      }
  return products;
}

} // namespace

std::vector<TileProduct> make_order(PhaseKind kind, const LoopOrder &order, const TileShape &tile,
                                    const Region &region) {
  const bool dx = kind != PhaseKind::kForward && kind != PhaseKind::kDw;
  const bool dw = kind != PhaseKind::kForward && kind != PhaseKind::kDx;
  const LoopOrder dx_order = kind == PhaseKind::kInterleave ? LoopOrder{Dim::kM, Dim::kK, Dim::kN} : order;
  std::vector<TileProduct> products;
  for (std::uint32_t g = region.g; g < region.g_end; ++g) {
    std::vector<TileProduct> first = walk(dx                            ? Tensor::kDX
                                          : kind == PhaseKind::kForward ? Tensor::kY
                                                                        : Tensor::kDW,
                                          dx ? dx_order : order, tile, region, g);
    if (!dx || !dw) {
      products.insert(products.end(), first.begin(), first.end());
      continue;
    }
    const std::vector<TileProduct> second = walk(Tensor::kDW, order, tile, region, g);
    for (std::size_t i = 0; i < first.size(); ++i) {
      products.push_back(first[i]);
      products.push_back(second[i]);
    }
  }
  return products;
}

std::uint64_t product_count(PhaseKind kind, const TileShape &tile, const Layer &layer) {
  const bool fused = kind != PhaseKind::kForward && kind != PhaseKind::kDx && kind != PhaseKind::kDw;
  return divide_up(layer.m, tile.m) * divide_up(layer.k, tile.k) * divide_up(layer.n, tile.n) * layer.groups *
         (fused ? 2 : 1);
}

Schedule resolve(Schedule requested, const Layer &layer) {
  if (requested != Schedule::kRearrange) return requested;
  const auto [smallest, largest] = std::minmax({layer.m, layer.n, layer.k});
  if (largest < 4ULL * smallest) return Schedule::kInterleave;
  return layer.k > layer.n && layer.k > layer.m ? Schedule::kDwMajor : Schedule::kDxMajor;
}

std::vector<PhaseKind> phases(Schedule schedule, Pass pass, const Layer &layer) {
  std::vector<PhaseKind> result;
  if (pass != Pass::kBackward) result.push_back(PhaseKind::kForward);
  if (pass == Pass::kForward) return result;
  if (!layer.dx) {
    result.push_back(PhaseKind::kDw);
    return result;
  }
  if (schedule == Schedule::kSequential) {
    result.push_back(PhaseKind::kDx);
    result.push_back(PhaseKind::kDw);
  } else if (schedule == Schedule::kInterleave) {
    result.push_back(PhaseKind::kInterleave);
  } else if (schedule == Schedule::kDxMajor) {
    result.push_back(PhaseKind::kDxMajor);
  } else if (schedule == Schedule::kDwMajor) {
    result.push_back(PhaseKind::kDwMajor);
  } else {
    throw std::logic_error(fmt::format("schedule '{}' has no phases before it is resolved", to_string(schedule)));
  }
  return result;
}

} // namespace gradweave::compiler
