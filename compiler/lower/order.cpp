#include "compiler/lower/order.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/cut.hpp"
#include "compiler/ir/image.hpp"
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
  const std::uint32_t above = form.groups_below ? p.group * extent_of(layer, p.result, form.row) : 0;
  const std::uint32_t beside = form.groups_below ? 0 : p.group * extent_of(layer, p.result, form.col);
  return {above + row.first, beside + col.first, row.size, col.size};
}

/// Rows of the grid whose pixels, and those that taps reach from them, lie in the tile that the product reads.
IndexRange rows_of(const TileProduct &p, const Layer &layer) {
  return p.band_size != 0 ? IndexRange{p.band, p.band_size} : rows_of(layer, p.result, {p.m, p.m_size});
}

/// Of the image that the products of Y and dW read: the channels of the product's taps; of one that is packed all.
Rect image_rect(const TileProduct &p, const Layer &layer) {
  const TapRange taps = taps_of(layer, p);
  const IndexRange cols = layer.packed ? IndexRange{0, image_form(layer).cols}
                                       : IndexRange{p.group * kernel_channels(layer) + taps.channel, taps.channels};
  const IndexRange lines =
      reads_one_row(layer, p) ? row_read(layer, p) : lines_read(layer, p.result, rows_of(p, layer));
  return pixel_rect(layer, Tensor::kX, lines, cols);
}

/// Of dY as the image that products of dX read; those of dW take the same rows, so that both have one tile.
Rect result_image_rect(const TileProduct &p, const Layer &layer) {
  const bool turned = turns_kernel(p.result);
  const TapRange taps = turned ? taps_of(layer, p) : TapRange{0, 0, 1, 1, p.n, p.n_size};
  const IndexRange cols{p.group * layer.n + taps.channel, taps.channels};
  if (!layer.dx) {
    const Phase all = phase_of(layer, p.result, p.m);
    return pixel_rect(layer, Tensor::kDY, pixels_in(layer, all, rows_of(p, layer)), cols);
  }
  return pixel_rect(layer, Tensor::kDY, lines_read(layer, Tensor::kDX, rows_of(p, layer)), cols);
}

/// Of W for dX: of one tap the product's channels, of several all; of the taps that meet a phase the product's.
Rect turned_kernel_rect(const TileProduct &p, const Layer &layer) {
  const std::uint32_t channels = extent_of(layer, Tensor::kDX, Dim::kK), width = layer.conv->kernel_width;
  const TapRange taps = taps_of(layer, p);
  const std::uint32_t row = p.group * layer.k + (taps.row * width + taps.col) * channels;
  if (taps.count() == 1) return {row + p.k, taps.channel, p.k_size, taps.channels};
  if (!splits_phases(layer, p.result)) return {row, taps.channel, taps.count() * channels, taps.channels};
  const std::uint32_t stride = layer.conv->stride_width;
  return {row + p.k, taps.channel, taps.count() * p.k_size, taps.channels,
          TapRuns{p.k_size, static_cast<std::uint16_t>(taps.cols), static_cast<std::uint16_t>(stride),
                  static_cast<std::uint16_t>(stride * width)}};
}

/// Of W for Y.
Rect kernel_rect(const TileProduct &p, const Layer &layer) {
  if (!p.blocked) return rect_of(Tensor::kW, p, layer);
  const TapRange taps = taps_of(layer, p);
  const auto all = static_cast<std::uint16_t>(taps.count());
  return {p.group * layer.k + taps.channel, p.n, p.k_size, p.n_size, TapRuns{taps.channels, all, 1, all}};
}

Rect operand_rect(Tensor tensor, const TileProduct &p, const Layer &layer) {
  if (!layer.image) return rect_of(tensor, p, layer);
  if (tensor == Tensor::kX) return image_rect(p, layer);
  if (tensor == Tensor::kDY) return result_image_rect(p, layer);
  return turns_kernel(p.result) ? turned_kernel_rect(p, layer) : kernel_rect(p, layer);
}

Rect result_rect(const TileProduct &p, const Layer &layer) {
  const Rect rect = rect_of(p.result, p, layer);
  if (!layer.image || takes_one_tap(p.result)) return rect;
  const IndexRange pixels{p.m, p.m_size}, cols{rect.col, rect.cols};
  return turns_kernel(p.result) ? gradient_rect(layer, pixels, cols) : pixel_rect(layer, p.result, pixels, cols);
}

} // namespace

GemmRoles roles(const TileProduct &p, const Layer &layer) {
  const Contraction &c = contraction_of(p.result);
  const IndexRange red = range_of(p, c.red);
  return {c.a,
          c.b,
          operand_rect(c.a, p, layer),
          operand_rect(c.b, p, layer),
          result_rect(p, layer),
          c.a_col,
          c.b_col,
          red.first,
          red.size};
}

std::uint32_t reduction_extent(const TileProduct &p, const Layer &layer) {
  const Dim red = contraction_of(p.result).red;
  const IndexRange all{0, extent_of(layer, p.result, red)};
  return terms_at(layer, p.result, p.m, all).size;
}

std::string to_string(const LoopOrder &order) {
  std::string text;
  for (const Dim d : order)
    text += d == Dim::kM ? 'm' : d == Dim::kK ? 'k' : 'n';
  return text;
}

namespace {

/// A loop along a dimension, each of whose steps takes a range, or one for each core.
struct Loop {
  Dim dim;
  std::vector<IndexRange> ranges;
  std::size_t cores;

  /// Of the step that begins with range `i`.
  std::size_t beside(std::size_t i) const { return std::min(cores, ranges.size() - i); }
};

/// The products of one result in group `g` of the region.
std::vector<TileProduct> walk(Tensor result, const LoopOrder &order, const TileShape &tile, const Layer &layer,
                              const Region &region, const Turns &turns, std::uint32_t g) {
  const auto loop = [&](Dim d) {
    return Loop{d, ranges_along(layer, result, d, side_of(tile, d), region), d == turns.dim ? turns.cores : 1U};
  };
  const Loop outer = loop(order[0]), middle = loop(order[1]), inner = loop(order[2]);
  std::vector<TileProduct> products;
  products.reserve(outer.ranges.size() * middle.ranges.size() * inner.ranges.size());
  TileProduct p;
  p.result = result;
  p.group = g;
  if (layer.image && !takes_one_tap(result))
    p.blocked = takes_blocks(layer, side_of(tile, contraction_of(result).red), tap_channels(layer, result));
  const auto take = [&](const Loop &l, std::size_t first, std::size_t core) {
    const std::size_t beside = l.beside(first);
    set_range(p, l.dim, l.ranges[first + (beside > 1 ? core : 0)]);
    if (l.dim != Dim::kM || !layer.image || beside == 1) return;
    const auto begin = l.ranges.begin() + static_cast<std::ptrdiff_t>(first);
    const IndexRange rows = rows_together(layer, result, {begin, begin + static_cast<std::ptrdiff_t>(beside)});
    p.band = rows.first;
    p.band_size = rows.size;
  };
  for (std::size_t i = 0; i < outer.ranges.size(); i += outer.cores)
    for (std::size_t j = 0; j < middle.ranges.size(); j += middle.cores)
      for (std::size_t k = 0; k < inner.ranges.size(); k += inner.cores)
        for (std::size_t core = 0; core < std::max({outer.beside(i), middle.beside(j), inner.beside(k)}); ++core) {
          p.core = static_cast<std::uint8_t>(core);
          p.band_size = 0;
          take(outer, i, core);
          take(middle, j, core);
          take(inner, k, core);
          products.push_back(p);
          set_range(products.back(), Dim::kN, terms_at(layer, result, p.m, {p.n, p.n_size}));
        }
  return products;
}

} // namespace

std::vector<TileProduct> make_order(PhaseKind kind, const LoopOrder &order, const TileShape &tile, const Layer &layer,
                                    const Region &region, const Turns &turns) {
  const PhaseForm &form = form_of(kind);
  std::vector<TileProduct> products;
  for (std::uint32_t g = region.g; g < region.g_end; ++g) {
    std::vector<TileProduct> first =
        walk(form.results.front(), form.first_loops.value_or(order), tile, layer, region, turns, g);
    if (!form.fused()) {
      products.insert(products.end(), first.begin(), first.end());
      continue;
    }
    // Of images the two may be cut into different numbers of products, which then follow one another evenly.
    const std::vector<TileProduct> second = walk(form.results.back(), order, tile, layer, region, turns, g);
    std::size_t next = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      products.push_back(first[i]);
      for (const std::size_t end = (i + 1) * second.size() / first.size(); next < end; ++next)
        products.push_back(second[next]);
    }
    // The image of a part of the result's rows may have no row itself.
    products.insert(products.end(), second.begin() + static_cast<std::ptrdiff_t>(next), second.end());
  }
  return products;
}

LoopOrder loops_that_turn(const LoopOrder &order, const TileShape &tile, const Layer &layer) {
  // Sides that cut an image's layer may cut one of its results only.
  const auto turns = [&](Dim d) {
    if (layer.image) return true;
    return side_of(tile, d) < extent_of(layer, Tensor::kY, d);
  };
  LoopOrder result{};
  std::size_t count = 0;
  for (const Dim d : order)
    if (turns(d)) result[count++] = d;
  for (const Dim d : {Dim::kM, Dim::kK, Dim::kN})
    if (!turns(d)) result[count++] = d;
  return result;
}

std::uint64_t product_count(PhaseKind kind, const TileShape &tile, const Layer &layer) {
  std::uint64_t count = 0;
  for (const Tensor result : form_of(kind).results)
    count += range_count(layer, result, Dim::kM, tile.m) * range_count(layer, result, Dim::kK, tile.k) *
             range_count(layer, result, Dim::kN, tile.n);
  return count * layer.groups;
}

void check_products(std::uint64_t fewest, const Layer &layer, const NpuConfig &npu) {
  if (fewest > kMostProducts)
    throw CompileError(
        fmt::format("layer '{}': takes at least {} tile products on NPU '{}', more than {}; give it more "
                    "spm_bytes or reduce M, K, N = {}, {}, {}",
                    layer.name, fewest, npu.name, kMostProducts, layer.m, layer.k, layer.n));
}

void refuse_scratchpad(const Layer &layer, const NpuConfig &npu) {
  if (layer.image)
    throw CompileError(
        fmt::format("layer '{}': no tiling fits the scratchpad of NPU '{}' ({} rows of {} elements), not "
                    "even single rows of its images, of {} pixels, with those that taps reach; give it "
                    "more spm_bytes, or leave the layer to im2col",
                    layer.name, npu.name, npu.spm_rows(), npu.lanes(), layer.conv->width));
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

std::vector<PhaseKind> phases(Schedule schedule, Pass asked, const Layer &layer) {
  std::vector<PhaseKind> result;
  const Pass pass = pass_of(layer, asked);
  if (pass != Pass::kBackward) result.push_back(forward_phase());
  if (pass == Pass::kForward) return result;
  if (!layer.dx) {
    result.push_back(PhaseKind::kDw);
    return result;
  }
  if (schedule == Schedule::kSequential) {
    result.push_back(PhaseKind::kDx);
    result.push_back(PhaseKind::kDw);
  } else if (schedule == Schedule::kDwFirst) {
    result.push_back(PhaseKind::kDw);
    result.push_back(PhaseKind::kDx);
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
