#include "runtime/data/golden_layer.hpp"

#include "sw_models/numerics/convolution.hpp"
#include "sw_models/numerics/golden.hpp"
#include "sw_models/numerics/numerics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace gradweave::runtime {

using compiler::Tensor;

const HostTensor &Operands::operator[](Tensor name) const {
  for (const auto &[candidate, tensor] : tensors_)
    if (candidate == name) return *tensor;
  throw std::out_of_range(fmt::format("tensor {} is not bound", compiler::to_string(name)));
}

namespace {

using golden::MatrixView;

/// A group of a matrix that lies in columns beside those of the others.
MatrixView beside(const HostTensor &tensor, std::uint32_t group, std::uint32_t cols) {
  return {tensor.half.data() + std::size_t{group} * cols, tensor.cols, 1};
}

/// A group of a matrix that lies in rows below those of the others.
MatrixView below(const HostTensor &tensor, std::uint32_t group, std::uint32_t rows) {
  return {tensor.half.data() + std::size_t{group} * rows * tensor.cols, tensor.cols, 1};
}

/// Puts a group's rows x cols product at `at` of a matrix with `pitch` columns.
void place(const std::vector<float> &product, std::size_t cols, std::size_t at, std::size_t pitch, HostTensor &result) {
  for (auto row = product.begin(); row != product.end(); row += static_cast<std::ptrdiff_t>(cols), at += pitch)
    if (result.fp32)
      std::transform(row, row + static_cast<std::ptrdiff_t>(cols), &result.full[at], bits_of_fp32);
    else
      std::transform(row, row + static_cast<std::ptrdiff_t>(cols), &result.half[at], bf16_from_fp32);
}

} // namespace

HostTensor golden_result(Tensor tensor, const Operands &inputs, std::uint32_t groups,
                         const compiler::ReductionPlans &plans, bool fp32) {
  const auto product = [&](MatrixView a, MatrixView b, std::size_t m, std::size_t n, std::size_t k) {
    return golden::planned_product(a, b, m, n, k, plans.of(tensor));
  };
  switch (tensor) {
  case Tensor::kY: {
    const HostTensor &x = inputs[Tensor::kX];
    const HostTensor &w = inputs[Tensor::kW];
    const std::uint32_t k = w.rows / groups;
    HostTensor y(tensor, fp32, x.rows, groups * w.cols);
    for (std::uint32_t g = 0; g < groups; ++g)
      place(product(beside(x, g, k), below(w, g, k), x.rows, w.cols, k), w.cols, std::size_t{g} * w.cols, y.cols, y);
    return y;
  }
  case Tensor::kDX: {
    const HostTensor &dy = inputs[Tensor::kDY];
    const HostTensor &w = inputs[Tensor::kW];
    const std::uint32_t k = w.rows / groups;
    HostTensor dx(tensor, fp32, dy.rows, w.rows);
    for (std::uint32_t g = 0; g < groups; ++g)
      place(product(beside(dy, g, w.cols), below(w, g, k).transposed(), dy.rows, k, w.cols), k, std::size_t{g} * k,
            dx.cols, dx);
    return dx;
  }
  case Tensor::kDW: {
    const HostTensor &x = inputs[Tensor::kX];
    const HostTensor &dy = inputs[Tensor::kDY];
    const std::uint32_t k = x.cols / groups;
    const std::uint32_t n = dy.cols / groups;
    HostTensor dw(tensor, true, x.cols, n);
    for (std::uint32_t g = 0; g < groups; ++g)
      place(product(beside(x, g, k).transposed(), beside(dy, g, n), k, n, x.rows), n, std::size_t{g} * k * n, n, dw);
    return dw;
  }
  default:
    throw std::invalid_argument(fmt::format("{} is an input, not a result", compiler::to_string(tensor)));
  }
}

namespace {

/// The columns of a matrix of `groups` x `order.size()` columns, each group's in the order.
std::vector<std::uint16_t> reordered_cols(const std::vector<std::uint16_t> &matrix, std::uint32_t groups,
                                          const std::vector<std::uint32_t> &order) {
  std::vector<std::uint16_t> result;
  result.reserve(matrix.size());
  for (std::size_t row = 0; row < matrix.size(); row += groups * order.size())
    for (std::uint32_t g = 0; g < groups; ++g)
      for (const std::uint32_t at : order)
        result.push_back(matrix[row + g * order.size() + at]);
  return result;
}

/// The rows of `groups` matrices one below the other, of order.size() rows each, in the order.
std::vector<std::uint16_t> reordered_rows(const std::vector<std::uint16_t> &matrix, std::uint32_t groups,
                                          std::uint32_t cols, const std::vector<std::uint32_t> &order) {
  std::vector<std::uint16_t> result;
  result.reserve(matrix.size());
  for (std::uint32_t g = 0; g < groups; ++g)
    for (const std::uint32_t at : order) {
      const auto row = matrix.begin() + static_cast<std::ptrdiff_t>((g * order.size() + at) * cols);
      result.insert(result.end(), row, row + cols);
    }
  return result;
}

void copy_row(const HostTensor &from, std::size_t row, HostTensor &to, std::size_t to_row) {
  const auto copy = [&](const auto &source, auto &target) {
    std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(row * from.cols), from.cols,
                target.begin() + static_cast<std::ptrdiff_t>(to_row * to.cols));
  };
  if (from.fp32)
    copy(from.full, to.full);
  else
    copy(from.half, to.half);
}

} // namespace

HostTensor golden_image_result(Tensor tensor, const compiler::Layer &layer, const Operands &inputs,
                               const compiler::ReductionPlans &plans) {
  const Convolution &conv = *layer.conv;
  if (tensor != Tensor::kDX) {
    HostTensor x(Tensor::kX, false, layer.m, layer.groups * layer.k);
    const std::vector<std::uint16_t> &stored = inputs[Tensor::kX].half;
    x.half = im2col(conv, layer.packed ? unpacked_image(conv, stored.data()).data() : stored.data());
    Operands matrices;
    matrices.add(Tensor::kX, x);
    HostTensor w;
    if (tensor == Tensor::kY) {
      const std::uint32_t channels = conv.group_channels();
      const std::vector<std::uint32_t> order = term_order(layer.k / channels, channels, plans.block_of(tensor));
      x.half = reordered_cols(x.half, layer.groups, order);
      w = inputs[Tensor::kW];
      w.half = reordered_rows(w.half, layer.groups, w.cols, order);
      matrices.add(Tensor::kW, w);
    } else {
      matrices.add(Tensor::kDY, inputs[Tensor::kDY]);
    }
    return golden_result(tensor, matrices, layer.groups, plans, layer.y_fp32);
  }
  const std::uint32_t channels = conv.group_channels(), pixels = conv.batch * conv.height * conv.width;
  HostTensor dx(tensor, layer.dx_fp32, pixels, conv.channels);
  for (const TransposedPhase &phase : transposed_phases(conv)) {
    const auto rows = static_cast<std::uint32_t>(phase.pixels.size()),
               taps = static_cast<std::uint32_t>(phase.taps.size());
    const std::uint32_t terms = taps * layer.n;
    HostTensor dy(Tensor::kDY, false, rows, layer.groups * terms), w(Tensor::kW, false, layer.groups * terms, channels);
    const std::vector<std::uint32_t> order = term_order(taps, layer.n, plans.block_of(tensor));
    dy.half = reordered_cols(im2col_transposed(conv, inputs[Tensor::kDY].half.data(), phase), layer.groups, order);
    w.half =
        reordered_rows(transposed_weights(conv, inputs[Tensor::kW].half.data(), phase), layer.groups, channels, order);
    HostTensor part(tensor, layer.dx_fp32, rows, conv.channels);
    for (std::uint32_t g = 0; g < layer.groups; ++g)
      place(golden::planned_product(beside(dy, g, terms), below(w, g, terms), rows, channels, terms, plans.of(tensor)),
            channels, std::size_t{g} * channels, part.cols, part);
    for (std::size_t row = 0; row < rows; ++row)
      copy_row(part, row, dx, phase.pixels[row]);
  }
  return dx;
}

} // namespace gradweave::runtime
