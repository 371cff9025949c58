// Shapes of tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace gradweave::graph {

/// Dimensions, outermost first; a tensor is dense and row-major, so the last one is contiguous. No dimensions: a
/// scalar.
class Shape {
public:
  static constexpr std::size_t kMaxRank = 6;

  Shape() = default;
  Shape(std::initializer_list<std::uint32_t> dims) : dims_(dims) {}
  explicit Shape(std::vector<std::uint32_t> dims) : dims_(std::move(dims)) {}

  std::size_t rank() const { return dims_.size(); }
  std::uint32_t operator[](std::size_t axis) const { return dims_[axis]; }
  /// From the end: back(0) is the last dimension.
  std::uint32_t back(std::size_t from_end = 0) const { return dims_[dims_.size() - 1 - from_end]; }
  const std::vector<std::uint32_t> &dims() const { return dims_; }
  void set(std::size_t axis, std::uint32_t dim) { dims_[axis] = dim; }

  /// Product of the dimensions in [first, last); 1 if there are none.
  std::size_t count(std::size_t first, std::size_t last) const {
    std::size_t product = 1;
    for (std::size_t axis = first; axis < last; ++axis)
      product *= dims_[axis];
    return product;
  }
  /// Elements of the tensor.
  std::size_t elements() const { return count(0, rank()); }
  /// All but the last dimension as rows; 1 for a scalar.
  std::size_t rows() const { return rank() == 0 ? 1 : count(0, rank() - 1); }
  /// The last dimension; 1 for a scalar.
  std::uint32_t cols() const { return rank() == 0 ? 1 : back(); }

  bool operator==(const Shape &o) const { return dims_ == o.dims_; }
  bool operator!=(const Shape &o) const { return dims_ != o.dims_; }

  /// "[4, 128, 312]"
  std::string text() const;

private:
  std::vector<std::uint32_t> dims_;
};

} // namespace gradweave::graph
