#include "train/product_layout.hpp"

#include "compiler/ir/contraction.hpp"
#include "sw_models/numerics/numerics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace gradweave::runtime::train {
namespace {

/// Where the elements of a layer's matrix lie in the tensor.
class Places {
public:
  Places(const PlacedTensor &placed, const compiler::Layer &layer, std::uint32_t rows, std::uint32_t cols)
      : below_(compiler::form_of(placed.as).groups_below), batch_(placed.batch), transposed_(placed.transposed),
        cols_(cols), own_rows_(below_ ? rows / layer.groups : rows), own_cols_(below_ ? cols : cols / layer.groups) {}

  /// Calls visit(index in the matrix, index in the tensor) for all elements.
  template <typename Visit> void each(std::uint32_t rows, Visit visit) const {
    std::size_t at = 0;
    for (std::uint32_t row = 0; row < rows; ++row)
      for (std::uint32_t col = 0; col < cols_; ++col, ++at)
        visit(at, index(row, col, at));
  }

private:
  std::size_t index(std::uint32_t row, std::uint32_t col, std::size_t dense) const {
    if (!batch_ && !transposed_) return dense;
    const std::size_t group = below_ ? row / own_rows_ : col / own_cols_;
    const std::size_t i = below_ ? row % own_rows_ : row, j = below_ ? col : col % own_cols_;
    return group * own_rows_ * own_cols_ + (transposed_ ? j * own_rows_ + i : i * own_cols_ + j);
  }

  bool below_; ///< groups lie one below the other; else side by side
  bool batch_, transposed_;
  std::uint32_t cols_;
  std::size_t own_rows_, own_cols_; ///< of a group
};

std::uint16_t half(float value) { return static_cast<std::uint16_t>(bits_of_fp32(value) >> 16U); }

std::vector<std::uint16_t> halves(const std::vector<float> &values) {
  std::vector<std::uint16_t> bits(values.size());
  std::transform(values.begin(), values.end(), bits.begin(), half);
  return bits;
}

/// Elements of the tensor that the matrix is made from.
std::size_t elements_of(const PlacedTensor &placed, std::size_t matrix) {
  switch (placed.form) {
  case Form::kIm2col:
  case Form::kPhase:
    return placed.conv->image_size();
  case Form::kTransposedRows:
    return std::size_t{placed.conv->m()} * placed.conv->out_channels;
  case Form::kTransposedWeights:
    return std::size_t{placed.conv->groups} * placed.conv->k() * placed.conv->n();
  case Form::kMatrix:
  case Form::kWithoutOnes:
  case Form::kFirstRows:
  case Form::kOfOnes:
    break;
  }
  return matrix;
}

TransposedPhase phase_of(const PlacedTensor &placed) { return transposed_phases(*placed.conv).at(placed.phase); }

std::vector<std::uint16_t> of_convolution(const PlacedTensor &placed, const std::vector<float> &values) {
  const std::vector<std::uint16_t> from = halves(values);
  if (placed.form == Form::kIm2col) return im2col(*placed.conv, from.data());
  const TransposedPhase phase = phase_of(placed);
  return placed.form == Form::kTransposedRows ? im2col_transposed(*placed.conv, from.data(), phase)
                                              : transposed_weights(*placed.conv, from.data(), phase);
}

} // namespace

HostTensor to_matrix(const PlacedTensor &placed, const compiler::Layer &layer, const compiler::TensorBinding &binding,
                     const std::vector<float> &values) {
  HostTensor matrix(binding.tensor, false, binding.rows, binding.cols);
  const std::size_t wanted = elements_of(placed, matrix.size());
  if (values.size() != wanted)
    throw std::invalid_argument(fmt::format("layer {}: {} elements for {}, which takes {}", layer.name, values.size(),
                                            compiler::to_string(binding.tensor), wanted));
  if (placed.form != Form::kMatrix) {
    matrix.half = of_convolution(placed, values);
    return matrix;
  }
  Places(placed, layer, binding.rows, binding.cols).each(binding.rows, [&](std::size_t at, std::size_t from) {
    matrix.half[at] = half(values[from]);
  });
  return matrix;
}

void take_result(const PlacedTensor &placed, const compiler::Layer &layer, const HostTensor &matrix,
                 graph::Execution<graph::Contract> &values) {
  const auto element = [&matrix](std::size_t at) {
    return matrix.fp32 ? fp32_from_bits(matrix.full[at]) : fp32_from_bf16(matrix.half[at]);
  };
  std::vector<float> tensor;
  if (placed.form == Form::kPhase) {
    tensor = values.has(placed.id) ? values.take(placed.id).real : std::vector<float>(placed.conv->image_size());
    const std::vector<std::uint32_t> pixels = phase_of(placed).pixels;
    for (std::size_t row = 0; row < pixels.size(); ++row)
      for (std::size_t col = 0; col < matrix.cols; ++col)
        tensor[std::size_t{pixels[row]} * matrix.cols + col] = element(row * matrix.cols + col);
  } else {
    tensor.resize(matrix.size());
    Places(placed, layer, matrix.rows, matrix.cols).each(matrix.rows, [&](std::size_t at, std::size_t to) {
      tensor[to] = element(at);
    });
  }
  values.set(placed.id, std::move(tensor));
}

} // namespace gradweave::runtime::train
