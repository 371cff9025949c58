// What can be computed when a network is read: shapes, axes, masks.
#pragma once

#include "graph/onnx/fold/node_view.hpp"

#include <optional>

namespace gradweave::graph::onnx {

/// Inputs of a node that are all known; null: left out.
struct FoldInputs {
  const NodeView &node;
  std::vector<const Literal *> literals;
  std::size_t output = 0; ///< of the node, that is asked for
  bool sample = false;    ///< only the dimensions of the result count: no value is refused

  bool has(std::size_t i) const { return i < literals.size() && literals[i] != nullptr; }
  /// Fails if it is missing.
  const Literal &at(std::size_t i) const;
  /// Whole numbers that an input has or, in older opsets, an attribute; `fallback` if neither is there.
  std::vector<std::int64_t> list(std::size_t input, std::string_view attribute,
                                 const std::vector<std::int64_t> &fallback) const;
};

using Folder = Literal (*)(const FoldInputs &);

/// Null if nodes of the type are not computed here.
Folder find_folder(std::string_view type);

/// Elements of a result; fails if they are more than the node's most(), and for a dimension below 0.
std::int64_t checked_elements(const NodeView &node, const std::vector<std::int64_t> &dims);

/// The number of which ConstantOfShape is full.
Literal fill_of(const NodeView &node);

struct NamedFolder {
  std::string_view type;
  Folder fold;
};
// The functions of find_folder(), by family.
const std::vector<NamedFolder> &arithmetic_folders();
const std::vector<NamedFolder> &index_folders();
const std::vector<NamedFolder> &move_folders();
const std::vector<NamedFolder> &reduction_folders();

/// The literal with an element for each of `from`, which says where it comes from.
Literal taken(const Literal &x, std::vector<std::int64_t> dims, const std::vector<std::size_t> &from);

/// Steps from element to element of each dimension, row-major.
std::vector<std::int64_t> steps_of(const std::vector<std::int64_t> &dims);

/// For each element of `dims`, row-major, the sum of index times step; `steps` of 0 repeat.
std::vector<std::size_t> places(const std::vector<std::int64_t> &dims, const std::vector<std::int64_t> &steps,
                                std::int64_t first = 0);

/// Steps in a tensor of `dims` that is repeated to the larger rank of `to`.
std::vector<std::int64_t> repeated_steps(const std::vector<std::int64_t> &dims, const std::vector<std::int64_t> &to);

/// The dimensions that Reshape's second input asks for; fails through the node.
std::vector<std::int64_t> reshaped(const NodeView &node, const std::vector<std::int64_t> &dims,
                                   const std::vector<std::int64_t> &asked, bool zero_is_zero);

/// Of an axis of Slice: the index that it begins with, steps, and how many there are.
struct SliceAxis {
  std::int64_t start = 0, step = 1, count = 0;
};
/// One for each axis of `dims`. `starts` and so on as Slice has them; fails through the node.
std::vector<SliceAxis> sliced(const NodeView &node, const std::vector<std::int64_t> &dims,
                              const std::vector<std::int64_t> &starts, const std::vector<std::int64_t> &ends,
                              const std::vector<std::int64_t> &axes, const std::vector<std::int64_t> &steps);

/// `dims` with dimensions of 1 at `axes` of the result.
std::vector<std::int64_t> unsqueezed(const NodeView &node, const std::vector<std::int64_t> &dims,
                                     const std::vector<std::int64_t> &axes);
/// `dims` without `axes`, ascending, which are 1; fails through the node. None named: all that are 1.
std::vector<std::size_t> squeezed_axes(const NodeView &node, const std::vector<std::int64_t> &dims,
                                       const std::vector<std::int64_t> &axes);

} // namespace gradweave::graph::onnx
