// Elements whose places follow from sizes and lengths that are known.
#include "graph/onnx/fold/fold.hpp"
#include "graph/onnx/nodes/compose.hpp"
#include "graph/onnx/nodes/importers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph::onnx {

/// The middle of each axis, or x in the middle of zeros.
void import_center_crop_pad(NodeImport &node) {
  const Own x = own_plain(node);
  const Dims sizes = node.list(1, "shape", {});
  std::vector<std::size_t> axes;
  for (const std::int64_t axis : node.integers("axes", {}))
    axes.push_back(node.axis(axis, x.like.rank()));
  if (axes.empty()) axes = plain_order(x.like.rank());
  if (sizes.size() != axes.size() || std::any_of(sizes.begin(), sizes.end(), [](std::int64_t s) { return s < 1; }))
    node.fail(fmt::format("input 1, the shape, is {}; it must be {} sizes", text_of(sizes), axes.size()));
  Value y = x.like;
  y.tensor = x.tensor;
  Dims frame(2 * y.rank(), 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t place = place_in(y.order, axes[i]);
    const std::int64_t size = y.dims[axes[i]], more = sizes[i] - size;
    y.dims[axes[i]] = sizes[i];
    if (more >= 0) {
      frame[place] = more / 2;
      frame[place + y.rank()] = more - more / 2;
      continue;
    }
    const std::int64_t first = -more / 2;
    y.tensor = node.step(
        "Slice", {y.tensor},
        {{"starts", Dims{first}}, {"ends", Dims{first + sizes[i]}}, {"axes", Dims{static_cast<std::int64_t>(place)}}});
  }
  if (std::any_of(frame.begin(), frame.end(), [](std::int64_t f) { return f > 0; }))
    y.tensor = node.step("Pad", {y.tensor}, {{"pads", frame}, {"value", 0.0}});
  node.give(y);
}

/// The first so many elements of each batch element turned round.
void import_reverse_sequence(NodeImport &node) {
  const Value &x = node.real_in(0);
  const std::size_t batch = node.axis(node.integer("batch_axis", 1), x.rank());
  const std::size_t time = node.axis(node.integer("time_axis", 0), x.rank());
  const Dims lengths = node.list(1, "sequence_lens", {});
  bool fits = batch + time == 1 && lengths.size() == static_cast<std::size_t>(x.dims[batch]);
  for (const std::int64_t length : lengths)
    fits = fits && length >= 0 && length <= x.dims[time];
  if (!fits)
    node.fail(fmt::format("lengths {} of '{}', {}, along dimension {}; batch and time must be the first two dimensions",
                          text_of(lengths), x.name, text_of(x.dims), time));
  const std::int64_t first = x.dims[0], second = x.dims[1], rest = product_of(x.dims) / first / second;
  Dims from;
  for (std::int64_t i = 0; i < first; ++i)
    for (std::int64_t j = 0; j < second; ++j) {
      const std::int64_t at = time == 0 ? i : j, of = time == 0 ? j : i;
      const std::int64_t length = lengths[static_cast<std::size_t>(of)], turned = at < length ? length - 1 - at : at;
      from.push_back(time == 0 ? turned * second + of : of * second + turned);
    }
  const TensorId rows = node.step("Reshape", {node.place.plain(x)}, {{"shape", Dims{first * second, rest}}}, "rows");
  const TensorId turned = taken_along(node, rows, 0, from, false);
  node.give(node.last("Reshape", {turned}, {{"shape", x.dims}}), plain_order(x.rank()));
}

/// Ones along a diagonal: a constant, of which only x's shape decides.
void import_eye_like(NodeImport &node) {
  const Value &x = node.in(0);
  if (x.rank() != 2) node.fail(fmt::format("input '{}' is {}; it must be a matrix", x.name, text_of(x.dims)));
  checked_elements(node, x.dims);
  const std::int64_t diagonal = node.integer("k", 0);
  const auto fallback = x.kind == Kind::kReal ? DataType::kFloat : DataType::kInt64;
  Literal eye{static_cast<DataType>(node.integer("dtype", static_cast<std::int64_t>(fallback))), x.dims};
  for (std::int64_t row = 0; row < x.dims[0]; ++row)
    for (std::int64_t col = 0; col < x.dims[1]; ++col)
      if (eye.is_real())
        eye.real.push_back(col - row == diagonal ? 1 : 0);
      else
        eye.whole.push_back(col - row == diagonal ? 1 : 0);
  Value value;
  value.kind = kind_of(eye.type);
  value.dims = eye.dims;
  value.order = plain_order(2);
  value.literal = std::make_shared<Literal>(std::move(eye));
  node.give(std::move(value));
}

} // namespace gradweave::graph::onnx
