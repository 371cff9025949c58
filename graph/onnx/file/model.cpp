#include "graph/onnx/file/model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace gradweave::graph::onnx {
namespace {

constexpr std::uint64_t kMostElements = std::uint64_t{1} << 40U;

struct TypeName {
  DataType type;
  std::string_view name;
  std::size_t bytes;
};

constexpr TypeName kTypes[] = {
    {DataType::kFloat, "float", 4},     {DataType::kUint8, "uint8", 1},      {DataType::kInt8, "int8", 1},
    {DataType::kUint16, "uint16", 2},   {DataType::kInt16, "int16", 2},      {DataType::kInt32, "int32", 4},
    {DataType::kInt64, "int64", 8},     {DataType::kString, "string", 0},    {DataType::kBool, "bool", 1},
    {DataType::kFloat16, "float16", 2}, {DataType::kDouble, "double", 8},    {DataType::kUint32, "uint32", 4},
    {DataType::kUint64, "uint64", 8},   {DataType::kBfloat16, "bfloat16", 2}};

} // namespace

std::string to_string(DataType type) {
  for (const TypeName &known : kTypes)
    if (known.type == type) return std::string(known.name);
  return fmt::format("type {}", static_cast<std::int32_t>(type));
}

std::size_t bytes_of(DataType type) {
  for (const TypeName &known : kTypes)
    if (known.type == type) return known.bytes;
  return 0;
}

bool is_real(DataType type) {
  return type == DataType::kFloat || type == DataType::kDouble || type == DataType::kFloat16 ||
         type == DataType::kBfloat16;
}

std::uint64_t Blob::elements() const {
  std::uint64_t product = 1;
  for (const std::int64_t dim : dims)
    product *= static_cast<std::uint64_t>(dim);
  return product;
}

std::string first_output(const Node &node) {
  const auto named =
      std::find_if(node.outputs.begin(), node.outputs.end(), [](const std::string &name) { return !name.empty(); });
  return named == node.outputs.end() ? std::string{} : *named;
}

std::string describe(const Node &node) {
  std::string name = node.name;
  if (name.empty()) name = first_output(node);
  const std::string type = node.domain.empty() ? node.type : node.domain + "." + node.type;
  return fmt::format("node '{}' ({})", name, type);
}

std::string problem_of(const Blob &blob, bool values) {
  const std::size_t bytes = bytes_of(blob.type);
  if (bytes == 0) return fmt::format("data_type is {}, which is not read", to_string(blob.type));
  std::uint64_t elements = 1;
  for (const std::int64_t dim : blob.dims) {
    if (dim < 0) return fmt::format("dims [{}] has one below 0", fmt::join(blob.dims, ", "));
    if (dim > 0 && elements > kMostElements / static_cast<std::uint64_t>(dim))
      return fmt::format("dims [{}] are more than 2^40 elements", fmt::join(blob.dims, ", "));
    elements *= static_cast<std::uint64_t>(dim);
  }
  const bool stripped = blob.bytes.empty() && elements > 0 && is_real(blob.type);
  if (stripped && !blob.external && values)
    return fmt::format("its values are missing, dims [{}] of {}: the file was stripped of them; export the model with "
                       "its weights",
                       fmt::join(blob.dims, ", "), to_string(blob.type));
  if (!blob.external && !stripped && blob.bytes.size() != elements * bytes)
    return fmt::format("its values are {} bytes, and dims [{}] of {} take {}", blob.bytes.size(),
                       fmt::join(blob.dims, ", "), to_string(blob.type), elements * bytes);
  return {};
}

} // namespace gradweave::graph::onnx
