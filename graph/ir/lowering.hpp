// How an operator becomes tile tasks, as data.
#pragma once

#include "sw_models/numerics/convolution.hpp"

#include <cstdint>
#include <optional>

namespace gradweave::graph {

/// Which of the three products of a layer Y(M,N) = X(M,K) W(K,N), in each of its groups, an op computes (N8).
enum class ProductKind : std::uint8_t {
  kForward,        ///< Y = X W; inputs X, W
  kInputGradient,  ///< dX = dY W^T; inputs dY, W
  kWeightGradient, ///< dW = X^T dY; inputs X, dY
};

struct Product {
  ProductKind kind = ProductKind::kForward;
  std::uint32_t m = 0, k = 0, n = 0; ///< of one group
  std::uint32_t groups = 1;
  std::optional<Convolution> conv = {}; ///< what X was made from by im2col (N15)
  /// Where the operands lie. kColumns: groups side by side in X and Y, W below each other, as a layer has them; kBatch:
  /// one dense matrix a group for each of the three.
  enum class Grouping : std::uint8_t { kColumns, kBatch } grouping = Grouping::kColumns;
  bool transposed_a = false, transposed_b = false; ///< of kBatch: the matrices lie transposed in memory
};

/// How the elements of an op that is no product depend on those of its inputs: what a tile of its result needs, and
/// which reduction runs inside it.
enum class Walk : std::uint8_t {
  kElements, ///< element i of each result needs element i of each input (broadcast ones apart)
  kRows,     ///< a row of the result needs the row of the inputs: reductions over the last dimension, ascending
  kColumns,  ///< a column of the result needs the column: reductions over all but the last dimension, ascending
  kWindow,   ///< pixels of a window
  kMove,     ///< elements change places only
  kGather,   ///< rows chosen by an index
  kScatter,  ///< rows added where an index says, ascending
  kWhole,    ///< all results need all inputs
};

struct Lowering {
  std::optional<Product> product = {};
  Walk walk = Walk::kElements;
};

} // namespace gradweave::graph
