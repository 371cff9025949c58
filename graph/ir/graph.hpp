// A network as a graph: tensors, and the operators between them.
#pragma once

#include "graph/ir/attributes.hpp"
#include "graph/ir/input_function.hpp"
#include "graph/ir/origin.hpp"
#include "graph/ir/shape.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::graph {

struct Operator; // graph/ir/operator.hpp

using TensorId = std::uint32_t; ///< index into Graph::tensors
using OpId = std::uint32_t;     ///< index into Graph::ops
inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

/// Of a tensor's elements. Rounding belongs to the edge (N21): whoever computes a tensor computes in fp32 and rounds
/// once, to this type.
enum class ElementType : std::uint8_t { kFp32, kBf16, kInt32 };
std::string_view to_string(ElementType type); ///< "fp32", "bf16", "int32"
std::size_t bytes_of(ElementType type);
inline bool is_real(ElementType type) { return type != ElementType::kInt32; }

/// What a tensor is for.
enum class Role : std::uint8_t {
  kInput,      ///< of a step: data, labels, constants of the step
  kParameter,  ///< learned; lives from step to step
  kState,      ///< lives from step to step, not learned: moments of an optimizer, running averages
  kConstant,   ///< its values are part of the graph
  kActivation, ///< computed on the way to the loss
  kGradient,   ///< computed on the way back
  kUpdated,    ///< the next value of a parameter or state
};
std::string_view to_string(Role role);

struct Tensor {
  std::string name; ///< unique in the graph, not empty
  ElementType type = ElementType::kFp32;
  Shape shape;
  Role role = Role::kActivation;
  OpId producer = kNone;  ///< of a tensor that is computed
  std::string where = {}; ///< "file:line" that it comes from; may be empty
  /// Of a constant: all its elements, or one that stands for all.
  std::vector<double> values = {};
  /// Of a parameter or state: how a fresh network fills it ("normal:0.02", "zeros", ...; graph/golden/initialise.hpp).
  std::string initial = {};
  bool frozen = false;     ///< a parameter that is not learned
  bool fixed_type = false; ///< the type was asked for, and no pass changes it
  bool head = false;       ///< a parameter of what a loss adds to the published network; counted apart
  /// Lists of layers begin here: what lies behind asks for no dX there. A training step goes on.
  bool boundary = false;
  /// Of what came from another framework's file: how it lies there, and its values. None: as here.
  std::shared_ptr<const Origin> origin = {};
  /// Of an input that follows from others: how. None: it is fed.
  std::shared_ptr<const InputFunction> function = {};
  /// Of an input of whole numbers: 0 up to this, which it does not reach, as its type in the file says. 0: nothing
  /// does.
  std::uint32_t below = 0;

  bool computed() const { return producer != kNone; }
};

/// An operator's instance.
struct Op {
  const Operator *type = nullptr;
  std::string name;              ///< unique in the graph, not empty
  std::vector<TensorId> inputs;  ///< kNone: an optional one that is left out
  std::vector<TensorId> outputs; ///< kNone: likewise
  Attributes attributes;         ///< all that the operator has
  std::string where = {};        ///< "file:line" that it comes from; may be empty
  /// Computed again for the backward pass rather than kept from the forward one.
  bool recompute = false;
};

/// The next value of what lives from step to step.
struct Update {
  TensorId tensor = kNone; ///< a parameter or state
  TensorId next = kNone;   ///< of the same shape and type
};

/// For each tensor of a graph, the ops that read it, ascending, each once.
using Consumers = std::vector<std::vector<OpId>>;

/// In single assignment: each tensor has at most one op that computes it, and ops stand in an order in which they can
/// run.
struct Graph {
  std::string name;
  std::string description = {};                ///< a line for people; may be empty
  std::string source = {};                     ///< where the shapes were published; may be empty
  std::optional<std::uint64_t> published = {}; ///< parameters that the published network has, without heads
  std::vector<std::string> notes = {};         ///< what its reader decided, a line each for people
  std::vector<Tensor> tensors;
  std::vector<Op> ops;
  std::vector<TensorId> results; ///< what a run is for: logits, loss; besides updates and what a caller keeps
  std::vector<Update> updates;
  TensorId loss = kNone;

  /// kNone if there is none of the name.
  TensorId find(std::string_view tensor) const;
  /// For each tensor, the ops that read it. A table of the whole graph: who asks often makes it once.
  Consumers consumers() const;
};

/// Elements of all parameters of the graph; those of heads.
std::uint64_t count_parameters(const Graph &graph);
std::uint64_t count_head_parameters(const Graph &graph);

} // namespace gradweave::graph
