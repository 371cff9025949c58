// What only moves elements, or names them otherwise.
#include "graph/onnx/fold/fold.hpp"
#include "graph/onnx/nodes/compose.hpp"
#include "graph/onnx/nodes/importers.hpp"
#include "graph/onnx/nodes/reshape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace gradweave::graph::onnx {
namespace {

/// The order in which a value is moved about, and a tensor in it.
struct Stored {
  TensorId tensor;
  Order order;
};

Stored stored(NodeImport &node, const Value &x) {
  const Order order = x.tensor == kNone || x.channels != 0 ? plain_order(x.rank()) : x.order;
  return {node.place.in_order(x, order), order};
}

std::int64_t at(const Order &order, std::size_t axis) { return static_cast<std::int64_t>(place_in(order, axis)); }

} // namespace

void import_identity(NodeImport &node) { node.give(node.in(0)); }

void import_reshape(NodeImport &node) {
  const Value &x = node.in(0);
  const Dims asked = node.list(1, "shape", {});
  node.give(reshaped_value(node, x, reshaped(node, x.dims, asked, node.integer("allowzero", 0) != 0), true));
}

void import_flatten(NodeImport &node) {
  const Value &x = node.in(0);
  const std::int64_t given = node.integer("axis", 1);
  const bool all = given == static_cast<std::int64_t>(x.rank());
  const auto axis = static_cast<std::ptrdiff_t>(all ? x.rank() : node.axis(given, x.rank()));
  node.give(reshaped_value(
      node, x, {product_of({x.dims.begin(), x.dims.begin() + axis}), product_of({x.dims.begin() + axis, x.dims.end()})},
      true));
}

void import_transpose(NodeImport &node) {
  Value x = node.in(0);
  Dims perm(x.rank());
  std::iota(perm.rbegin(), perm.rend(), 0);
  perm = node.integers("perm", perm);
  if (node.axes(perm, x.rank()).size() != x.rank())
    node.fail(fmt::format("attribute 'perm' = {} does not fit input '{}', {}", text_of(perm), x.name, text_of(x.dims)));
  for (std::int64_t &axis : perm)
    axis = static_cast<std::int64_t>(node.axis(axis, x.rank()));
  if (x.channels != 0) {
    x.tensor = node.place.plain(x);
    x.channels = 0;
  }
  node.give(transposed(std::move(x), perm));
}

void import_squeeze(NodeImport &node) {
  const Value &x = node.in(0);
  Dims dims = x.dims;
  const std::vector<std::size_t> axes = squeezed_axes(node, x.dims, node.list(1, "axes", {}));
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis)
    dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(*axis));
  node.give(reshaped_value(node, x, dims, true));
}

void import_unsqueeze(NodeImport &node) {
  const Value &x = node.in(0);
  node.give(reshaped_value(node, x, unsqueezed(node, x.dims, node.list(1, "axes", {})), true));
}

void import_concat(NodeImport &node) {
  const std::size_t count = node.node().inputs.size();
  std::vector<const Value *> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(&node.real_in(i));
  node.require(count > 0, "has no inputs");
  if (count == 1) return node.give(*values[0]);
  const std::size_t rank = values[0]->rank(), axis = node.axis(node.integer("axis", 0), rank);
  const Order order = common_order(values, rank);
  std::vector<TensorId> tensors;
  for (const Value *value : values) {
    if (value->rank() != rank)
      node.fail(fmt::format("inputs are {} and {}; they need as many dimensions", text_of(values[0]->dims),
                            text_of(value->dims)));
    tensors.push_back(node.place.in_order(*value, order));
  }
  node.give(node.last("Concat", tensors, {{"axis", at(order, axis)}}), order);
}

void import_split(NodeImport &node) {
  const Value &x = node.real_in(0);
  const std::size_t axis = node.axis(node.integer("axis", 0), x.rank()), count = node.node().outputs.size();
  Dims sizes = node.list(1, "split", {});
  if (sizes.empty()) {
    const auto parts = static_cast<std::int64_t>(count);
    const std::int64_t size = (x.dims[axis] + parts - 1) / parts;
    sizes.assign(count, size);
    sizes.back() = x.dims[axis] - size * (parts - 1);
  }
  if (sizes.size() != count) node.fail(fmt::format("split {} does not fit {} outputs", text_of(sizes), count));
  if (count == 1) return node.give(x);
  const auto [tensor, order] = stored(node, x);
  const std::vector<TensorId> parts =
      node.last_all("Split", {tensor}, {{"axis", at(order, axis)}, {"split", sizes}}, count);
  for (std::size_t o = 0; o < count; ++o)
    node.give(parts[o], order, o);
}

void import_slice(NodeImport &node) {
  const Value &x = node.real_in(0);
  const std::vector<SliceAxis> all = sliced(node, x.dims, node.list(1, "starts", {}), node.list(2, "ends", {}),
                                            node.list(3, "axes", {}), node.list(4, "steps", {}));
  auto [tensor, order] = stored(node, x);
  Dims starts, ends, axes, steps;
  bool turned = false; // an axis goes backwards
  for (std::size_t axis = 0; axis < all.size(); ++axis) {
    const SliceAxis &s = all[axis];
    if (s.count == x.dims[axis] && s.step == 1) continue;
    if (s.step < 0) {
      Dims from;
      for (std::int64_t i = 0; i < s.count; ++i)
        from.push_back(s.start + i * s.step);
      tensor = taken_along(node, tensor, place_in(order, axis), from, false);
      turned = true;
      continue;
    }
    if (s.count == 0) node.fail(fmt::format("nothing is left of dimension {} of {}", axis, text_of(x.dims)));
    starts.push_back(s.start);
    ends.push_back(s.start + (s.count - 1) * s.step + 1);
    axes.push_back(at(order, axis));
    steps.push_back(s.step);
  }
  if (axes.empty()) return turned ? node.give(tensor, order) : node.give(x);
  node.give(node.last("Slice", {tensor}, {{"starts", starts}, {"ends", ends}, {"axes", axes}, {"steps", steps}}),
            order);
}

namespace {

constexpr std::int64_t kMostFrame = 65535;

/// Elements before each dimension of x, then behind each.
Dims pads_of(const NodeImport &node, std::size_t rank) {
  Dims given = node.list(1, "pads", {});
  if (!node.has_input(3)) {
    if (given.size() != 2 * rank) node.fail(fmt::format("pads {} must be {} numbers", text_of(given), 2 * rank));
    return given;
  }
  const Dims axes = node.list(3, "axes", {});
  if (given.size() != 2 * axes.size()) node.fail("pads must be two numbers for each of the axes");
  Dims pads(2 * rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = node.axis(axes[i], rank);
    pads[axis] = given[i];
    pads[axis + rank] = given[i + axes.size()];
  }
  return pads;
}

/// Which elements of an axis of `size` a result reads that has `before` more, or less, before it and `behind` behind
/// it.
Dims framed(const NodeImport &node, std::int64_t size, std::int64_t before, std::int64_t behind,
            const std::string &mode) {
  if (size + before + behind < 1 || before > kMostFrame || behind > kMostFrame)
    node.fail(fmt::format("pads of {} and {} around {} elements: nothing is left, or more than {} are added", before,
                          behind, size, kMostFrame));
  Dims from;
  for (std::int64_t i = -before; i < size + behind; ++i) {
    const std::int64_t turn = mode == "wrap" ? size : std::max<std::int64_t>(1, 2 * size - 2);
    const std::int64_t within = (i % turn + turn) % turn;
    if (mode == "edge")
      from.push_back(std::clamp<std::int64_t>(i, 0, size - 1));
    else if (mode == "reflect" || mode == "wrap")
      from.push_back(within < size ? within : turn - within);
    else
      node.fail(fmt::format("attribute 'mode' = '{}'; constant, edge, reflect and wrap are computed", mode));
  }
  return from;
}

/// A frame of x's own elements.
void give_frame(NodeImport &node, const Value &x, const Dims &pads, const std::string &mode) {
  Value y = x;
  const Stored of = stored(node, x);
  y.tensor = of.tensor;
  y.order = of.order;
  y.channels = 0;
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    const std::int64_t before = pads[axis], behind = pads[axis + x.rank()];
    if (before == 0 && behind == 0) continue;
    const Dims from = framed(node, x.dims[axis], before, behind, mode);
    y.tensor = taken_along(node, y.tensor, place_in(y.order, axis), from, false);
    y.dims[axis] = static_cast<std::int64_t>(from.size());
  }
  node.give(y);
}

} // namespace

void import_pad(NodeImport &node) {
  const Value &x = node.real_in(0);
  const Dims pads = pads_of(node, x.rank());
  if (const std::string mode = node.text("mode", "constant"); mode != "constant")
    return give_frame(node, x, pads, mode);
  const auto [tensor, order] = stored(node, x);
  Dims frame(2 * x.rank()), starts, ends, axes;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const std::int64_t before = pads[order[i]], behind = pads[order[i] + x.rank()], size = x.dims[order[i]];
    if (std::min(before, behind) < -size || std::max(before, behind) > INT32_MAX)
      node.fail(fmt::format("pads {} do not fit input '{}', {}", text_of(pads), x.name, text_of(x.dims)));
    frame[i] = std::max<std::int64_t>(0, before);
    frame[i + x.rank()] = std::max<std::int64_t>(0, behind);
    if (before >= 0 && behind >= 0) continue;
    starts.push_back(std::max<std::int64_t>(0, -before));
    ends.push_back(size + std::min<std::int64_t>(0, behind));
    axes.push_back(static_cast<std::int64_t>(i));
  }
  const bool framed = std::any_of(frame.begin(), frame.end(), [](std::int64_t f) { return f > 0; });
  if (!framed && axes.empty()) return node.give(x);
  TensorId y = tensor;
  const Attributes crop{{"starts", starts}, {"ends", ends}, {"axes", axes}};
  if (!axes.empty()) y = framed ? node.step("Slice", {y}, crop) : node.last("Slice", {y}, crop);
  if (framed) y = node.last("Pad", {y}, {{"pads", frame}, {"value", node.number(2, "value", 0)}});
  node.give(y, order);
}

void import_expand(NodeImport &node) {
  const Value &x = node.real_in(0);
  const Dims dims = broadcast_dims(node, x.dims, node.list(1, "shape", {}));
  if (dims == x.dims) return node.give(x);
  const auto [tensor, own] = stored(node, x);
  Order order = plain_order(dims.size() - x.rank());
  for (const std::size_t axis : own)
    order.push_back(axis + dims.size() - x.rank());
  node.give(node.last("Expand", {tensor}, {{"shape", ordered(dims, order)}}), order);
}

void import_tile(NodeImport &node) {
  const Value &x = node.real_in(0);
  const Dims repeats = node.list(1, "repeats", {});
  if (repeats.size() != x.rank()) node.fail(fmt::format("repeats {} do not fit {}", text_of(repeats), text_of(x.dims)));
  auto [tensor, order] = stored(node, x);
  std::vector<std::size_t> axes;
  for (std::size_t axis = 0; axis < repeats.size(); ++axis) {
    if (repeats[axis] < 1 || repeats[axis] > 4096) node.fail(fmt::format("repeats {}: 1 to 4096", text_of(repeats)));
    if (repeats[axis] != 1) axes.push_back(axis);
  }
  if (axes.empty()) return node.give(x);
  for (const std::size_t axis : axes) {
    const std::vector<TensorId> copies(static_cast<std::size_t>(repeats[axis]), tensor);
    const Attributes along{{"axis", at(order, axis)}};
    tensor = axis == axes.back() ? node.last("Concat", copies, along) : node.step("Concat", copies, along);
  }
  node.give(tensor, order);
}

namespace {

/// Slices that are known when the file is read; `indices` are not below 0.
void gather_known(NodeImport &node, const Value &x, std::size_t axis, const Literal &indices) {
  const auto [tensor, order] = stored(node, x);
  Value y;
  y.dims = x.dims;
  y.dims[axis] = static_cast<std::int64_t>(indices.size());
  y.order = order;
  y.tensor = taken_along(node, tensor, place_in(order, axis), indices.whole, indices.dims.size() == 1);
  Dims dims(x.dims.begin(), x.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  dims.insert(dims.end(), indices.dims.begin(), indices.dims.end());
  dims.insert(dims.end(), x.dims.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x.dims.end());
  node.give(reshaped_value(node, y, dims, true));
}

/// A table is a parameter, whatever its values look like.
TensorId table_of(NodeImport &node, const Value &x, const Order &order) {
  if (x.blob == nullptr || x.rank() != 2) return node.place.in_order(x, order);
  return node.place.arranged(x, {{{x.dims[0]}, {x.dims[1]}}, order, ordered(x.dims, order)}, "normal:0.02");
}

} // namespace

void import_gather(NodeImport &node) {
  const Value &x = node.real_in(0), &indices = node.in(1);
  const std::size_t axis = node.axis(node.integer("axis", 0), x.rank());
  if (indices.kind == Kind::kReal) node.fail(fmt::format("indices '{}' are real numbers", indices.name));
  if (indices.known()) {
    Literal known = *indices.literal;
    for (std::int64_t &index : known.whole) {
      if (index < -x.dims[axis] || index >= x.dims[axis])
        node.fail(fmt::format("index {} is none of the {} of dimension {}", index, x.dims[axis], axis));
      if (index < 0) index += x.dims[axis];
    }
    if (known.whole.empty()) node.fail(fmt::format("indices '{}' are none", indices.name));
    return gather_known(node, x, axis, known);
  }
  const Order own = x.tensor == kNone || x.channels != 0 ? plain_order(x.rank()) : x.order;
  const TensorId y =
      node.last("Gather", {table_of(node, x, own), node.place.plain(indices)}, {{"axis", at(own, axis)}});
  Order order;
  for (const std::size_t a : own)
    if (a == axis)
      for (std::size_t i = 0; i < indices.rank(); ++i)
        order.push_back(axis + i);
    else
      order.push_back(a > axis ? a + indices.rank() - 1 : a);
  node.give(y, order);
}

void import_depth_to_space(NodeImport &node) {
  const Value &x = node.real_in(0);
  const std::int64_t block = node.integer("blocksize", 0);
  const bool to_space = node.is("DepthToSpace"), crd = node.text("mode", "DCR") == "CRD";
  if (x.rank() != 4 || block < 1 || block > 1024) node.fail("takes an image and a blocksize of 1 to 1024");
  const std::int64_t n = x.dims[0], c = x.dims[1], h = x.dims[2], w = x.dims[3], square = block * block;
  if (to_space ? c % square != 0 : h % block != 0 || w % block != 0)
    node.fail(fmt::format("attribute 'blocksize' = {} does not divide input '{}', {}", block, x.name, text_of(x.dims)));
  const auto turn = [&](const Dims &cut, const Dims &perm, const Dims &dims) {
    const Value parts = reshaped_value(node, x, cut, false);
    node.give(reshaped_value(node, transposed(parts, perm), dims, true));
  };
  if (!to_space)
    return turn({n, c, h / block, block, w / block, block}, {0, 3, 5, 1, 2, 4}, {n, c * square, h / block, w / block});
  if (crd) return turn({n, c / square, block, block, h, w}, {0, 1, 4, 2, 5, 3}, {n, c / square, h * block, w * block});
  turn({n, block, block, c / square, h, w}, {0, 3, 4, 1, 5, 2}, {n, c / square, h * block, w * block});
}

} // namespace gradweave::graph::onnx
