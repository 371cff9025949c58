#include "graph/onnx/file/literal.hpp"

#include "sw_models/numerics/numerics.hpp"

#include <cmath>
#include <cstring>

namespace gradweave::graph::onnx {
namespace {

template <class T> T element(const std::string &bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

double half(std::uint16_t bits) {
  const int exponent = bits >> 10U & 0x1f, fraction = bits & 0x3ff;
  const double size = exponent == 31  ? (fraction == 0 ? HUGE_VAL : std::nan(""))
                      : exponent == 0 ? std::ldexp(fraction, -24)
                                      : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000U) != 0 ? -size : size;
}

double real_element(const Blob &blob, std::size_t i) {
  switch (blob.type) {
  case DataType::kDouble:
    return element<double>(blob.bytes, i);
  case DataType::kFloat16:
    return half(element<std::uint16_t>(blob.bytes, i));
  case DataType::kBfloat16:
    return double{fp32_from_bf16(element<std::uint16_t>(blob.bytes, i))};
  default:
    return double{element<float>(blob.bytes, i)};
  }
}

std::int64_t whole_element(const Blob &blob, std::size_t i) {
  switch (blob.type) {
  case DataType::kUint8:
    return element<std::uint8_t>(blob.bytes, i);
  case DataType::kInt8:
    return element<std::int8_t>(blob.bytes, i);
  case DataType::kUint16:
    return element<std::uint16_t>(blob.bytes, i);
  case DataType::kInt16:
    return element<std::int16_t>(blob.bytes, i);
  case DataType::kUint32:
    return element<std::uint32_t>(blob.bytes, i);
  case DataType::kInt32:
    return element<std::int32_t>(blob.bytes, i);
  case DataType::kBool:
    return element<std::uint8_t>(blob.bytes, i) != 0 ? 1 : 0;
  default:
    return element<std::int64_t>(blob.bytes, i);
  }
}

} // namespace

Literal literal_of(const Blob &blob) {
  Literal literal{blob.type, blob.dims};
  const std::size_t count = blob.bytes.size() / bytes_of(blob.type);
  for (std::size_t i = 0; i < count; ++i)
    if (is_real(blob.type))
      literal.real.push_back(real_element(blob, i));
    else
      literal.whole.push_back(whole_element(blob, i));
  return literal;
}

Blob blob_of(const std::string &name, const Literal &literal) {
  Blob blob{name, DataType::kFloat, literal.dims, {}};
  const std::vector<float> values(literal.real.begin(), literal.real.end());
  blob.bytes.resize(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(blob.bytes.data(), values.data(), blob.bytes.size());
  return blob;
}

std::vector<float> floats_of(const Blob &blob) {
  if (blob.fill) return std::vector<float>(blob.elements(), static_cast<float>(*blob.fill));
  std::vector<float> values(blob.bytes.size() / bytes_of(blob.type));
  if (blob.type == DataType::kFloat && !values.empty())
    std::memcpy(values.data(), blob.bytes.data(), blob.bytes.size());
  else
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(real_element(blob, i));
  return values;
}

Literal whole_numbers(std::vector<std::int64_t> values) {
  Literal literal;
  literal.dims = {static_cast<std::int64_t>(values.size())};
  literal.whole = std::move(values);
  return literal;
}

double rounded_to(DataType type, double value) {
  return type == DataType::kDouble ? value : static_cast<double>(static_cast<float>(value));
}

} // namespace gradweave::graph::onnx
