// Sums, means, products and norms over dimensions; sums up to each element.
#include "graph/onnx/nodes/compose.hpp"
#include "graph/onnx/nodes/importers.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace gradweave::graph::onnx {
namespace {

/// Which operators take their axes from an input, from which opset on.
bool axes_are_input(const NodeImport &node) { return node.is("ReduceSum") ? node.opset() >= 13 : node.opset() >= 18; }

/// Dimensions of a tensor that a reduction runs over, ascending, and whether they stay as 1.
struct Reduction {
  NodeImport &node;
  Dims places;
  bool keeps;

  TensorId op(std::string_view op, TensorId x) const { return node.step(op, {x}); }
  Call reduced(std::string_view op, TensorId x) const { return reduced_over(op, x, places, keeps); }
  TensorId step(const Call &call) const { return node.step(call.op, call.inputs, call.attributes); }
};

Call reduce_min(const Reduction &r, TensorId x) { return {"Neg", {r.step(r.reduced("ReduceMax", r.op("Neg", x)))}}; }
Call reduce_l1(const Reduction &r, TensorId x) { return r.reduced("ReduceSum", r.op("Abs", x)); }
Call reduce_sum_square(const Reduction &r, TensorId x) {
  return r.reduced("ReduceSum", r.node.step("Mul", {x, x}, {}, "square"));
}
Call reduce_l2(const Reduction &r, TensorId x) { return norm_call(r.node, r.step(reduce_sum_square(r, x))); }
Call reduce_log_sum(const Reduction &r, TensorId x) { return {"Log", {r.step(r.reduced("ReduceSum", x))}}; }

/// From the largest element on, so that no power overflows; where that is infinite, from the largest number.
Call reduce_log_sum_exp(const Reduction &r, TensorId x) {
  const TensorId most = r.node.step("Clip", {r.step(reduced_over("ReduceMax", x, r.places, true))}, {}, "most");
  const TensorId power = r.op("Exp", r.node.step("Sub", {x, most}, {}, "below"));
  const TensorId sum = r.op("Log", r.step(r.reduced("ReduceSum", power)));
  const Dims dims = numbers(r.node.build.shape(sum));
  return {"Add", {sum, r.keeps ? most : r.node.step("Reshape", {most}, {{"shape", dims}})}};
}

TensorId slice_along(const Reduction &r, TensorId x, std::int64_t place, std::int64_t begin, std::int64_t end) {
  return r.node.step("Slice", {x}, {{"starts", Dims{begin}}, {"ends", Dims{end}}, {"axes", Dims{place}}});
}

/// Halves times each other; what is odd at the end. No quotient is taken on the way back, so a zero has its gradient.
Call reduce_prod(const Reduction &r, TensorId x) {
  for (const std::int64_t place : r.places) {
    TensorId rest = kNone;
    for (std::int64_t size = r.node.build.shape(x)[static_cast<std::size_t>(place)]; size > 1; size /= 2) {
      if (size % 2 == 1) {
        const TensorId odd = slice_along(r, x, place, size - 1, size);
        rest = rest == kNone ? odd : r.node.step("Mul", {rest, odd});
      }
      x = r.node.step("Mul", {slice_along(r, x, place, 0, size / 2), slice_along(r, x, place, size / 2, size / 2 * 2)});
    }
    if (rest != kNone) x = r.node.step("Mul", {x, rest});
  }
  Dims dims = numbers(r.node.build.shape(x));
  if (!r.keeps)
    for (auto place = r.places.rbegin(); place != r.places.rend(); ++place)
      dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(*place));
  return {"Reshape", {x}, {{"shape", dims}}};
}

struct ReductionEntry {
  std::string_view type;
  Call (*call)(const Reduction &, TensorId);
};
constexpr ReductionEntry kReductions[] = {
    {"ReduceMin", reduce_min},        {"ReduceL1", reduce_l1},
    {"ReduceL2", reduce_l2},          {"ReduceSumSquare", reduce_sum_square},
    {"ReduceLogSum", reduce_log_sum}, {"ReduceLogSumExp", reduce_log_sum_exp},
    {"ReduceProd", reduce_prod},
};

} // namespace

void import_reduce(NodeImport &node) {
  const Value &x = node.real_in(0);
  const Dims asked = axes_are_input(node) && node.has_input(1) ? node.list(1, "axes", {}) : node.integers("axes", {});
  if (asked.empty() && node.integer("noop_with_empty_axes", 0) != 0) return node.give(x);
  std::vector<std::size_t> axes = node.axes(asked, x.rank());
  if (asked.empty()) axes = plain_order(x.rank());
  Reduction reduction{node, {}, node.integer("keepdims", 1) != 0};
  const Order order = x.tensor == kNone || x.channels != 0 ? plain_order(x.rank()) : x.order;
  Order left = order;
  for (const std::size_t axis : axes)
    reduction.places.push_back(static_cast<std::int64_t>(place_in(order, axis)));
  std::sort(reduction.places.begin(), reduction.places.end());
  if (!reduction.keeps)
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis)
      left = without_axis(left, *axis);
  const TensorId tensor = node.place.in_order(x, order);
  const auto *const entry = std::find_if(std::begin(kReductions), std::end(kReductions),
                                         [&](const ReductionEntry &of) { return node.is(of.type); });
  const bool composed = entry != std::end(kReductions);
  if (axes.empty() && !composed) return node.give(x);
  const Call call = composed ? entry->call(reduction, tensor) : reduction.reduced(node.node().type, tensor);
  node.give(node.last(call.op, call.inputs, call.attributes), left);
}

void import_cum_sum(NodeImport &node) {
  const Own x = own_plain(node);
  const Dims axis = node.list(1, "axis", {});
  if (axis.size() != 1) node.fail("input 1, the axis, must be a single number");
  const std::size_t place = place_in(x.like.order, node.axis(axis[0], x.like.rank()));
  const Attributes along{{"axis", static_cast<std::int64_t>(place)}, {"exclusive", node.integer("exclusive", 0)}};
  if (node.integer("reverse", 0) == 0) return node.give_like(node.last("CumSum", {x.tensor}, along), x.like);
  Dims backwards(node.build.shape(x.tensor)[place]);
  std::iota(backwards.rbegin(), backwards.rend(), 0);
  const TensorId sums = node.step("CumSum", {taken_along(node, x.tensor, place, backwards, false)}, along);
  node.give_like(taken_along(node, sums, place, backwards, true), x.like);
}

} // namespace gradweave::graph::onnx
