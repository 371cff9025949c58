// The search for the plans of one layer in one order.
#pragma once

#include "compiler/ir/error.hpp"
#include "compiler/ir/scheduler.hpp"
#include "compiler/lower/partition.hpp"

#include <memory>

namespace gradweave::compiler {

/// The fastest plans found for a layer in the order `options.schedule`, which must be one that has phases (see
/// phases()). Layers of a shape share them. Throws CompileError if none fits.
Memo<FoundPlans>::Pointer search_layer(const Layer &layer, const Machine &npu, const CompileOptions &options,
                                       Memo<FoundPlans> &known);

} // namespace gradweave::compiler
