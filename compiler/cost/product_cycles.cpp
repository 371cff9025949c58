#include "compiler/cost/product_cycles.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/contraction.hpp"
#include "compiler/ir/grid/grid.hpp"
#include "compiler/lower/tiling.hpp"

#include <algorithm>

namespace gradweave::compiler {

std::uint64_t product_cycles(const TileProduct &p, const Layer &layer, const NpuConfig &npu) {
  if (p.vector) return 0;
  const Contraction &c = contraction_of(p.result);
  const auto size = [&](Dim dim) {
    return dim == Dim::kM ? lines_of(layer, p.result, {p.m, p.m_size}) : range_of(p, dim).size;
  };
  const std::uint32_t rows = size(c.row), cols = size(c.col);
  if (p.add) return 2 * rows * divide_up(cols, npu.cols);
  return block_count(rows, cols, npu) * std::max(size(c.red), shortest_block(npu));
}

} // namespace gradweave::compiler
