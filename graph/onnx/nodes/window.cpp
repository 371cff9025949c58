#include "graph/onnx/nodes/window.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph::onnx {
namespace {

constexpr std::int64_t kMost = 65535; // as the graph's operators

Dims checked_list(const NodeImport &node, std::string_view name, const Dims &values, std::size_t count,
                  std::int64_t least) {
  const bool fits = values.size() == count && std::all_of(values.begin(), values.end(),
                                                          [least](std::int64_t v) { return v >= least && v <= kMost; });
  if (!fits)
    node.fail(fmt::format("attribute '{}' = {} must be {} whole numbers from {} to {}", name, text_of(values), count,
                          least, kMost));
  return values;
}

/// Pads that make ceil(size / stride) outputs; the odd one lies behind, or before.
void pad_to_same(Window &window, std::size_t axis, std::int64_t size, bool odd_before) {
  const std::int64_t outputs = (size + window.strides[axis] - 1) / window.strides[axis];
  const std::int64_t reach = window.dilations[axis] * (window.kernel[axis] - 1) + 1;
  const std::int64_t total = std::max<std::int64_t>(0, (outputs - 1) * window.strides[axis] + reach - size);
  window.pads[axis] = odd_before ? total - total / 2 : total / 2;
  window.pads[axis + window.axes()] = total - window.pads[axis];
}

/// What lies behind the last pad, if a window that begins within may reach beyond.
std::int64_t extra_behind(const Window &window, std::size_t axis, std::int64_t size) {
  const std::int64_t reach = window.dilations[axis] * (window.kernel[axis] - 1) + 1, stride = window.strides[axis];
  const std::int64_t room = size + window.pads[axis] + window.pads[axis + window.axes()] - reach;
  if (room <= -stride) return 0;
  std::int64_t outputs = (room + stride - 1) / stride + 1;
  if ((outputs - 1) * stride >= size + window.pads[axis]) --outputs; // would begin in the pad behind
  return std::max<std::int64_t>(0, (outputs - 1) * stride - room);
}

} // namespace

Window given_window(const NodeImport &node, const Dims &kernel) {
  const std::size_t spatial = kernel.size();
  Window window{checked_list(node, "kernel_shape", kernel, spatial, 1),
                checked_list(node, "strides", node.integers("strides", Dims(spatial, 1)), spatial, 1),
                checked_list(node, "dilations", node.integers("dilations", Dims(spatial, 1)), spatial, 1),
                checked_list(node, "pads", node.integers("pads", Dims(2 * spatial, 0)), 2 * spatial, 0),
                Dims(std::max<std::size_t>(2, spatial), 0)};
  if (spatial != 1) return window;
  for (Dims *list : {&window.kernel, &window.strides, &window.dilations})
    list->insert(list->begin(), 1);
  window.pads = {0, window.pads[0], 0, window.pads[1]};
  return window;
}

Window window_of(const NodeImport &node, const Value &x, const Dims &kernel, std::string_view rounds_up,
                 std::size_t most_rank) {
  if (x.rank() < 3 || x.rank() > most_rank)
    node.fail(fmt::format("input '{}' is {}; images [batch, channels, rows, columns] and signals [batch, channels, "
                          "length] are taken",
                          x.name, text_of(x.dims)));
  if (kernel.size() != x.rank() - 2)
    node.fail(fmt::format("attribute 'kernel_shape' = {} does not fit input '{}', {}", text_of(kernel), x.name,
                          text_of(x.dims)));
  Window window = given_window(node, kernel);
  Dims size(x.dims.begin() + 2, x.dims.end());
  if (size.size() == 1) size.insert(size.begin(), 1);
  const std::string how = node.text("auto_pad", "NOTSET");
  const bool ceil = !rounds_up.empty() && node.integer(rounds_up, 0) != 0;
  for (std::size_t axis = 0; axis < window.axes(); ++axis) {
    if (how == "SAME_UPPER" || how == "SAME_LOWER")
      pad_to_same(window, axis, size[axis], how == "SAME_LOWER");
    else if (how == "VALID")
      window.pads[axis] = window.pads[axis + window.axes()] = 0;
    else if (how != "NOTSET")
      node.fail(fmt::format("attribute 'auto_pad' = '{}' is not known", how));
    if (ceil) window.extra[axis] = extra_behind(window, axis, size[axis]);
  }
  return window;
}

} // namespace gradweave::graph::onnx
