// What an operator is: one entry of a table, from which checks, shapes, gradients, golden execution, lowering and
// counts of all its instances follow. An operator's entry stands in a file of its own in graph/operators.
#pragma once

#include "graph/ir/graph.hpp"
#include "graph/ir/lowering.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::graph {

class Builder;
class Derivation;
class Inference;
template <class A> class Kernel;
struct Contract;
struct Reference;
struct Recorded;

/// What an input's edge has to be.
enum class Takes : std::uint8_t {
  kReal,    ///< fp32 or bf16, whichever its producer gives
  kSum,     ///< likewise, but worth keeping in fp32: a producer that can gives fp32
  kOperand, ///< bf16, the operand of a product; a Cast is put in where the edge is fp32
  kFp32,    ///< fp32: what is learned, and what belongs to that
  kIndex,   ///< int32
};

/// What an output's edge is, unless the builder asked for a type.
enum class Gives : std::uint8_t {
  kActivation, ///< bf16
  kSum,        ///< fp32 if a consumer takes a sum, else bf16
  kFp32,
  kIndex,   ///< int32
  kAsInput, ///< as the inputs are; fp32 if they differ. Wanted as its consumers want it
};

struct InputSpec {
  std::string_view name;
  Takes takes = Takes::kReal;
  bool optional = false;
};

struct OutputSpec {
  std::string_view name;
  Gives gives = Gives::kActivation;
  bool optional = false; ///< may be left out if nobody reads it
};

struct AttributeSpec {
  std::string_view name;
  AttributeKind kind = AttributeKind::kInteger;
  std::optional<Attribute> fallback = {}; ///< nothing: the attribute has to be given
  std::string_view summary = {};          ///< for people: what it means, and its unit
  /// A whole number that each op of the operator in a network has of its own. Left out: one more than any op before
  /// has.
  bool own = false;
};

/// An op with what it is connected to, for functions of an operator that only look.
struct OpView {
  const Graph &graph;
  const Op &op;

  const Tensor &input(std::size_t i) const { return graph.tensors[op.inputs[i]]; }
  const Tensor &output(std::size_t o) const { return graph.tensors[op.outputs[o]]; }
  bool has_input(std::size_t i) const { return i < op.inputs.size() && op.inputs[i] != kNone; }
};

struct Operator {
  std::string_view name;    ///< ONNX's, where ONNX has it
  std::string_view summary; ///< for people: what it computes, as a clause
  std::vector<InputSpec> inputs;
  bool variadic = false; ///< any number of inputs, at least one, like the last one
  std::vector<OutputSpec> outputs;
  bool splits = false; ///< any number of outputs, at least one, like the last one
  std::vector<AttributeSpec> attributes = {};
  /// Passes put it into training steps, and networks have none: optimizers.
  bool of_step = false;

  /// Checks shapes, types and attributes, and sets the shapes of all outputs. Fails by Inference::fail().
  void (*infer)(Inference &op) = nullptr;
  /// Emits the ops that compute the gradients of the inputs that want one. None: no gradient passes.
  void (*derive)(Derivation &op) = nullptr;
  /// Golden execution under the numeric contract, and the same in fp64: two instances of one template.
  void (*contract)(Kernel<Contract> &op) = nullptr;
  void (*reference)(Kernel<Reference> &op) = nullptr;
  /// The same template once more: what the vector unit runs for it (graph/golden/recorded_kernel.hpp). None: a product,
  /// or it runs on the host.
  void (*recorded)(Kernel<Recorded> &op) = nullptr;
  /// Arithmetic: multiply-adds of a product, else fp32 operations of the vector kind.
  double (*operations)(const OpView &op) = nullptr;
  /// How tiles of it are made; none: element-wise over its first output.
  Lowering (*lower)(const OpView &op) = nullptr;
};

/// Operators by name.
class OperatorSet {
public:
  /// Throws GraphDefect if two have one name or an entry lacks what every operator has.
  explicit OperatorSet(std::vector<Operator> operators);
  /// Null if there is none.
  const Operator *find(std::string_view name) const;
  /// Ascending by name.
  const std::vector<Operator> &all() const { return operators_; }

private:
  std::vector<Operator> operators_;
};

} // namespace gradweave::graph
