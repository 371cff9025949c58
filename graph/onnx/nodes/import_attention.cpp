// Attention and rotary positions, as opset 23 has them.
#include "graph/onnx/nodes/compose.hpp"
#include "graph/onnx/nodes/importers.hpp"
#include "graph/onnx/nodes/product.hpp"
#include "graph/onnx/nodes/reshape.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace gradweave::graph::onnx {
namespace {

constexpr double kMasked = -std::numeric_limits<double>::infinity();

Value value_of_tensor(const NodeImport &node, TensorId tensor) {
  Value value;
  value.tensor = tensor;
  value.dims = numbers(node.build.shape(tensor));
  value.order = plain_order(value.rank());
  return value;
}

/// [batch, rows, hidden] as [batch, heads, rows, hidden / heads]; four dimensions stay.
Value in_heads(NodeImport &node, const Value &x, std::int64_t heads) {
  if (x.rank() == 4) return x;
  if (x.rank() != 3 || heads < 1 || x.back() % heads != 0)
    node.fail(fmt::format("input '{}' is {}; it must be [batch, heads, rows, size], or [batch, rows, hidden] of which "
                          "{} heads are a part",
                          x.name, text_of(x.dims), heads));
  return transposed(reshaped_value(node, x, {x.dims[0], x.dims[1], heads, x.back() / heads}, false), {0, 2, 1, 3});
}

class AttentionImport {
public:
  explicit AttentionImport(NodeImport &node) : node_(node) {
    const Value &q = node.real_in(0);
    three_ = q.rank() == 3;
    const std::int64_t kv_heads = node.integer("kv_num_heads", 0);
    q_ = in_heads(node, q, node.integer("q_num_heads", 0));
    k_ = with_past(in_heads(node, node.real_in(1), kv_heads), 4);
    v_ = with_past(in_heads(node, node.real_in(2), kv_heads), 5);
    if (q_.dims[0] != k_.dims[0] || k_.dims[1] != v_.dims[1] || k_.dims[2] != v_.dims[2] || q_.back() != k_.back() ||
        q_.dims[1] % k_.dims[1] != 0)
      node.fail(
          fmt::format("queries are {}, keys {} and values {}", text_of(q_.dims), text_of(k_.dims), text_of(v_.dims)));
    scale_ = node.real("scale", 1 / std::sqrt(static_cast<double>(q_.back())));
  }

  void run() {
    const std::int64_t mode = node_.integer("qk_matmul_output_mode", 0);
    const double cap = node_.real("softcap", 0);
    TensorId scores = matrix_product(node_, q_, transposed(repeated(k_), {0, 1, 3, 2}), false).tensor;
    const bool shown = node_.wants(3);
    if (cap != 0 || (shown && mode != 3)) scores = scaled(scores, scale_);
    if (cap != 0) scores = scaled(node_.step("Tanh", {scaled(scores, 1 / cap)}), cap);
    if (shown && mode < 2) give_scores(scores);
    const TensorId mask = all_masks();
    const bool joined = shown && mode == 2 && mask != kNone;
    if (joined) scores = node_.step("Add", {scores, mask}, {}, "masked");
    if (shown && mode == 2) give_scores(scores);
    std::vector<TensorId> inputs{scores};
    if (mask != kNone && !joined) inputs.push_back(mask);
    const double left = cap != 0 || (shown && mode != 3) ? 1 : scale_; // what scores are still to be scaled by
    const TensorId shares = node_.step("Softmax", inputs, {{"scale", left}});
    if (shown && mode == 3) give_scores(shares);
    give_sums(shares);
    if (node_.wants(1)) node_.give(k_, 1);
    if (node_.wants(2)) node_.give(v_, 2);
  }

private:
  TensorId scaled(TensorId x, double by) { return by == 1 ? x : node_.step("Scale", {x}, {{"value", by}}); }
  void give_scores(TensorId scores) { node_.give(value_of_tensor(node_, scores), 3); }

  /// Keys or values behind those of earlier calls.
  Value with_past(const Value &x, std::size_t past) {
    if (!node_.has_input(past)) return x;
    const Value &before = node_.real_in(past);
    const std::vector<TensorId> both{node_.place.plain(before), node_.place.plain(x)};
    past_rows_ = before.rank() == 4 ? before.dims[2] : 0;
    return value_of_tensor(node_, node_.step("Concat", both, {{"axis", std::int64_t{2}}}, "present"));
  }

  /// Each head as often as queries share it.
  Value repeated(const Value &x) {
    const std::int64_t times = q_.dims[1] / x.dims[1];
    if (times == 1) return x;
    const Dims &d = x.dims;
    const TensorId apart =
        node_.step("Reshape", {node_.place.plain(x)}, {{"shape", Dims{d[0], d[1], 1, d[2], d[3]}}}, "heads");
    const TensorId copies = node_.step("Expand", {apart}, {{"shape", Dims{d[0], d[1], times, d[2], d[3]}}}, "copies");
    return reshaped_value(node_, value_of_tensor(node_, copies), {d[0], d[1] * times, d[2], d[3]}, false);
  }

  void give_sums(TensorId shares) {
    const Value y = matrix_product(node_, value_of_tensor(node_, shares), repeated(v_), !three_);
    if (!three_) return node_.give(y);
    const Value rows = transposed(y, {0, 2, 1, 3});
    node_.give(reshaped_value(node_, rows, {rows.dims[0], rows.dims[1], rows.dims[2] * rows.dims[3]}, true));
  }

  /// The sum of all that is added to scores; kNone: nothing is.
  TensorId all_masks() {
    TensorId mask = given_mask();
    const TensorId own = place_mask();
    if (own == kNone || mask == kNone) return own == kNone ? mask : own;
    return node_.step("Add", {mask, own}, {}, "mask");
  }

  TensorId given_mask() {
    if (!node_.has_input(3)) return kNone;
    const Value &given = node_.in(3);
    TensorId mask = node_.place.plain(given);
    if (given.kind == Kind::kTruth)
      mask = node_.step("Where", {mask, scalar(node_, 0), scalar(node_, kMasked)}, {}, "bias");
    const std::int64_t lacking = given.rank() == 0 ? 0 : k_.dims[2] - given.back();
    if (lacking <= 0) return mask;
    Dims pads(2 * given.rank(), 0);
    pads.back() = lacking;
    return node_.step("Pad", {mask}, {{"pads", pads}, {"value", kMasked}}, "padded");
  }

  /// Which keys a query sees by its place: what lies behind it, outside a window, or beyond the keys that are there.
  TensorId place_mask() {
    const bool causal = node_.integer("is_causal", 0) != 0, counted = node_.has_input(6);
    const std::int64_t left = node_.integer("left_window_size", -1), right = node_.integer("right_window_size", -1);
    if (!causal && !counted && left < 0 && right < 0) return kNone;
    const std::int64_t rows = q_.dims[2], keys = k_.dims[2];
    Dims there{keys};
    if (counted) {
      there = node_.list(6, "nonpad_kv_seqlen", {});
      if (there.size() != static_cast<std::size_t>(q_.dims[0]))
        node_.fail(fmt::format("input 6 '{}' must be a number for each of {}", node_.in(6).name, q_.dims[0]));
    }
    std::vector<double> mask;
    for (const std::int64_t end : there)
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t key = 0; key < keys; ++key) {
          const std::int64_t at = row + (counted ? end - rows : past_rows_);
          const bool seen =
              key < end && (!causal || key <= at) && (left < 0 || at - key <= left) && (right < 0 || key - at <= right);
          mask.push_back(seen ? 0 : kMasked);
        }
    const Dims dims = counted ? Dims{q_.dims[0], 1, rows, keys} : Dims{rows, keys};
    return node_.build.constant(node_.build.fresh(node_.name() + ".seen"), shape_of(node_.build, node_.name(), dims),
                                std::move(mask), ElementType::kFp32);
  }

  NodeImport &node_;
  Value q_, k_, v_; ///< [batch, heads, rows, size]
  bool three_ = false;
  std::int64_t past_rows_ = 0;
  double scale_ = 1;
};

} // namespace

void import_attention(NodeImport &node) { AttentionImport(node).run(); }

namespace {

/// Sines or cosines of each row, [batch or 1, rows, 1, size / 2].
TensorId turns_of(NodeImport &node, std::size_t input, std::int64_t half) {
  const Value &cache = node.real_in(input);
  TensorId tensor = node.place.plain(cache);
  if (node.has_input(3)) tensor = node.step("Gather", {tensor, node.place.plain(node.in(3))}, {}, "turns");
  const Dims dims = numbers(node.build.shape(tensor));
  if (dims.size() != 3 || dims[2] != half)
    node.fail(
        fmt::format("input {} '{}' gives {}; it must give [batch, rows, {}]", input, cache.name, text_of(dims), half));
  return node.step("Reshape", {tensor}, {{"shape", Dims{dims[0], dims[1], 1, half}}}, "turns");
}

} // namespace

/// Pairs of elements of each head, turned by an angle that their row has.
void import_rotary_embedding(NodeImport &node) {
  const Value &given = node.real_in(0);
  const Value heads = transposed(in_heads(node, given, node.integer("num_heads", 0)), {0, 2, 1, 3});
  const std::int64_t asked = node.integer("rotary_embedding_dim", 0), size = asked == 0 ? heads.back() : asked;
  if (size < 2 || size % 2 != 0 || size > heads.back())
    node.fail(fmt::format("attribute 'rotary_embedding_dim' = {} of heads of {}", size, heads.back()));
  const bool pairs = node.integer("interleaved", 0) != 0;
  const std::int64_t half = size / 2;
  const TensorId x = node.place.plain(heads);
  const auto cut = [&](std::int64_t begin, std::int64_t end, std::int64_t step) {
    return node.step("Slice", {x},
                     {{"starts", Dims{begin}}, {"ends", Dims{end}}, {"axes", Dims{3}}, {"steps", Dims{step}}});
  };
  const TensorId first = pairs ? cut(0, size, 2) : cut(0, half, 1),
                 second = pairs ? cut(1, size, 2) : cut(half, size, 1);
  const TensorId cosine = turns_of(node, 1, half), sine = turns_of(node, 2, half);
  const auto mul = [&node](TensorId a, TensorId b) { return node.step("Mul", {a, b}); };
  TensorId real = node.step("Sub", {mul(first, cosine), mul(second, sine)}, {}, "real");
  TensorId imaginary = node.step("Add", {mul(first, sine), mul(second, cosine)}, {}, "imaginary");
  Dims dims = heads.dims;
  dims.back() = size;
  TensorId y = kNone;
  if (pairs) {
    const Dims apart{dims[0], dims[1], dims[2], half, 1};
    real = node.step("Reshape", {real}, {{"shape", apart}});
    imaginary = node.step("Reshape", {imaginary}, {{"shape", apart}});
    y = node.step("Concat", {real, imaginary}, {{"axis", std::int64_t{4}}}, "pairs");
    y = node.step("Reshape", {y}, {{"shape", dims}});
  } else {
    y = node.step("Concat", {real, imaginary}, {{"axis", std::int64_t{3}}}, "halves");
  }
  if (size != heads.back())
    y = node.step("Concat", {y, cut(size, heads.back(), 1)}, {{"axis", std::int64_t{3}}}, "whole");
  const Value turned = value_of_tensor(node, y);
  if (given.rank() == 4) return node.give(transposed(turned, {0, 2, 1, 3}));
  node.give(reshaped_value(node, turned, given.dims, true));
}

} // namespace gradweave::graph::onnx
