// Normalisations, and what training alone has.
#include "graph/onnx/nodes/importers.hpp"
#include "graph/onnx/nodes/reshape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace gradweave::graph::onnx {
namespace {

/// A vector of so many, as a parameter.
TensorId vector_of(NodeImport &node, std::size_t input, std::int64_t count, const char *initial) {
  const Value &value = node.real_in(input);
  if (value.dims != Dims{count})
    node.fail(fmt::format("input {} '{}' is {}; it must be [{}]", input, value.name, text_of(value.dims), count));
  return node.place.arranged(value, {{{count}}, {0}, {count}}, initial);
}

TensorId filled(NodeImport &node, const std::string &name, std::int64_t count, double value) {
  return node.build.constant(node.build.fresh(fmt::format("{}.{}", first_output(node.node()), name)),
                             shape_of(node.build, name, {count}), {value}, ElementType::kFp32);
}

/// Whether a constant has the same number everywhere.
bool is_full_of(const Value &value, double number) {
  return value.known() && value.literal->is_real() &&
         std::all_of(value.literal->real.begin(), value.literal->real.end(), [=](double v) { return v == number; });
}

bool trains(const NodeImport &node) {
  if (node.opset() >= 14) return node.integer("training_mode", 0) != 0;
  return node.node().outputs.size() > 1 && !node.node().outputs[1].empty();
}

} // namespace

namespace {

/// What is away from the mean over the deviation, times the node's scale, plus its bias: inputs 1 and 2.
void give_scaled(NodeImport &node, TensorId away, TensorId variance, std::int64_t channels, const Order &order) {
  const TensorId epsilon = node.build.constant(node.build.fresh(first_output(node.node()) + ".epsilon"), {},
                                               {node.real("epsilon", 1e-5)}, ElementType::kFp32);
  const TensorId deviation = node.step("Sqrt", {node.step("Add", {variance, epsilon})}, {}, "deviation");
  if (is_full_of(node.in(1), 1) && is_full_of(node.in(2), 0)) // as exporters write one that has no parameters
    return node.give(node.last("Div", {away, deviation}), order);
  const TensorId scale = vector_of(node, 1, channels, "ones"), bias = vector_of(node, 2, channels, "zeros");
  const TensorId scaled = node.step("Mul", {node.step("Div", {away, deviation}), scale}, {}, "scaled");
  node.give(node.last("Bias", {scaled, bias}), order);
}

} // namespace

void import_batch_normalization(NodeImport &node) {
  const Value &x = node.real_in(0);
  if (x.rank() < 2)
    node.fail(fmt::format("input '{}' is {}; its second dimension are channels", x.name, text_of(x.dims)));
  const Order order = image_order(x.rank());
  const std::int64_t channels = x.dims[1];
  if (node.real_in(3).dims != Dims{channels} || node.real_in(4).dims != Dims{channels})
    node.fail(fmt::format("inputs 3 and 4, mean and variance, must be [{}]", channels));
  const TensorId tensor = node.place.in_order(x, order);
  if (!trains(node) && node.in(3).tensor != kNone && node.in(4).tensor != kNone) { // statistics that are computed
    const TensorId away = node.step("Sub", {tensor, node.place.plain(node.in(3))}, {}, "away");
    return give_scaled(node, away, node.place.plain(node.in(4)), channels, order);
  }
  const TensorId gamma = vector_of(node, 1, channels, "ones"), beta = vector_of(node, 2, channels, "zeros");
  const TensorId mean = node.place.state(node.in(3), "zeros"), variance = node.place.state(node.in(4), "ones");
  const double epsilon = node.real("epsilon", 1e-5);
  if (!trains(node)) {
    const TensorId y =
        node.last("BatchNormalizationInference", {tensor, gamma, beta, mean, variance}, {{"epsilon", epsilon}});
    return node.give(y, order);
  }
  // The file has the running values' share, as fp32; a decimal number was meant.
  const double share = std::round((1 - node.real("momentum", 0.9)) * 1e6) / 1e6;
  const std::vector<TensorId> all = node.last_all("BatchNormalization", {tensor, gamma, beta, mean, variance},
                                                  {{"epsilon", epsilon}, {"momentum", share}}, 1);
  node.build.update(mean, all[3]);
  node.build.update(variance, all[4]);
  node.give(all[0], order);
  node.give(all[3], {0}, 1);
  node.give(all[4], {0}, 2);
}

void import_instance_normalization(NodeImport &node) {
  const Value &x = node.real_in(0);
  if (x.rank() < 3) node.fail(fmt::format("input '{}' is {}, no image", x.name, text_of(x.dims)));
  const Order order = image_order(x.rank());
  Dims pixels;
  for (std::size_t i = 1; i + 1 < x.rank(); ++i)
    pixels.push_back(static_cast<std::int64_t>(i));
  const TensorId tensor = node.place.in_order(x, order);
  const TensorId mean = node.step("ReduceMean", {tensor}, {{"axes", pixels}}, "mean");
  const TensorId away = node.step("Sub", {tensor, mean}, {}, "away");
  const TensorId variance =
      node.step("ReduceMean", {node.step("Mul", {away, away}, {}, "square")}, {{"axes", pixels}}, "variance");
  give_scaled(node, away, variance, x.dims[1], order);
}

namespace {

/// x with all dimensions from the axis on as one, the last.
struct NormalRows {
  Value value;
  TensorId tensor;
  Dims kept, normal; ///< dimensions before the axis, and from it on
};

NormalRows normal_rows(NodeImport &node) {
  const Value &x = node.real_in(0);
  const std::size_t axis = node.axis(node.integer("axis", -1), x.rank());
  const auto cut = x.dims.begin() + static_cast<std::ptrdiff_t>(axis);
  NormalRows rows{x, kNone, {x.dims.begin(), cut}, {cut, x.dims.end()}};
  if (rows.normal.size() > 1) {
    Dims merged = rows.kept;
    merged.push_back(product_of(rows.normal));
    rows.value = reshaped_value(node, x, merged, false);
  }
  Value &value = rows.value;
  Order order = value.tensor == kNone || value.channels != 0 ? plain_order(value.rank()) : value.order;
  order.erase(std::find(order.begin(), order.end(), axis));
  order.push_back(axis);
  rows.tensor = value.tensor = node.place.in_order(value, order);
  value.order = order;
  value.channels = 0;
  return rows;
}

/// An element for each of a row; filled where the node has no such input.
TensorId of_rows(NodeImport &node, const NormalRows &rows, std::size_t input, const char *initial, double fallback) {
  const std::int64_t width = product_of(rows.normal);
  if (!node.has_input(input)) return filled(node, initial, width, fallback);
  const Value &value = node.real_in(input);
  if (value.dims != rows.normal)
    node.fail(fmt::format("input {} '{}' is {}; it must be {}", input, value.name, text_of(value.dims),
                          text_of(rows.normal)));
  Arrangement flat{{}, plain_order(value.rank()), {width}};
  for (const std::int64_t dim : value.dims)
    flat.cuts.push_back({dim});
  return node.place.arranged(value, flat, initial);
}

/// y as x has its dimensions, and statistics with a 1 for each of a row's.
void give_normal(NodeImport &node, const NormalRows &rows, const std::vector<TensorId> &y) {
  Value result = rows.value;
  result.tensor = y[0];
  result.blob = nullptr;
  result.literal = nullptr;
  Dims dims = rows.kept;
  dims.insert(dims.end(), rows.normal.begin(), rows.normal.end());
  node.give(reshaped_value(node, result, dims, true));
  for (std::size_t o = 1; o < y.size(); ++o) {
    if (!node.wants(o)) continue;
    Value statistics = result;
    statistics.tensor = y[o];
    statistics.dims.pop_back();
    statistics.order.pop_back();
    Dims ones = rows.kept;
    ones.resize(dims.size(), 1);
    node.give(reshaped_value(node, statistics, ones, false), o);
  }
}

} // namespace

void import_layer_normalization(NodeImport &node) {
  const NormalRows rows = normal_rows(node);
  const std::vector<TensorId> inputs{rows.tensor, of_rows(node, rows, 1, "ones", 1),
                                     of_rows(node, rows, 2, "zeros", 0)};
  const Attributes attributes{{"epsilon", node.real("epsilon", 1e-5)}};
  const bool direct = rows.normal.size() == 1, statistics = node.wants(1) || node.wants(2);
  if (direct && !statistics) return give_normal(node, rows, {node.last("LayerNormalization", inputs, attributes)});
  const std::string name = direct ? node.name() : node.name() + ".rows";
  const std::vector<std::optional<std::string>> names{
      direct ? node.build.fresh_tensor(node.node().outputs.front()) : std::string{}, std::string{}, std::string{}};
  give_normal(node, rows,
              node.build.add_named("LayerNormalization", inputs, attributes, node.build.fresh_op(name), names));
}

void import_rms_normalization(NodeImport &node) {
  const NormalRows rows = normal_rows(node);
  const std::vector<TensorId> inputs{rows.tensor, of_rows(node, rows, 1, "ones", 1)};
  const Attributes attributes{{"epsilon", node.real("epsilon", 1e-5)}};
  const bool direct = rows.normal.size() == 1;
  give_normal(node, rows,
              {direct ? node.last("RMSNormalization", inputs, attributes)
                      : node.step("RMSNormalization", inputs, attributes, "rows")});
}

/// Those of the usual form have been replaced (quantised.hpp).
void import_integers(NodeImport &node) {
  node.fail("is read of activations that the network quantises, with weights and scales that the file has; export the "
            "model before it is quantised, or with QuantizeLinear and DequantizeLinear around real operators (QDQ)");
}

void import_quantize(NodeImport &node) { node.give(node.real_in(0)); } // numbers stay as they are

void import_dropout(NodeImport &node) {
  const Value &x = node.in(0);
  node.give(x); // off, as in the networks of models/
  if (!node.wants(1)) return;
  Value mask;
  mask.kind = Kind::kTruth;
  mask.dims = x.dims;
  mask.order = plain_order(mask.rank());
  mask.literal = std::make_shared<Literal>(
      Literal{DataType::kBool, x.dims, std::vector<std::int64_t>(static_cast<std::size_t>(product_of(x.dims)), 1)});
  node.give(std::move(mask), 1);
}

} // namespace gradweave::graph::onnx
