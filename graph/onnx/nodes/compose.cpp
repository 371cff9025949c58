#include "graph/onnx/nodes/compose.hpp"

#include <fmt/format.h>

namespace gradweave::graph::onnx {

Own own(NodeImport &node, std::size_t i) {
  const Value &x = node.real_in(i);
  Own result{x.tensor != kNone ? x.tensor : node.place.plain(x), x};
  if (x.tensor == kNone) result.like.order = plain_order(x.rank());
  return result;
}

Own own_plain(NodeImport &node, std::size_t i) {
  const Value &x = node.real_in(i);
  if (x.channels == 0) return own(node, i);
  Own result{node.place.plain(x), x};
  result.like.channels = 0;
  result.like.order = plain_order(x.rank());
  return result;
}

TensorId scalar(NodeImport &node, double value) {
  return node.build.constant(node.build.fresh(fmt::format("{}.number", node.node().outputs.front())), {}, {value},
                             ElementType::kFp32);
}

Call norm_call(NodeImport &node, TensorId sum) {
  const TensorId zero = scalar(node, 0), none = node.step("Equal", {sum, zero});
  const TensorId root = node.step("Sqrt", {node.step("Where", {none, scalar(node, 1), sum}, {}, "some")});
  return {"Where", {none, zero, root}};
}

namespace {

constexpr std::size_t kMostSlices = 8; ///< of more runs a Gather takes less commands

struct IndexRun {
  std::int64_t first, count;
};

std::vector<IndexRun> runs_of(const Dims &indices) {
  std::vector<IndexRun> runs;
  for (const std::int64_t index : indices)
    if (!runs.empty() && index == runs.back().first + runs.back().count)
      ++runs.back().count;
    else
      runs.push_back({index, 1});
  return runs;
}

TensorId slice_of(NodeImport &node, TensorId tensor, std::size_t place, const IndexRun &run, bool last) {
  const Attributes cut{{"starts", Dims{run.first}},
                       {"ends", Dims{run.first + run.count}},
                       {"axes", Dims{static_cast<std::int64_t>(place)}}};
  return last ? node.last("Slice", {tensor}, cut) : node.step("Slice", {tensor}, cut);
}

} // namespace

TensorId taken_along(NodeImport &node, TensorId tensor, std::size_t place, const Dims &indices, bool last) {
  const std::vector<IndexRun> runs = runs_of(indices);
  const Attributes along{{"axis", static_cast<std::int64_t>(place)}};
  if (runs.size() == 1) return slice_of(node, tensor, place, runs[0], last);
  if (runs.size() <= kMostSlices) {
    std::vector<TensorId> parts;
    for (const IndexRun &run : runs)
      parts.push_back(slice_of(node, tensor, place, run, false));
    return last ? node.last("Concat", parts, along) : node.step("Concat", parts, along);
  }
  const TensorId list =
      node.build.constant(node.build.fresh(node.name() + ".places"),
                          shape_of(node.build, node.name(), {static_cast<std::int64_t>(indices.size())}),
                          {indices.begin(), indices.end()}, ElementType::kInt32);
  return last ? node.last("Gather", {tensor, list}, along) : node.step("Gather", {tensor, list}, along);
}

} // namespace gradweave::graph::onnx
