// What a name of an ONNX file stands for, while its network is built.
#pragma once

#include "graph/build/builder.hpp"
#include "graph/onnx/file/literal.hpp"
#include "graph/onnx/fold/host_value.hpp"

#include <map>
#include <string>
#include <vector>

namespace gradweave::graph::onnx {

enum class Kind : std::uint8_t { kReal, kWhole, kTruth };
Kind kind_of(DataType type); ///< as what elements of the type are computed
std::string_view to_string(Kind kind);

using Dims = std::vector<std::int64_t>;
/// Dimensions of a value in the order in which a tensor has them.
using Order = std::vector<std::size_t>;

/// A value has the dimensions of the file; the tensor that holds it may have them in another order, so that images of a
/// network of convolutions are never turned. It is a tensor; or a literal, known here; or a blob, values of the file
/// that become a parameter where they are first read. A literal is a constant, unless it may be learned and a layer
/// reads it as its weights. Whole numbers that follow from the inputs are computed before a step, and a
/// tensor is made of them where an operator of the graph reads them.
struct Value {
  std::string name;
  Kind kind = Kind::kReal;
  Dims dims;
  TensorId tensor = kNone;
  Order order = {}; ///< of a tensor: its dimension i is the value's order[i]; of a blob likewise
  /// The last dimension is an image that was flattened: channels x pixels in the file, and pixels x channels in the
  /// tensor; 0: it is none.
  std::int64_t channels = 0;
  LiteralPtr literal = {};
  const Blob *blob = nullptr;
  bool learnable = false;      ///< of a literal: the file gives it as weights are given
  bool frozen = false;         ///< a buffer: not learned, whoever reads it
  HostValuePtr host = nullptr; ///< how it follows from the inputs; the tensor, if there is one, is an input

  std::size_t rank() const { return dims.size(); }
  std::int64_t back(std::size_t from_end = 0) const { return dims[dims.size() - 1 - from_end]; }
  bool known() const { return literal != nullptr; }
};

/// 0, 1, 2, ...
Order plain_order(std::size_t rank);
/// 0, 2, 3, ..., 1: channels last.
Order image_order(std::size_t rank);
/// `dims` in the order.
Dims ordered(const Dims &dims, const Order &order);
/// Where the order has a dimension.
std::size_t place_in(const Order &order, std::size_t axis);
/// Whether a tensor of `dims` has the same elements at the same places in both orders: dimensions of 1 lie nowhere.
bool same_elements(const Dims &dims, const Order &a, const Order &b);
/// Throws GraphError through the builder for a dimension that no tensor has.
Shape shape_of(Builder &build, const std::string &name, const Dims &dims);
std::vector<std::int64_t> numbers(const Shape &shape);

/// How a tensor's elements follow from a value's: each of its dimensions cut into some, all of these in another order,
/// and other dimensions for the result.
struct Arrangement {
  std::vector<Dims> cuts; ///< one for each dimension of the value
  Order order;            ///< of all that there are then
  Dims dims;              ///< of the tensor
};

/// Makes tensors of values, each in one arrangement once.
class Placement {
public:
  explicit Placement(Builder &build, bool values) : build_(build), values_(values) {}

  /// A tensor with the value's dimensions in the order.
  TensorId in_order(const Value &value, const Order &order);
  TensorId plain(const Value &value) { return in_order(value, plain_order(value.rank())); }

  /// A parameter, of a blob; a constant, of a literal; of a tensor, what it takes to arrange it so. `initial`: of a
  /// parameter in a fresh network; empty: the value is no layer's weight by itself.
  TensorId arranged(const Value &value, const Arrangement &arrangement, const std::string &initial);
  /// Index `at` of the first dimension, which stays as a 1: of a blob, a parameter of its own; of what is computed, a
  /// slice.
  Value part(const Value &value, std::size_t at);
  /// The value as running averages.
  TensorId state(const Value &value, const std::string &initial);

  /// The dimensions of a value that is read beside others of `rank` dimensions in `order`: broadcast, without leading
  /// 1s.
  TensorId beside(const Value &value, const Order &order);

private:
  /// The blob of a value, or one made of its literal, whose order is then plain.
  Value with_blob(const Value &value);
  TensorId constant(const Value &value, const Dims &dims, std::vector<double> elements);
  TensorId parameter(const Value &value, const Arrangement &arrangement, const std::string &initial);
  TensorId rearranged(const Value &value, const Arrangement &arrangement);
  TensorId turned(TensorId tensor, const Order &from, const Order &to);
  TensorId reshape(TensorId tensor, const Dims &dims, const std::string &name);
  std::vector<double> elements(const Value &value) const;

  Builder &build_;
  bool values_;
  std::map<std::string, TensorId> placed_;     ///< by name and arrangement
  std::map<std::string, TensorId> parameters_; ///< by name
  std::map<std::string, TensorId> states_;     ///< likewise
  std::map<std::string, Blob> parts_;          ///< of blobs, by name
  std::map<std::string, Blob> made_;           ///< of literals, by name
  std::map<std::pair<TensorId, Dims>, TensorId> turned_;
};

} // namespace gradweave::graph::onnx
