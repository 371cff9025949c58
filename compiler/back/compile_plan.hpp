// The part of compile_layer() after the search, for callers that choose the plan themselves.
#pragma once

#include "compiler/ir/error.hpp"
#include "compiler/ir/layout.hpp"
#include "compiler/ir/options.hpp"
#include "compiler/ir/program.hpp"
#include "sw_models/npu_config.hpp"

namespace gradweave::compiler {

/// Checks the plan and its program, encodes them and verifies the stream. Throws CompileError as compile_layer() does.
CompiledLayer compile_plan(const Layer &layer, const NpuConfig &npu, const CompileOptions &options,
                           const Layout &layout, const TimedPlan &plan);

} // namespace gradweave::compiler
