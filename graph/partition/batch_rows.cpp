#include "graph/partition/batch_rows.hpp"

#include "graph/ir/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph {

BatchRows::BatchRows(const Graph &graph, const MicroBatch &inputs, const Partition &partition,
                     std::uint32_t micro_batches)
    : graph_(graph), partition_(partition), micro_(micro_batches), units_(graph.tensors.size()),
      in_pieces_(graph.tensors.size()) {
  Units all(partition.routes.size() * micro_batches);
  for (std::uint32_t unit = 0; unit < all.size(); ++unit)
    all[unit] = unit;
  for (const auto &[forward, id] : inputs.inputs) {
    const Tensor &input = graph.tensors[id];
    if (input.shape.rank() == 0) continue;
    if (!even(id, all))
      throw GraphError(fmt::format("graph '{}': the batch of input '{}', {}, is not divisible by {} shares of {} "
                                   "micro-batches each; use a multiple of {}",
                                   graph.name, input.name, input.shape[0], partition.shares(), micro_batches,
                                   shares(all)));
    units_[id] = all;
  }
}

BatchRows::Units BatchRows::of_micro_batch(TensorId id, std::uint32_t k) const {
  Units own;
  for (const std::uint32_t unit : units_[id])
    if (unit % micro_ == k) own.push_back(unit);
  return own;
}

std::uint32_t BatchRows::shares(const Units &units) const {
  std::uint32_t sum = 0;
  for (const std::uint32_t unit : units)
    sum += partition_.routes[unit / micro_].share;
  return sum;
}

void BatchRows::set(TensorId id, const Units &units, bool in_pieces) {
  if (units.empty() || graph_.tensors[id].shape.rank() == 0 || !even(id, units)) return;
  units_[id] = units;
  in_pieces_[id] = in_pieces;
}

bool BatchRows::along_rows(const Op &op, std::string_view name) {
  return (op.type->name == name || op.type->name == std::string(name) + "Indices") &&
         op.attributes.integer("axis") == 0;
}

bool BatchRows::view(OpId id) {
  const Op &op = graph_.ops[id];
  if (along_rows(op, "Concat")) return view_of_concat(op);
  return along_rows(op, "Split") && view_of_split(op);
}

bool BatchRows::view_of_concat(const Op &op) {
  Units all;
  bool pieces = false;
  for (const TensorId input : op.inputs) {
    if (units_[input].empty()) return false;
    all.insert(all.end(), units_[input].begin(), units_[input].end());
    pieces = pieces || in_pieces_[input] || one_micro_batch(units_[input]);
  }
  if (!even(op.outputs[0], all)) return false;
  set(op.outputs[0], all, pieces);
  return true;
}

bool BatchRows::view_of_split(const Op &op) {
  const Units &all = units_[op.inputs[0]];
  if (all.empty()) return false;
  const std::vector<std::int64_t> &sizes = op.attributes.integers("split");
  const std::int64_t rows = graph_.tensors[op.inputs[0]].shape[0] / shares(all);
  std::vector<Units> parts;
  auto unit = all.begin();
  for (const std::int64_t size : sizes) {
    std::int64_t left = size;
    parts.emplace_back();
    for (; left > 0 && unit != all.end(); ++unit) {
      parts.back().push_back(*unit);
      left -= rows * shares({*unit});
    }
    if (left != 0) return false;
  }
  for (std::size_t o = 0; o < op.outputs.size(); ++o)
    if (op.outputs[o] != kNone) set(op.outputs[o], parts[o], in_pieces_[op.inputs[0]]);
  return true;
}

bool BatchRows::even(TensorId id, const Units &units) const { return graph_.tensors[id].shape[0] % shares(units) == 0; }

bool BatchRows::one_micro_batch(const Units &units) const {
  return std::all_of(units.begin(), units.end(), [&](std::uint32_t u) { return u % micro_ == units[0] % micro_; });
}

std::optional<std::vector<RowInput>> BatchRows::sliced(OpId id) const {
  const Op &op = graph_.ops[id];
  auto inputs = row_wise_inputs({graph_, op});
  if (!inputs) return std::nullopt;
  const Units *own = nullptr;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (op.inputs[i] == kNone || (*inputs)[i] != RowInput::kRow) continue;
    const Units &units = units_[op.inputs[i]];
    if (units.empty() || (own != nullptr && units != *own)) return std::nullopt;
    own = &units;
  }
  if (own == nullptr || one_micro_batch(*own)) return std::nullopt;
  for (const TensorId output : op.outputs)
    if (output != kNone && (graph_.tensors[output].shape.rank() == 0 || !even(output, *own))) return std::nullopt;
  return inputs;
}

BatchRows::Units BatchRows::of_one_micro_batch(OpId id) const {
  Units own;
  for (const TensorId input : graph_.ops[id].inputs) {
    if (input == kNone || units_[input].empty()) continue;
    if (!one_micro_batch(units_[input]) || (!own.empty() && own != units_[input])) return {};
    own = units_[input];
  }
  return own;
}

} // namespace gradweave::graph
