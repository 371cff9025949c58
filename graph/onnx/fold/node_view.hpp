// A node with what it takes to say what is wrong with it.
#pragma once

#include "graph/onnx/file/literal.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gradweave::graph::onnx {

class NodeView {
public:
  static constexpr std::int64_t kMostConstant = std::int64_t{1} << 22U;

  /// `most`: elements of what is computed of known values at once.
  NodeView(const Node &node, std::int64_t opset, const std::string &file, std::int64_t most = kMostConstant)
      : node_(node), opset_(opset), file_(file), most_(most) {}

  const Node &node() const { return node_; }
  std::int64_t opset() const { return opset_; }
  const std::string &file() const { return file_; }
  std::int64_t most() const { return most_; }
  bool is(std::string_view type) const { return node_.type == type; }
  /// "FILE: node 'NAME' (Type)", where an op comes from.
  std::string where() const;
  /// Throws GraphError "FILE: node 'NAME' (Type): message".
  [[noreturn]] void fail(std::string_view message) const;
  void require(bool condition, std::string_view message) const {
    if (!condition) fail(message);
  }

  bool has_input(std::size_t i) const { return i < node_.inputs.size() && !node_.inputs[i].empty(); }
  bool has_attribute(std::string_view name) const { return node_.attributes.find(name) != node_.attributes.end(); }

  // Attributes; where one is left out, `fallback`. Fail if one is of another kind.
  std::int64_t integer(std::string_view name, std::int64_t fallback) const;
  double real(std::string_view name, double fallback) const;
  std::string text(std::string_view name, std::string fallback) const;
  std::vector<std::string> texts(std::string_view name, std::vector<std::string> fallback) const;
  std::vector<std::int64_t> integers(std::string_view name, std::vector<std::int64_t> fallback) const;

  /// An axis from -rank to rank - 1; `what` names it.
  std::size_t axis(std::int64_t value, std::size_t rank, std::string_view what = "axis") const;
  /// Several, ascending; fails if one is named twice.
  std::vector<std::size_t> axes(const std::vector<std::int64_t> &values, std::size_t rank) const;

private:
  template <class T> T get(std::string_view name, T fallback, std::string_view kind) const;

  const Node &node_;
  std::int64_t opset_;
  const std::string &file_;
  std::int64_t most_;
};

/// The shape that both are repeated to, as numpy does; fails through the node.
std::vector<std::int64_t> broadcast_dims(const NodeView &node, const std::vector<std::int64_t> &a,
                                         const std::vector<std::int64_t> &b);

std::int64_t product_of(const std::vector<std::int64_t> &dims);

/// "[1, 3, 224, 224]"
std::string text_of(const std::vector<std::int64_t> &dims);

} // namespace gradweave::graph::onnx
