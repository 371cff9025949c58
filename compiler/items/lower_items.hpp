// From a group of ops to what is done for an item.
#pragma once

#include "compiler/items/item_group.hpp"
#include "compiler/items/item_jobs.hpp"
#include "sw_models/config/npu_config.hpp"

#include <functional>
#include <optional>

namespace gradweave::compiler {

/// The stages of an item. Products have all elements of an item's matrices; of an operator's jobs (lower_op()) each
/// must be, item by item, the same program over rows that are lanes (jobs of elements may be turned to be so), must
/// read nothing that another item of the group has computed, and each tile that is handed on must be the same rectangle
/// on both sides. Empty if one is not: then the group's ops are to run one by one. What only ops of the group read, and
/// `keep` does not ask for, is not stored.
///
/// A program that computes a value twice is split where keeping it takes less time (split_program()). A result that
/// fits the place of what its run reads for the last time, each element before it is written, lies there.
std::optional<ItemJobs> lower_items(const graph::Graph &graph, const graph::Consumers &consumers,
                                    const ItemGroup &group, const NpuConfig &npu,
                                    const std::function<bool(graph::TensorId)> &keep = {});

} // namespace gradweave::compiler
