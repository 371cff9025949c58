#include "train/system/flash_tables.hpp"

#include "graph/ir/error.hpp"
#include "graph/partition/look_ups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace gradweave::runtime::train {

using graph::kNone;
using graph::Op;
using graph::OpId;
using graph::Tensor;
using graph::TensorId;

namespace {

TensorId next_of(const graph::Graph &graph, TensorId tensor) {
  for (const graph::Update &update : graph.updates)
    if (update.tensor == tensor) return update.next;
  return kNone;
}

/// The op that updates the rows of a table; kNone: none does.
OpId update_of(const SystemNetwork &network, const SystemConfig &system, const FlashTable &table) {
  const graph::Graph &graph = network.step.graph;
  if (table.next == kNone) return kNone;
  const OpId update = graph.tensors[table.next].producer;
  const Op &op = graph.ops[update];
  if (std::find(op.inputs.begin(), op.inputs.end(), table.ids) == op.inputs.end())
    throw graph::GraphError(
        fmt::format("{}: table '{}' lies in the flash of device '{}', and '{}' updates all its rows in each step; give "
                    "--sparse-embeddings, so that it updates those that are looked up, or leave out [tables]",
                    system.file, graph.tensors[table.tensor].name, system.devices[table.device].name, op.type->name));
  return update;
}

} // namespace

std::vector<std::uint32_t> look_ups_of(const SystemNetwork &network) {
  const graph::Partition &partition = network.network.partition;
  return graph::places_of_look_ups(network.step.graph, partition.tables, partition.reduced_there);
}

std::vector<FlashTable> tables_in_flash(const SystemNetwork &network, const SystemConfig &system) {
  const graph::Graph &graph = network.step.graph;
  const std::vector<std::uint32_t> places = look_ups_of(network);
  std::vector<FlashTable> tables;
  for (OpId id = 0; id < graph.ops.size(); ++id) {
    const Op &op = graph.ops[id];
    if (places[id] == kNone || !graph::looks_up(graph, op)) continue;
    FlashTable table;
    table.tensor = op.inputs[0];
    table.ids = op.inputs[1];
    table.next = next_of(graph, table.tensor);
    table.device = network.devices[places[id]];
    tables.push_back(table);
    const OpId update = update_of(network, system, table);
    if (update == kNone) continue;
    for (const TensorId state : graph.ops[update].inputs) {
      if (state == kNone || graph.tensors[state].role != graph::Role::kState) continue;
      table.tensor = state;
      table.next = next_of(graph, state);
      tables.push_back(table);
    }
  }
  return tables;
}

TableRows rows_of(const Tensor &table, const std::vector<std::int32_t> &ids) {
  const std::uint64_t row = table.shape.elements() / table.shape[0] * graph::bytes_of(table.type);
  std::set<std::int32_t> distinct;
  std::set<std::uint32_t> blocks;
  for (const std::int32_t id : ids) {
    if (id < 0 || static_cast<std::uint32_t>(id) >= table.shape[0])
      throw graph::GraphError(
          fmt::format("row {} of table '{}' is looked up, which has rows 0 to {}", id, table.name, table.shape[0] - 1));
    if (!distinct.insert(id).second) continue;
    const std::uint64_t first = static_cast<std::uint64_t>(id) * row, last = first + row - 1;
    for (std::uint64_t block = first / kFlashBlock; block <= last / kFlashBlock; ++block)
      blocks.insert(static_cast<std::uint32_t>(block));
  }
  return {ids.size(), distinct.size(), {blocks.begin(), blocks.end()}};
}

std::vector<std::int32_t> spread_ids(const graph::Graph &step, TensorId ids) {
  std::uint64_t rows = 1;
  for (const Op &op : step.ops)
    if (graph::looks_up(step, op) && op.inputs[1] == ids) rows = step.tensors[op.inputs[0]].shape[0];
  const std::uint64_t count = step.tensors[ids].shape.elements();
  std::vector<std::int32_t> values;
  for (std::uint64_t i = 0; i < count; ++i)
    values.push_back(static_cast<std::int32_t>(i * rows / count));
  return values;
}

} // namespace gradweave::runtime::train
