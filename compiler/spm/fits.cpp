// Whether tiles fit the scratchpad, before any is placed.
#include "compiler/ir/cut.hpp"
#include "compiler/ir/grid/tile_rows.hpp"
#include "compiler/ir/image.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/spm/residency.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::compiler {
bool ProductRows::AreaRows::fit(const SpmSplit &split) const {
  const bool one_area = split.shared.first == split.other.first && split.other.first == split.result.first;
  if (one_area) return shared + other + result <= split.shared.rows;
  const bool two_areas = split.other.first == split.result.first;
  if (two_areas) return shared <= split.shared.rows && other + result <= split.other.rows;
  return shared <= split.shared.rows && other <= split.other.rows && result <= split.result.rows;
}

/// Scratchpad rows of full tiles of a layer.
class ProductRows::FullTiles {
public:
  FullTiles(const TileShape &tile, const Layer &layer, const NpuConfig &npu, const PhaseParts &parts)
      : tile_(tile), layer_(layer), lanes_(npu.lanes()),
        beside_(parts.by_turns() && parts.dim == Dim::kM ? parts.cores : 1) {}

  std::uint64_t result_rows(const Contraction &c, bool fp32) const {
    const std::uint32_t rows = c.row == Dim::kM ? most_lines(c.result) : longest(c.result, c.row);
    return spm_rows(rows, longest(c.result, c.col), fp32, lanes_);
  }
  /// A product; `whole`: it sums up all of the reduction, so that no sum needs a place beside the bf16 result.
  AreaRows product(const Contraction &c, bool whole) const {
    const Operands operands = layer_.image ? image_operands(c) : plain_operands(c);
    AreaRows rows_of{operands.a, operands.b, 0};
    if (c.a != c.shared) std::swap(rows_of.shared, rows_of.other);
    const bool leaves_rounded = rounds(layer_, c.result);
    if (leaves_rounded) rows_of.result += result_rows(c, false);
    if (!leaves_rounded || !whole) rows_of.result += result_rows(c, true);
    return rows_of;
  }
  /// Two sums that are added, and what leaves as bf16.
  AreaRows addition(const Contraction &c) const {
    return {0, 0, 2 * result_rows(c, true) + (rounds(layer_, c.result) ? result_rows(c, false) : 0)};
  }

private:
  struct Operands {
    std::uint64_t a = 0, b = 0;
  };

  std::uint32_t longest(Tensor result, Dim dim) const {
    return longest_range(layer_, result, dim, side_of(tile_, dim));
  }
  std::uint32_t most_lines(Tensor result) const {
    if (!layer_.image || keeps_size(*layer_.conv)) return longest(result, Dim::kM); // lines are pixels
    std::uint32_t most = 0;
    for (const IndexRange &pixels : ranges_along(layer_, result, Dim::kM, tile_.m, whole(layer_)))
      most = std::max(most, lines_of(layer_, result, pixels));
    return most;
  }
  std::uint64_t plain(Tensor tensor) const {
    const TensorForm &form = form_of(tensor);
    return spm_rows(side_of(tile_, form.row), side_of(tile_, form.col), false, lanes_);
  }
  Operands plain_operands(const Contraction &c) const { return {plain(c.a), plain(c.b)}; }

  /// Of the product whose lines, with those that taps reach, are most.
  Operands image_operands(const Contraction &c) const {
    TileProduct p;
    p.result = c.result;
    const std::uint32_t terms = longest(c.result, Dim::kN);
    set_range(p, Dim::kK, {0, longest(c.result, Dim::kK)});
    Operands most;
    const std::vector<IndexRange> ranges = ranges_along(layer_, c.result, Dim::kM, tile_.m, whole(layer_));
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      set_range(p, Dim::kM, ranges[i]);
      const std::size_t first = i / beside_ * beside_, last = std::min<std::size_t>(first + beside_, ranges.size()) - 1;
      const auto from = ranges.begin() + static_cast<std::ptrdiff_t>(first);
      const IndexRange rows =
          rows_together(layer_, c.result, {from, from + static_cast<std::ptrdiff_t>(last + 1 - first)});
      p.band = rows.first;
      p.band_size = rows.size;
      set_range(p, Dim::kN, terms_at(layer_, c.result, p.m, {0, terms}));
      const GemmRoles r = roles(p, layer_);
      most.a = std::max(most.a, image_rows(c.a, r.a_rect, p));
      most.b = std::max(most.b, image_rows(c.b, r.b_rect, p));
    }
    return most;
  }
  std::uint64_t image_rows(Tensor tensor, const Rect &rect, const TileProduct &p) const {
    if (tensor == Tensor::kW || (tensor == Tensor::kDY && !layer_.dx))
      return spm_rows(tile_rows(rect), rect.cols, false, lanes_);
    const Guard guard = tensor == Tensor::kDY
                            ? guard_of(layer_, Tensor::kDX, rect, rows_of(layer_, p.result, {p.m, p.m_size}))
                            : guard_of(layer_, p, rect);
    return std::uint64_t{spm_rows(guard.panel, rect.cols, false, lanes_)} + guard.before + guard.behind;
  }

  const TileShape &tile_;
  const Layer &layer_;
  std::uint32_t lanes_;
  std::uint32_t beside_; ///< products that share the tile of an image
};

ProductRows::ProductRows(PhaseKind kind, const TileShape &tile, const Layer &layer, const NpuConfig &npu,
                         const PhaseParts &parts) {
  const FullTiles full(tile, layer, npu, parts);
  for (const Tensor result : form_of(kind).results) {
    const Contraction &c = contraction_of(result);
    const bool cut = parts.count > 1 && parts.dim == c.red;
    const bool whole = range_count(layer, result, c.red, side_of(tile, c.red)) == 1 && !cut;
    products_.push_back(full.product(c, whole));
    if (cut && parts.reduction == Reduction::kAdd) products_.push_back(full.addition(c));
  }
}

bool ProductRows::fit(const SpmSplit &split) const {
  return std::all_of(products_.begin(), products_.end(), [&](const AreaRows &rows) { return rows.fit(split); });
}

bool fits(PhaseKind kind, const TileShape &tile, const SpmSplit &split, const Layer &layer, const NpuConfig &npu,
          const PhaseParts &parts) {
  return ProductRows(kind, tile, layer, npu, parts).fit(split);
}

} // namespace gradweave::compiler
