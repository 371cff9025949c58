// Tensors whose elements are known when a network is read: shapes, axes, masks, numbers.
#pragma once

#include "graph/onnx/file/model.hpp"

#include <memory>

namespace gradweave::graph::onnx {

struct Literal {
  DataType type = DataType::kInt64;
  std::vector<std::int64_t> dims = {};
  std::vector<std::int64_t> whole = {}; ///< elements of a type that is not real; of bool 0 and 1
  std::vector<double> real = {};        ///< elements of a real type

  bool is_real() const { return onnx::is_real(type); }
  std::size_t size() const { return is_real() ? real.size() : whole.size(); }
  /// An element, whatever the type.
  double number(std::size_t i) const { return is_real() ? real[i] : static_cast<double>(whole[i]); }
};

using LiteralPtr = std::shared_ptr<const Literal>;

/// Of a blob whose bytes are there.
Literal literal_of(const Blob &blob);
/// Of fp32, from real numbers.
Blob blob_of(const std::string &name, const Literal &literal);
/// The same as fp32, of a real one.
std::vector<float> floats_of(const Blob &blob);

/// One dimension.
Literal whole_numbers(std::vector<std::int64_t> values);

/// Rounds a number to what a real type holds: all are taken as fp32 but double.
double rounded_to(DataType type, double value);

} // namespace gradweave::graph::onnx
