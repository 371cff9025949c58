// The search for the plans of one layer in one order.
#pragma once

#include "compiler/ir/scheduler.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/request/error.hpp"

#include <memory>

namespace gradweave::compiler {

/// The fastest plans found for a layer in the order `options.schedule`, which must be one that has phases (see
/// phases()). Layers of a shape share them, also with earlier processes if there is a store: what it gives is taken if
/// it is a plan of the layer, fits, and takes the cycles that it says. Throws CompileError if none fits.
Memo<FoundPlans>::Pointer search_layer(const Layer &layer, const Machine &npu, const CompileOptions &options,
                                       KnownPlans &known);

} // namespace gradweave::compiler
