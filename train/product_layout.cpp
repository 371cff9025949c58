#include "train/product_layout.hpp"

#include "compiler/ir/contraction.hpp"
#include "sw_models/numerics/numerics.hpp"

#include <fmt/format.h>

#include <stdexcept>

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

} // namespace

HostTensor to_matrix(const PlacedTensor &placed, const compiler::Layer &layer, const compiler::TensorBinding &binding,
                     const std::vector<float> &values) {
  HostTensor matrix(binding.tensor, false, binding.rows, binding.cols);
  const std::size_t wanted = placed.image ? placed.image->image_size() : matrix.size();
  if (values.size() != wanted)
    throw std::invalid_argument(fmt::format("layer {}: {} elements for {}, which takes {}", layer.name, values.size(),
                                            compiler::to_string(binding.tensor), wanted));
  if (placed.image) {
    std::vector<std::uint16_t> image(values.size());
    for (std::size_t i = 0; i < image.size(); ++i)
      image[i] = half(values[i]);
    matrix.half = im2col(*placed.image, image.data());
    return matrix;
  }
  Places(placed, layer, binding.rows, binding.cols).each(binding.rows, [&](std::size_t at, std::size_t from) {
    matrix.half[at] = half(values[from]);
  });
  return matrix;
}

std::vector<float> from_matrix(const PlacedTensor &placed, const compiler::Layer &layer, const HostTensor &matrix) {
  if (placed.image) {
    const std::vector<std::uint16_t> image = col2im(*placed.image, matrix.half.data());
    std::vector<float> values(image.size());
    for (std::size_t i = 0; i < image.size(); ++i)
      values[i] = fp32_from_bf16(image[i]);
    return values;
  }
  std::vector<float> values(matrix.size());
  Places(placed, layer, matrix.rows, matrix.cols).each(matrix.rows, [&](std::size_t at, std::size_t to) {
    values[to] = matrix.fp32 ? fp32_from_bits(matrix.full[at]) : fp32_from_bf16(matrix.half[at]);
  });
  return values;
}

} // namespace gradweave::runtime::train
