#include "train/npu/plan/depthwise_op.hpp"

#include "graph/ir/operator.hpp"

#include <algorithm>
#include <optional>

namespace gradweave::runtime::train {
namespace {

compiler::DepthwiseProduct product_of(graph::ProductKind kind) {
  if (kind == graph::ProductKind::kForward) return compiler::DepthwiseProduct::kY;
  return kind == graph::ProductKind::kInputGradient ? compiler::DepthwiseProduct::kDX : compiler::DepthwiseProduct::kDW;
}

/// The op's product; none that could have a section.
std::optional<compiler::DepthwiseWork> depthwise_work_of(const graph::Graph &graph, const graph::Op &op) {
  if (op.type->lower == nullptr) return std::nullopt;
  const std::optional<graph::Product> product = op.type->lower({graph, op}).product;
  if (!product || !product->conv) return std::nullopt;
  const Convolution &conv = *product->conv;
  if (conv.group_channels() != 1 || conv.n() != 1) return std::nullopt;
  const bool sums = op.inputs.size() > 2 && op.inputs[2] != graph::kNone;
  const bool operands = std::all_of(op.inputs.begin(), op.inputs.end(), [&](graph::TensorId id) {
    return id == graph::kNone || graph.tensors[id].type == graph::ElementType::kBf16;
  });
  if (sums || !operands) return std::nullopt;
  const bool fp32 = graph.tensors[op.outputs[0]].type == graph::ElementType::kFp32;
  return compiler::DepthwiseWork{product_of(product->kind), conv, fp32};
}

} // namespace

bool has_depthwise_pieces(const graph::Graph &graph, const graph::Op &op, const NpuConfig &npu) {
  const std::optional<compiler::DepthwiseWork> work = depthwise_work_of(graph, op);
  return work && compiler::has_depthwise_pieces(*work, npu);
}

std::vector<isa::Command> depthwise_commands_of(const graph::Graph &graph, const graph::Op &op,
                                                const std::vector<std::uint64_t> &addresses, const NpuConfig &npu,
                                                const compiler::DepthwiseRoom &room) {
  return compiler::depthwise_commands(depthwise_work_of(graph, op).value(), addresses, npu, room).value();
}

} // namespace gradweave::runtime::train
