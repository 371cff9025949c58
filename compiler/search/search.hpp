// Choice of tile sizes, loop orders, scratchpad split and load window for a layer.
#pragma once

#include "compiler/lower/layout.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/request/error.hpp"
#include "sw_models/config/machine.hpp"

#include <functional>

namespace gradweave::compiler {

/// The most promising plans by estimate, best first; at least one. Every schedule's phases get the same effort, so that
/// schedules can be compared. Deterministic. Throws CompileError if not even products of single elements fit the
/// scratchpad, or if tiles that fit are too many.
/// `effort`: share of the usual work, as effort_of() gives it. `tried` is called after every plan; it may throw.
/// `whole`: the layer that `layer` is a sample of, if it is one: tiles have to be few enough for it.
std::vector<std::vector<PhasePlan>> search(const Layer &layer, Schedule schedule, Pass pass, const Cut &cut,
                                           const Layout &layout, const Machine &npu, double effort = 1,
                                           const std::function<void()> &tried = {}, const Layer *whole = nullptr);

/// The search before the changes of plans takes part in their number, up to its usual work.
double effort_of(std::uint64_t plans);

} // namespace gradweave::compiler
