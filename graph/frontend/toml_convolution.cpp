#include "graph/frontend/toml_convolution.hpp"

#include <array>

namespace gradweave::compiler {
namespace {

/// A whole number of a field, at least `least`.
std::uint32_t number(const TableReader &reader, std::string_view key, const toml::node &node, std::int64_t least,
                     std::string_view form) {
  const auto value = node.value_exact<std::int64_t>();
  if (!value) fail(reader.file(), node.source().begin.line, fmt::format("'{}' in conv must be {}", key, form));
  if (*value < least || *value > kMaxDimension)
    fail(
        reader.file(), node.source().begin.line,
        fmt::format("conv's {} = {} is out of range; give {}, from {} to {}", key, *value, form, least, kMaxDimension));
  return static_cast<std::uint32_t>(*value);
}

/// The numbers of a field that is one number for all or a list of as many as one of `lengths` says; `fallback` for all
/// if it is missing.
std::vector<std::uint32_t> numbers(const TableReader &reader, std::string_view key, std::int64_t least,
                                   std::uint32_t fallback, std::initializer_list<std::size_t> lengths,
                                   std::string_view form) {
  const toml::node *node = reader.node(key);
  if (node == nullptr) return {fallback};
  const toml::array *list = node->as_array();
  if (list == nullptr) return {number(reader, key, *node, least, form)};
  if (std::find(lengths.begin(), lengths.end(), list->size()) == lengths.end())
    fail(reader.file(), reader.line(key),
         fmt::format("'{}' in conv is a list of {}; it must be {}", key, list->size(), form));
  std::vector<std::uint32_t> values;
  for (const toml::node &entry : *list)
    values.push_back(number(reader, key, entry, least, form));
  return values;
}

/// Height and width of a field.
std::array<std::uint32_t, 2> pair(const TableReader &reader, std::string_view key) {
  const auto values = numbers(reader, key, 1, 1, {2}, "a whole number or [height, width]");
  return {values.front(), values.back()};
}

/// Zeros before and after so that the output has ceil(size / stride) pixels; an odd one goes after.
std::array<std::uint32_t, 2> same_padding(std::uint32_t size, std::uint32_t kernel, std::uint32_t stride,
                                          std::uint32_t dilation) {
  const std::int64_t outputs = (std::int64_t{size} + stride - 1) / stride;
  const std::int64_t reach = (outputs - 1) * stride + std::int64_t{dilation} * (kernel - 1) + 1;
  const auto total = static_cast<std::uint32_t>(std::clamp<std::int64_t>(reach - size, 0, kMaxDimension));
  return {total / 2, total - total / 2};
}

void read_padding(const TableReader &reader, Convolution &conv) {
  const toml::node *node = reader.node("padding");
  if (node != nullptr && node->value_exact<std::string>() == "same") {
    const auto rows = same_padding(conv.height, conv.kernel_height, conv.stride_height, conv.dilation_height);
    const auto cols = same_padding(conv.width, conv.kernel_width, conv.stride_width, conv.dilation_width);
    conv.pad_top = rows[0];
    conv.pad_bottom = rows[1];
    conv.pad_left = cols[0];
    conv.pad_right = cols[1];
    return;
  }
  const auto values = numbers(reader, "padding", 0, 0, {2, 4},
                              "a whole number, [height, width], [top, bottom, left, right] or \"same\"");
  const bool four = values.size() == 4;
  conv.pad_top = values.front();
  conv.pad_bottom = four ? values[1] : values.front();
  conv.pad_left = four ? values[2] : values.back();
  conv.pad_right = values.back();
}

} // namespace

Convolution read_convolution(const TableReader &reader, std::uint32_t batch) {
  reader.only({"height", "width", "channels", "out_channels", "kernel", "stride", "padding", "dilation", "groups"});
  Convolution conv;
  conv.batch = batch;
  conv.height = reader.required_dimension("height");
  conv.width = reader.required_dimension("width");
  conv.channels = reader.required_dimension("channels");
  conv.out_channels = reader.required_dimension("out_channels");
  if (reader.node("kernel") == nullptr)
    fail(reader.file(), reader.line(), "conv has no 'kernel'; add kernel = <whole number> or [height, width]");
  const auto kernel = pair(reader, "kernel");
  const auto stride = pair(reader, "stride");
  const auto dilation = pair(reader, "dilation");
  conv.kernel_height = kernel[0];
  conv.kernel_width = kernel[1];
  conv.stride_height = stride[0];
  conv.stride_width = stride[1];
  conv.dilation_height = dilation[0];
  conv.dilation_width = dilation[1];
  conv.groups = reader.dimension("groups").value_or(1);
  read_padding(reader, conv);
  return conv;
}

} // namespace gradweave::compiler
