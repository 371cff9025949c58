// The search for list schedules of a phase: tilings, blocks, weights of the list, areas of the scratchpad.
#pragma once

#include "compiler/ir/layout.hpp"
#include "compiler/ir/program.hpp"
#include "compiler/list/list_plan.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace gradweave::compiler::list {

/// The products in the order of the list schedule, with their cores.
std::vector<TileProduct> list_products(const ListPlan &plan, const std::vector<Layer> &layers, const Layout &layout,
                                       const Machine &npu);

struct ListSearchOptions {
  std::vector<PhasePlan> from; ///< plans of the phase that are known to be good, without products
  std::uint64_t plans = 300;   ///< changes of good plans that are tried
  std::uint64_t seed = 1;      ///< of the changes
};

/// The fastest list schedule found for a phase with a single result, by the timing model: not slower than those given.
/// Nothing if no product fits. Deterministic. `tried` is called after each plan; may throw.
std::optional<ListPlan> search_list(PhaseKind kind, const Layer &layer, const Layout &layout, const Machine &npu,
                                    const ListSearchOptions &options, const std::function<void()> &tried = {});

} // namespace gradweave::compiler::list
