#include "compiler/verify/operands/operands.hpp"
#include "compiler/verify/operands/image_operands.hpp"

namespace gradweave::compiler {
namespace {

/// The two of M, K and N that index a tensor's rows and columns.
struct Axes {
  Dim row, col;
};

Axes axes_of(Tensor t) {
  if (t == Tensor::kX || t == Tensor::kDX) return {Dim::kM, Dim::kK};
  if (t == Tensor::kW || t == Tensor::kDW) return {Dim::kK, Dim::kN};
  return {Dim::kM, Dim::kN};
}

/// The tensors that are multiplied: each result is summed over the dimension that it does not have, which both of these
/// do. The one that shares the result's rows comes first.
std::array<Tensor, 2> factors_of(Tensor result) {
  if (result == Tensor::kDX) return {Tensor::kDY, Tensor::kW};
  if (result == Tensor::kDW) return {Tensor::kX, Tensor::kDY};
  return {Tensor::kX, Tensor::kW};
}

Dim summed(Tensor result) {
  const Axes axes = axes_of(result);
  for (const Dim d : {Dim::kM, Dim::kK})
    if (d != axes.row && d != axes.col) return d;
  return Dim::kN;
}

struct Range {
  std::uint32_t first, size;
};

Range range_of(const TileProduct &p, Dim d) {
  if (d == Dim::kM) return {p.m, p.m_size};
  return d == Dim::kK ? Range{p.k, p.k_size} : Range{p.n, p.n_size};
}

/// Groups are blocks of the columns of activations and of their gradients, and of the rows of weights and theirs.
Rect rect_of(const TileProduct &p, const Layer &layer, Tensor t) {
  const Axes axes = axes_of(t);
  const Range row = range_of(p, axes.row), col = range_of(p, axes.col);
  const bool weights = t == Tensor::kW || t == Tensor::kDW;
  const std::uint32_t row_group = weights ? p.group * layer.k : 0;
  const std::uint32_t col_group = weights ? 0 : p.group * (axes.col == Dim::kK ? layer.k : layer.n);
  return {row_group + row.first, col_group + col.first, row.size, col.size};
}

} // namespace

Operands operands_of(const TileProduct &p, const Layer &layer) {
  if (layer.image) return image_operands_of(p, layer);
  const auto [a, b] = factors_of(p.result);
  const Range terms = range_of(p, summed(p.result));
  return {a, b, rect_of(p, layer, a), rect_of(p, layer, b), rect_of(p, layer, p.result), terms.first, terms.size};
}

std::array<Expected, kTensorCount> expected_tensors(const Layer &l, Pass pass) {
  const bool forward = pass != Pass::kBackward, backward = pass != Pass::kForward, dx = backward && l.dx;
  const std::uint32_t all_k = l.groups * l.k, all_n = l.groups * l.n;
  const std::uint32_t side = l.packed ? l.conv->stride_width : 1; // of blocks of pixels
  const auto blocks = [&](std::uint32_t size) { return (size + side - 1) / side; };
  const std::uint32_t x_rows = l.image ? l.conv->batch * blocks(l.conv->height) * blocks(l.conv->width) : l.m;
  const std::uint32_t x_cols = l.image ? side * side * l.conv->channels : all_k;
  return {{{Tensor::kX, true, false, false, x_rows, x_cols},
           {Tensor::kW, forward || dx, false, false, all_k, l.n},
           {Tensor::kDY, backward, false, false, l.m, all_n},
           {Tensor::kY, forward, true, l.y_fp32, l.m, all_n},
           {Tensor::kDX, dx, true, l.dx_fp32, x_rows, x_cols},
           {Tensor::kDW, backward, true, true, all_k, l.n}}};
}

std::array<std::uint32_t, 3> extents_of(Tensor result, const Layer &layer) {
  if (!layer.image || result != Tensor::kDX) return {layer.m, layer.k, layer.n};
  const Convolution &conv = *layer.conv;
  const std::uint32_t taps = conv.kernel_height * conv.kernel_width;
  const bool same = conv.stride_width == 1 && conv.out_width() == conv.width && conv.out_height() == conv.height;
  return {same ? layer.m : conv.batch * conv.height * conv.width, layer.k / taps, layer.n * taps};
}

std::uint32_t terms_of(Tensor result, const Layer &layer, std::uint32_t y, std::uint32_t x) {
  if (layer.image && is_turned(result)) return taps_that_meet(*layer.conv, y, x) * layer.n;
  return extents_of(result, layer)[static_cast<std::size_t>(summed(result))];
}

std::uint32_t terms_of(const TileProduct &p, const Layer &layer) {
  if (!layer.image || !is_turned(p.result)) return terms_of(p.result, layer);
  const PhasePixel first = phase_pixel(*layer.conv, p.m);
  return terms_of(p.result, layer, first.y, first.x);
}

std::uint64_t panel_rows_of_tile(const Rect &rect) {
  const PixelGrid &p = rect.pixels;
  if (p.width == 0) return rect.rows;
  // Where a row of images begins, as a line of the grid.
  const std::uint32_t y = p.phase == 0 ? 0 : (p.phase - 1U) / p.stride,
                      x = p.phase == 0 ? 0 : (p.phase - 1U) % p.stride;
  const std::uint32_t apart = p.phase == 0 ? 1U : p.stride;
  const std::uint32_t width = (p.width - x + apart - 1) / apart, height = (p.height - y + apart - 1) / apart;
  const std::uint32_t rows_a_line = p.phase == 0 ? p.stride : 1U;
  const auto line = [&](std::uint32_t pixel) {
    const std::uint32_t row = pixel / width;
    return std::uint64_t{row / height * p.grid_height + row % height / rows_a_line} * p.grid_width;
  };
  const std::uint64_t between = line(rect.row + rect.rows - 1) - line(rect.row);
  return rows_a_line == 1 ? between + width : (between + p.grid_width) * p.stride * p.stride;
}

std::uint64_t rows_of_tile(const Rect &rect, bool fp32, std::uint32_t lanes) {
  const std::uint64_t panels = (std::uint64_t{rect.cols} + lanes - 1) / lanes;
  const std::uint64_t rows = panels * panel_rows_of_tile(rect) * (fp32 ? 2 : 1);
  return rows + rows % 2;
}

} // namespace gradweave::compiler
