// Embedding tables that lie in the flash of a system's devices: which, and which blocks a step touches.
#pragma once

#include "train/system/system_network.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::runtime::train {

/// What a look-up of ids takes from a table.
struct TableRows {
  std::uint64_t looked_up = 0, distinct = 0; ///< rows
  std::vector<std::uint32_t> blocks;         ///< of the table that hold them, ascending
};

/// A parameter, or a moment of it that its optimizer keeps, rows one behind another from a block's begin on.
struct FlashTable {
  graph::TensorId tensor = graph::kNone;
  graph::TensorId next = graph::kNone; ///< its value in the next step; kNone: the step does not update it
  graph::TensorId ids = graph::kNone;  ///< that its rows are looked up by
  std::uint32_t device = 0;            ///< of the system
  TableRows rows = {};
  std::uint64_t flash = 0;  ///< address of its first block
  std::uint64_t memory = 0; ///< of the first of the blocks that are in the device's memory, one behind another
};

/// Of each op of the network's step, its place if it is where tables lie (graph::places_of_look_ups()); else kNone.
std::vector<std::uint32_t> look_ups_of(const SystemNetwork &network);

/// All there are of a network's step, in the order of their look-ups, each table's moments behind it. Throws
/// graph::GraphError naming the table if a step updates rows that it does not look up.
std::vector<FlashTable> tables_in_flash(const SystemNetwork &network, const SystemConfig &system);

/// Throws graph::GraphError naming the table for an id that is no row.
TableRows rows_of(const graph::Tensor &table, const std::vector<std::int32_t> &ids);

/// As many ids as a tensor has, spread evenly over the rows of the table that is looked up by them.
std::vector<std::int32_t> spread_ids(const graph::Graph &step, graph::TensorId ids);

} // namespace gradweave::runtime::train
