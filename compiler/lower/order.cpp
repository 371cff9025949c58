#include "compiler/lower/order.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/lower/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

namespace gradweave::compiler {

namespace {

/// Of a tensor of the layer that the product touches.
Rect rect_of(Tensor tensor, const TileProduct &p, const Layer &layer) {
  const TensorForm &form = form_of(tensor);
  const IndexRange row = range_of(p, form.row), col = range_of(p, form.col);
  const std::uint32_t above = form.groups_below ? p.group * extent_of(layer, form.row) : 0;
  const std::uint32_t beside = form.groups_below ? 0 : p.group * extent_of(layer, form.col);
  return {above + row.first, beside + col.first, row.size, col.size};
}

} // namespace

GemmRoles roles(const TileProduct &p, const Layer &layer) {
  const Contraction &c = contraction_of(p.result);
  const IndexRange red = range_of(p, c.red);
  return {
      c.a,       c.b,     rect_of(c.a, p, layer), rect_of(c.b, p, layer), rect_of(c.result, p, layer), c.a_col, c.b_col,
      red.first, red.size};
}

std::uint32_t reduction_extent(Tensor result, const Layer &layer) {
  return extent_of(layer, contraction_of(result).red);
}

std::string to_string(const LoopOrder &order) {
  std::string text;
  for (const Dim d : order)
    text += d == Dim::kM ? 'm' : d == Dim::kK ? 'k' : 'n';
  return text;
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
  const PhaseForm &form = form_of(kind);
  std::vector<TileProduct> products;
  for (std::uint32_t g = region.g; g < region.g_end; ++g) {
    std::vector<TileProduct> first = walk(form.results.front(), form.first_loops.value_or(order), tile, region, g);
    if (!form.fused()) {
      products.insert(products.end(), first.begin(), first.end());
      continue;
    }
    const std::vector<TileProduct> second = walk(form.results.back(), order, tile, region, g);
    for (std::size_t i = 0; i < first.size(); ++i) {
      products.push_back(first[i]);
      products.push_back(second[i]);
    }
  }
  return products;
}

LoopOrder loops_that_turn(const LoopOrder &order, const TileShape &tile, const Layer &layer) {
  const auto turns = [&](Dim d) { return side_of(tile, d) < extent_of(layer, d); };
  LoopOrder result{};
  std::size_t count = 0;
  for (const Dim d : order)
    if (turns(d)) result[count++] = d;
  for (const Dim d : {Dim::kM, Dim::kK, Dim::kN})
    if (!turns(d)) result[count++] = d;
  return result;
}

std::uint64_t product_count(PhaseKind kind, const TileShape &tile, const Layer &layer) {
  return divide_up(layer.m, tile.m) * divide_up(layer.k, tile.k) * divide_up(layer.n, tile.n) * layer.groups *
         form_of(kind).results.size();
}

void check_products(std::uint64_t fewest, const Layer &layer, const NpuConfig &npu) {
  if (fewest > kMostProducts)
    throw CompileError(
        fmt::format("layer '{}': takes at least {} tile products on NPU '{}', more than {}; give it more "
                    "spm_bytes or reduce M, K, N = {}, {}, {}",
                    layer.name, fewest, npu.name, kMostProducts, layer.m, layer.k, layer.n));
}

void refuse_scratchpad(const Layer &layer, const NpuConfig &npu) {
  throw CompileError(fmt::format("layer '{}': no tiling fits the scratchpad of NPU '{}' ({} rows of {} elements), not "
                                 "even single elements; give it more spm_bytes",
                                 layer.name, npu.name, npu.spm_rows(), npu.lanes()));
}

Schedule resolve(Schedule requested, const Layer &layer) {
  if (requested != Schedule::kRearrange) return requested;
  const auto [smallest, largest] = std::minmax({layer.m, layer.n, layer.k});
  if (largest < 4ULL * smallest) return Schedule::kInterleave;
  return layer.k > layer.n && layer.k > layer.m ? Schedule::kDwMajor : Schedule::kDxMajor;
}

PhaseKind forward_phase() { return PhaseKind::kForward; }

std::vector<PhaseKind> phases(Schedule schedule, Pass pass, const Layer &layer) {
  std::vector<PhaseKind> result;
  if (pass != Pass::kBackward) result.push_back(forward_phase());
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
