// Whole numbers that follow from a network's inputs: masks, positions, columns of ids. They are computed on the host
// before a step.
#pragma once

#include "graph/onnx/fold/node_view.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gradweave::graph::onnx {

struct HostValue;
using HostValuePtr = std::shared_ptr<const HostValue>;

/// An input of the network, a literal, or what a node makes of such.
struct HostValue {
  DataType type = DataType::kInt64;
  std::vector<std::int64_t> dims = {};
  std::string input = {};  ///< the name of an input; empty: it is none
  LiteralPtr literal = {}; ///< null: it is none
  Node node = {};          ///< else
  std::size_t output = 0;  ///< of the node
  std::int64_t opset = 0;
  std::string file = {};
  std::vector<HostValuePtr> operands = {}; ///< of the node; null: left out
};

/// Values of inputs, by name.
using HostInputs = std::map<std::string, LiteralPtr>;

/// Output `output` of a node that is computed when the values of `operands` are. Its dimensions may not depend on
/// these values: null if they do, or if nothing computes nodes of the type.
HostValuePtr host_value_of(const NodeView &node, std::size_t output, std::vector<HostValuePtr> operands);

/// The value for these inputs. Throws GraphError naming the node for numbers that it cannot take.
Literal evaluate(const HostValue &value, const HostInputs &inputs);

/// Names of the inputs that the value depends on, ascending.
std::vector<std::string> inputs_of(const HostValue &value);

} // namespace gradweave::graph::onnx
