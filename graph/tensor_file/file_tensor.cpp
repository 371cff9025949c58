#include "graph/tensor_file/file_tensor.hpp"

#include "graph/tensor_file/refuse.hpp"
#include "sw_models/config/config_error.hpp"
#include "sw_models/numerics/numerics.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace gradweave::graph {
namespace {

struct TypeFacts {
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array<TypeFacts, 11> kTypes{{{"bf16", 2},
                                            {"fp16", 2},
                                            {"fp32", 4},
                                            {"fp64", 8},
                                            {"int32", 4},
                                            {"int64", 8},
                                            {"uint8", 1},
                                            {"int8", 1},
                                            {"uint16", 2},
                                            {"int16", 2},
                                            {"bool", 1}}}; // in the order of FileType

template <typename T> T element(const std::string &bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
  return value;
}

float fp32_from_fp16(std::uint16_t half) {
  const std::uint32_t exponent = half >> 10U & 31U, fraction = half & 1023U;
  const float sign = (half >> 15U) != 0 ? -1.0F : 1.0F;
  if (exponent == 31)
    return fraction == 0 ? sign * std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(1024U + fraction), static_cast<int>(exponent) - 25);
}

float real_element(const FileTensor &tensor, std::size_t i) {
  switch (tensor.type) {
  case FileType::kBf16:
    return fp32_from_bf16(element<std::uint16_t>(tensor.bytes, i));
  case FileType::kFp16:
    return fp32_from_fp16(element<std::uint16_t>(tensor.bytes, i));
  case FileType::kFp64:
    return static_cast<float>(element<double>(tensor.bytes, i));
  default:
    return element<float>(tensor.bytes, i);
  }
}

std::int64_t whole_element(const FileTensor &tensor, std::size_t i) {
  switch (tensor.type) {
  case FileType::kInt32:
    return element<std::int32_t>(tensor.bytes, i);
  case FileType::kUint8:
    return element<std::uint8_t>(tensor.bytes, i);
  case FileType::kInt8:
    return element<std::int8_t>(tensor.bytes, i);
  case FileType::kUint16:
    return element<std::uint16_t>(tensor.bytes, i);
  case FileType::kInt16:
    return element<std::int16_t>(tensor.bytes, i);
  case FileType::kBool:
    return element<std::uint8_t>(tensor.bytes, i) != 0 ? 1 : 0;
  default:
    return element<std::int64_t>(tensor.bytes, i);
  }
}

/// Room for the elements, which the tensor's bytes have been checked to hold.
std::size_t count_of(const FileTensor &tensor) { return tensor.bytes.size() / bytes_of(tensor.type); }

} // namespace

void refuse_file(const std::string &where, const std::string &problem) {
  throw ConfigError(fmt::format("{}: {}", where, problem));
}

std::string_view to_string(FileType type) { return kTypes[static_cast<std::size_t>(type)].name; }
std::size_t bytes_of(FileType type) { return kTypes[static_cast<std::size_t>(type)].bytes; }

std::optional<std::uint64_t> TensorEntry::elements() const {
  std::uint64_t count = 1;
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / bytes_of(type);
  bool empty = false;
  for (const std::uint64_t size : shape) {
    empty = empty || size == 0;
    if (size != 0 && count > most / size) return std::nullopt;
    if (size != 0) count *= size;
  }
  return empty ? 0 : count;
}

std::string TensorEntry::shape_text() const { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::vector<float> floats_of(const FileTensor &tensor) {
  if (!is_real(tensor.type))
    throw std::invalid_argument(fmt::format("is of type {}; real numbers are wanted", to_string(tensor.type)));
  std::vector<float> values(count_of(tensor));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = real_element(tensor, i);
  return values;
}

std::vector<std::int32_t> indices_of(const FileTensor &tensor) {
  if (is_real(tensor.type))
    throw std::invalid_argument(fmt::format("is of type {}; whole numbers are wanted", to_string(tensor.type)));
  std::vector<std::int32_t> values(count_of(tensor));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t value = whole_element(tensor, i);
    if (value != static_cast<std::int32_t>(value))
      throw std::invalid_argument(fmt::format("has {} for its element {}, more than 32 bits hold", value, i));
    values[i] = static_cast<std::int32_t>(value);
  }
  return values;
}

FileTensor file_tensor(std::string name, FileType type, std::vector<std::uint64_t> shape,
                       const std::vector<float> &values) {
  FileTensor tensor;
  tensor.name = std::move(name);
  tensor.type = type;
  tensor.shape = std::move(shape);
  tensor.bytes.resize(values.size() * bytes_of(type));
  for (std::size_t i = 0; i < values.size(); ++i)
    if (type == FileType::kBf16) {
      const std::uint16_t half = bf16_from_fp32(values[i]);
      std::memcpy(tensor.bytes.data() + 2 * i, &half, 2);
    } else {
      std::memcpy(tensor.bytes.data() + 4 * i, &values[i], 4);
    }
  return tensor;
}

FileTensor file_tensor(std::string name, std::vector<std::uint64_t> shape, const std::vector<std::int32_t> &values) {
  FileTensor tensor;
  tensor.name = std::move(name);
  tensor.type = FileType::kInt64;
  tensor.shape = std::move(shape);
  tensor.bytes.resize(values.size() * sizeof(std::int64_t));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t value = values[i];
    std::memcpy(tensor.bytes.data() + i * sizeof value, &value, sizeof value);
  }
  return tensor;
}

} // namespace gradweave::graph
