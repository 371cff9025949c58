// Whether tiles fit the scratchpad, before any is placed.
#include "compiler/ir/contraction.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/spm/residency.hpp"

namespace gradweave::compiler {
namespace {

/// Scratchpad rows that a product takes of each area.
struct AreaRows {
  std::uint64_t shared = 0, other = 0, result = 0;

  bool fit(const SpmSplit &split) const {
    const bool one_area = split.shared.first == split.other.first && split.other.first == split.result.first;
    if (one_area) return shared + other + result <= split.shared.rows;
    const bool two_areas = split.other.first == split.result.first;
    if (two_areas) return shared <= split.shared.rows && other + result <= split.other.rows;
    return shared <= split.shared.rows && other <= split.other.rows && result <= split.result.rows;
  }
};

/// Scratchpad rows of full tiles of a layer.
class FullTiles {
public:
  FullTiles(const TileShape &tile, const Layer &layer, const NpuConfig &npu)
      : tile_(tile), layer_(layer), lanes_(npu.lanes()) {}

  std::uint64_t rows(Tensor tensor, bool fp32) const {
    const TensorForm &form = form_of(tensor);
    return spm_rows(side_of(tile_, form.row), side_of(tile_, form.col), fp32, lanes_);
  }
  /// A product; `whole`: it sums up all of the reduction, so that no sum needs a place beside the bf16 result.
  AreaRows product(const Contraction &c, bool whole) const {
    AreaRows rows_of{rows(c.shared, false), rows(c.a == c.shared ? c.b : c.a, false), 0};
    const bool leaves_rounded = rounds(layer_, c.result);
    if (leaves_rounded) rows_of.result += rows(c.result, false);
    if (!leaves_rounded || !whole) rows_of.result += rows(c.result, true);
    return rows_of;
  }
  /// Two sums that are added, and what leaves as bf16.
  AreaRows addition(const Contraction &c) const {
    return {0, 0, 2 * rows(c.result, true) + (rounds(layer_, c.result) ? rows(c.result, false) : 0)};
  }

private:
  const TileShape &tile_;
  const Layer &layer_;
  std::uint32_t lanes_;
};

} // namespace

bool fits(PhaseKind kind, const TileShape &tile, const SpmSplit &split, const Layer &layer, const NpuConfig &npu,
          const PhaseParts &parts) {
  const FullTiles full(tile, layer, npu);
  for (const Tensor result : form_of(kind).results) {
    const Contraction &c = contraction_of(result);
    const bool cut = parts.count > 1 && parts.dim == c.red;
    const bool whole = side_of(tile, c.red) == extent_of(layer, c.red) && !cut;
    if (!full.product(c, whole).fit(split)) return false;
    if (cut && parts.reduction == Reduction::kAdd && !full.addition(c).fit(split)) return false;
  }
  return true;
}

} // namespace gradweave::compiler
