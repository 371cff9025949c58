// The search for the plans of one layer in one order.
#pragma once

#include "compiler/ir/error.hpp"
#include "compiler/ir/scheduler.hpp"
#include "compiler/lower/partition.hpp"

#include <memory>

namespace gradweave::compiler {

/// How the options cut a layer; parts asked for, or as many as there are cores, or two. Throws CompileError if the
/// layer has too few indices for so many parts, or parts are asked for without a partition.
Cut cut_of(const Layer &layer, const NpuConfig &npu, const CompileOptions &options);

/// The fastest plans found for a layer in the order `options.schedule`, which must be one that has phases (see
/// phases()). Layers of a shape share them. Throws CompileError if none fits.
Memo<FoundPlans>::Pointer search_layer(const Layer &layer, const NpuConfig &npu, const CompileOptions &options,
                                       Memo<FoundPlans> &known);

} // namespace gradweave::compiler
