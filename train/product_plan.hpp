// Which products of a step's graph run together in one command stream.
#pragma once

#include "compiler/request/names.hpp"
#include "graph/ir/operator.hpp"
#include "graph/network.hpp"
#include "sw_models/config/machine.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace gradweave::runtime::train {

/// How a layer's matrix follows from a tensor of the graph.
enum class Form : std::uint8_t {
  kMatrix,            ///< it is the tensor; also of images that are read as they lie
  kIm2col,            ///< X of the image (N15)
  kTransposedRows,    ///< im2col of dY for the pixels of a phase of dX (N24)
  kTransposedWeights, ///< W for the product with these
  kPhase,             ///< of a result, dX: the pixels of a phase
  kWithoutOnes,       ///< of a result, dW: the matrix but for the rows of ones that X has (PlacedTensor::ones)
  kFirstRows,         ///< of a result, dW: the matrix but for its last rows, which belong to nothing
  kOfOnes,            ///< of the same, a row of these: the sums of dY's columns, a bias's gradient
};

/// A tensor of the graph as an operand or the result of a layer's product: what it is in the layer, and how its
/// elements lie in the graph.
struct PlacedTensor {
  graph::TensorId id = graph::kNone;
  compiler::Tensor as{}; ///< in the layer
  /// Of a layer of groups: each has a matrix of its own, one behind the other; else they lie as the layer has them.
  bool batch = false;
  bool transposed = false; ///< each matrix
  Form form = Form::kMatrix;
  std::optional<Convolution> conv = std::nullopt; ///< of the forms that a convolution has
  std::uint32_t phase = 0;                        ///< of transposed_phases()
  bool ones = false;                              ///< of kIm2col: each row has a 1 behind its elements
};

/// A pass of one layer: one product, the two that share dY, or a phase of one; dW maybe with the sums of dY's columns.
struct ProductPass {
  std::vector<graph::OpId> ops; ///< ascending; all their operands are there before the last one
  bool begins = true;           ///< the ops; not so of phases but the first
  bool completes = true;        ///< not so of phases but the last
  compiler::Layer layer;
  compiler::Pass pass = compiler::Pass::kForward;
  std::vector<PlacedTensor> inputs, results;

  graph::OpId when() const { return ops.back(); } ///< in the order of the graph
  /// The tensor of the graph that is an operand or a result of the layer. Throws std::logic_error if there is none.
  const PlacedTensor &placed(compiler::Tensor as) const;
};

/// A product that no stream computes, and why.
struct HostProduct {
  graph::OpId op = graph::kNone;
  std::string reason;
};

struct ProductPlan {
  std::vector<ProductPass> passes; ///< ascending by when(); the phases of an op one behind another
  std::vector<HostProduct> host;

  /// Of each of so many ops: 1 + index of its last pass; 0: the host's.
  std::vector<std::size_t> pass_of_ops(std::size_t ops) const;
  /// Passes to be run when the op's turn has come, ascending.
  std::vector<std::size_t> due(graph::OpId op) const;
};

/// The machine that runs the product of an op.
using MachineOf = std::function<const Machine &(graph::OpId)>;

/// When a convolution's products read images as they lie.
enum class ReadImages : std::uint8_t {
  kNever,      ///< all go by im2col
  kWhereWorth, ///< where that has the smaller bound
  kWherePossible
};

struct PlanOptions {
  ReadImages images = ReadImages::kWhereWorth;
  std::function<bool(graph::OpId)> elsewhere = {}; ///< products that neither a pass nor the host computes; none: empty
};

/// All products of the graph. A gradient of an input and one of weights become one backward pass if they share dY and
/// belong to one product; one of an input alone is the product dY W^T. A gradient of weights that continues a sum is
/// the host's: streams begin sums with +0.
///
/// A convolution's products read images where that is possible and, unless the options say otherwise, has the smaller
/// bound on the op's machine (compiler/cost/image_choice.hpp), their channels not in blocks (N25). The others go by
/// im2col: Y and dW by that of the image, dX, in a pass for each phase, by that of dY. No bit depends on what is chosen
/// (N23, N24).
ProductPlan plan_products(const graph::Graph &graph, const MachineOf &machine, const PlanOptions &options = {});
/// The same where one machine runs all.
ProductPlan plan_products(const graph::Graph &graph, const Machine &machine, const PlanOptions &options = {});

} // namespace gradweave::runtime::train
