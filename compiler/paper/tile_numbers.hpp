// Numbers for the tiles that a layer's products touch, and what each product does with them.
#pragma once

#include "compiler/ir/reductions.hpp"
#include "compiler/lower/order.hpp"

namespace gradweave::compiler::paper {

/// The tiles of a product.
struct ProductTiles {
  std::uint32_t a = 0;   ///< operand; of an ADD the sum that is added and then done with
  std::uint32_t b = 0;   ///< operand
  std::uint32_t sum = 0; ///< result, numbered apart from operands
  bool first = false;    ///< begins its sum
  bool last = false;     ///< completes the result
  bool add = false;
};

/// Next product that uses the same tile; kNever: none.
struct NextUses {
  static constexpr std::uint32_t kNever = ~std::uint32_t{0};
  std::uint32_t a = kNever, b = kNever, sum = kNever;
};

/// Numbers the tiles of a pass whose phases cut the layer alike: a tile begins where one of the products does.
class TileNumbers {
public:
  TileNumbers(const std::vector<TileProduct> &products, const Layer &layer, const ReductionPlans &plans);

  std::uint32_t operands() const { return operands_; }
  std::uint32_t sums() const { return operands_ * parts_; }
  /// One entry a product.
  const std::vector<ProductTiles> &products() const { return tiles_; }
  /// For each product, when its tiles are needed next.
  std::vector<NextUses> next_uses() const;
  /// Sums that are begun and not complete, at most at a time.
  std::uint32_t most_open_sums() const;

private:
  /// Numbers of the tiles along a dimension, by first index.
  class Axis {
  public:
    explicit Axis(std::uint32_t extent) : number_(extent, 0) {}
    void mark(std::uint32_t first) { number_[first] = 1; }
    void count();
    std::uint32_t size() const { return size_; }
    std::uint32_t operator[](std::uint32_t first) const { return number_[first]; }

  private:
    std::vector<std::uint32_t> number_;
    std::uint32_t size_ = 0;
  };

  ProductTiles of(const TileProduct &p) const;
  /// Number of the tile of a tensor that the product touches.
  std::uint32_t operand(Tensor tensor, const TileProduct &p) const;

  const Layer &layer_;
  const ReductionPlans &plans_;
  Axis m_, k_, n_;
  std::uint32_t operands_ = 0; ///< X, W and dY or dX, dW and Y of all groups
  std::uint32_t parts_ = 1;    ///< of a reduction, at most
  std::vector<ProductTiles> tiles_;
};

} // namespace gradweave::compiler::paper
