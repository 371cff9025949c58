// Losses of class labels, as files have them that were exported for training.
#include "graph/onnx/nodes/compose.hpp"
#include "graph/onnx/nodes/importers.hpp"

#include <fmt/format.h>

namespace gradweave::graph::onnx {
namespace {

/// Scores with their classes last, and the labels of their rows.
struct Labelled {
  TensorId scores, labels;
  std::int64_t classes;
  std::size_t rank; ///< of the labels
};

Labelled labelled(NodeImport &node) {
  const Value &x = node.real_in(0), &labels = node.in(1);
  Dims rows = x.dims;
  if (x.rank() >= 2) rows.erase(rows.begin() + 1);
  if (x.rank() < 2 || labels.kind != Kind::kWhole || labels.dims != rows)
    node.fail(
        fmt::format("scores '{}' are {} and labels '{}' {}; these must be whole numbers, one for each place beside "
                    "the second dimension of the scores",
                    x.name, text_of(x.dims), labels.name, text_of(labels.dims)));
  return {node.place.in_order(x, image_order(x.rank())), node.place.plain(labels), x.dims[1], labels.rank()};
}

/// What each class counts, [classes]; kNone: all count alike.
TensorId class_weights(NodeImport &node, std::int64_t classes) {
  const bool given = node.has_input(2), ignores = node.has_attribute("ignore_index");
  const std::int64_t ignored = node.integer("ignore_index", -1);
  TensorId weights = kNone;
  if (given) {
    const Value &value = node.real_in(2);
    if (value.dims != Dims{classes})
      node.fail(fmt::format("weights '{}' are {}; they must be [{}]", value.name, text_of(value.dims), classes));
    weights = node.place.plain(value);
  }
  if (!ignores) return weights;
  std::vector<double> counts(static_cast<std::size_t>(classes), 1);
  if (ignored >= 0 && ignored < classes) counts[static_cast<std::size_t>(ignored)] = 0;
  const TensorId counted =
      node.build.constant(node.build.fresh(node.name() + ".counted"), shape_of(node.build, node.name(), {classes}),
                          counts, ElementType::kFp32);
  return weights == kNone ? counted : node.step("Mul", {weights, counted}, {}, "weights");
}

/// Of each row the negative score at its label, times what its class counts; their sum or mean over what counts. A
/// label that is no class counts nothing.
void give_loss(NodeImport &node, const Labelled &rows, TensorId scores) {
  const TensorId weights = class_weights(node, rows.classes), zero = scalar(node, 0);
  const TensorId mask = node.step("OneHot", {rows.labels}, {{"depth", rows.classes}});
  const Attributes over_classes{{"axes", Dims{-1}}, {"keepdims", std::int64_t{0}}};
  const Attributes over_all{{"axes", Dims{}}, {"keepdims", std::int64_t{0}}};
  TensorId chosen = node.step("Where", {mask, scores, zero}, {}, "chosen");
  if (weights != kNone) chosen = node.step("Mul", {chosen, weights}, {}, "weighted");
  const TensorId row = node.step("ReduceSum", {chosen}, over_classes, "row");
  const std::string reduction = node.text("reduction", "mean");
  if (reduction == "none") return node.give(node.last("Neg", {row}), plain_order(rows.rank));
  const TensorId losses = node.step("Neg", {row});
  if (reduction == "sum") return node.give(node.last("ReduceSum", {losses}, over_all), {});
  if (reduction != "mean")
    node.fail(fmt::format("attribute 'reduction' = '{}' is not known; none, sum and mean are", reduction));
  if (weights == kNone) return node.give(node.last("ReduceMean", {losses}, over_all), {});
  const TensorId counted =
      node.step("ReduceSum", {node.step("Where", {mask, weights, zero}, {}, "counts")}, over_all, "counted");
  node.give(node.last("Div", {node.step("ReduceSum", {losses}, over_all), counted}), {});
}

} // namespace

void import_negative_log_likelihood(NodeImport &node) {
  const Labelled rows = labelled(node);
  give_loss(node, rows, rows.scores);
}

void import_softmax_cross_entropy(NodeImport &node) {
  const Labelled rows = labelled(node);
  const Call call = log_softmax_call(node, rows.scores);
  const TensorId logarithms = node.step(call.op, call.inputs, {}, "logarithms");
  give_loss(node, rows, logarithms);
  if (node.wants(1)) node.give(logarithms, image_order(rows.rank + 1), 1);
}

} // namespace gradweave::graph::onnx
