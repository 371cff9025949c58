#include "compiler/order.hpp"
#include "compiler/layout.hpp"
#include "compiler/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

namespace gradweave::compiler {

GemmRoles roles(const TileProduct &p) {
  const Rect x{p.m, p.k, p.m_size, p.k_size};
  const Rect w{p.k, p.n, p.k_size, p.n_size};
  const Rect y{p.m, p.n, p.m_size, p.n_size};
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

std::vector<TileProduct> walk(Tensor result, const LoopOrder &order, const TileShape &tile, const Layer &layer) {
  const std::array<std::uint32_t, 3> extent{layer.m, layer.k, layer.n};
  const std::array<std::uint32_t, 3> side{tile.m, tile.k, tile.n};
  const auto index = [&](std::size_t depth) { return static_cast<std::size_t>(order[depth]); };
  std::vector<TileProduct> products;
  std::array<std::uint32_t, 3> at{};
  for (at[index(0)] = 0; at[index(0)] < extent[index(0)]; at[index(0)] += side[index(0)])
    for (at[index(1)] = 0; at[index(1)] < extent[index(1)]; at[index(1)] += side[index(1)])
      for (at[index(2)] = 0; at[index(2)] < extent[index(2)]; at[index(2)] += side[index(2)])
        products.push_back({result, at[0], at[1], at[2], std::min(side[0], extent[0] - at[0]),
                            std::min(side[1], extent[1] - at[1]), std::min(side[2], extent[2] - at[2])});
  return products;
}

std::vector<TileProduct> alternate(const std::vector<TileProduct> &dx, const std::vector<TileProduct> &dw) {
  std::vector<TileProduct> products;
  products.reserve(dx.size() + dw.size());
  for (std::size_t i = 0; i < dx.size(); ++i) {
    products.push_back(dx[i]);
    products.push_back(dw[i]);
  }
  return products;
}

} // namespace

std::vector<TileProduct> make_order(PhaseKind kind, const LoopOrder &order, const TileShape &tile, const Layer &layer) {
  switch (kind) {
  case PhaseKind::kForward:
    return walk(Tensor::kY, order, tile, layer);
  case PhaseKind::kDx:
    return walk(Tensor::kDX, order, tile, layer);
  case PhaseKind::kDw:
    return walk(Tensor::kDW, order, tile, layer);
  case PhaseKind::kInterleave:
    return alternate(walk(Tensor::kDX, {Dim::kM, Dim::kK, Dim::kN}, tile, layer),
                     walk(Tensor::kDW, order, tile, layer));
  default:
    return alternate(walk(Tensor::kDX, order, tile, layer), walk(Tensor::kDW, order, tile, layer));
  }
}

std::uint64_t product_count(PhaseKind kind, const TileShape &tile, const Layer &layer) {
  const bool fused = kind != PhaseKind::kForward && kind != PhaseKind::kDx && kind != PhaseKind::kDw;
  return divide_up(layer.m, tile.m) * divide_up(layer.k, tile.k) * divide_up(layer.n, tile.n) * (fused ? 2 : 1);
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
  switch (schedule) {
  case Schedule::kInterleave:
    result.push_back(PhaseKind::kInterleave);
    break;
  case Schedule::kDxMajor:
    result.push_back(PhaseKind::kDxMajor);
    break;
  case Schedule::kDwMajor:
    result.push_back(PhaseKind::kDwMajor);
    break;
  case Schedule::kSequential:
    result.push_back(PhaseKind::kDx);
    result.push_back(PhaseKind::kDw);
    break;
  default:
    throw std::logic_error(fmt::format("schedule '{}' has no phases before it is resolved", to_string(schedule)));
  }
  return result;
}

std::string verify_order(const std::vector<TileProduct> &products, const Layer &layer, Pass pass) {
  // For each result tile, how far its reduction has come.
  using Key = std::tuple<Tensor, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  std::map<Key, std::uint32_t> done;
  for (std::size_t i = 0; i < products.size(); ++i) {
    const TileProduct &p = products[i];
    if (p.m_size == 0 || p.k_size == 0 || p.n_size == 0 || p.m_size > layer.m - std::min(p.m, layer.m) ||
        p.k_size > layer.k - std::min(p.k, layer.k) || p.n_size > layer.n - std::min(p.n, layer.n))
      return fmt::format("product {} is empty or outside the layer", i);
    const GemmRoles r = roles(p);
    std::uint32_t &at = done[{p.result, r.c_rect.row, r.c_rect.col, r.c_rect.rows, r.c_rect.cols}];
    if (r.red != at)
      return fmt::format("product {} of {} at ({}, {}) continues the reduction at {}, which stands at {}", i,
                         to_string(p.result), r.c_rect.row, r.c_rect.col, r.red, at);
    at += r.red_size;
  }
  std::array<std::vector<Rect>, kTensorCount> tiles;
  for (const auto &[key, at] : done) {
    const auto &[result, row, col, rows, cols] = key;
    if (at != reduction_extent(result, layer))
      return fmt::format("the reduction of {} at ({}, {}) ends at {} of {}", to_string(result), row, col, at,
                         reduction_extent(result, layer));
    tiles[static_cast<std::size_t>(result)].push_back({row, col, rows, cols});
  }
  const auto check = [&](Tensor t, bool wanted, std::uint32_t rows, std::uint32_t cols) -> std::string {
    const std::vector<Rect> &rects = tiles[static_cast<std::size_t>(t)];
    if (!wanted) return rects.empty() ? "" : fmt::format("{} is computed, which the pass does not need", to_string(t));
    const std::string problem = verify_cover(rects, rows, cols);
    return problem.empty() ? "" : fmt::format("{}: {}", to_string(t), problem);
  };
  for (const std::string &problem : {check(Tensor::kY, pass != Pass::kBackward, layer.m, layer.n),
                                     check(Tensor::kDX, computes_dx(layer, pass), layer.m, layer.k),
                                     check(Tensor::kDW, pass != Pass::kForward, layer.k, layer.n)})
    if (!problem.empty()) return problem;
  return {};
}

} // namespace gradweave::compiler
