// The compiler's interface: a layer's products in, a checked binary command stream out.
#pragma once

#include "compiler/ir/compiled.hpp"
#include "compiler/ir/error.hpp"
#include "compiler/ir/options.hpp"
#include "sw_models/npu_config.hpp"

namespace gradweave::compiler {

/// Compiles one layer and verifies the result of every pass. Throws CompileError (what() says which layer, why, and
/// what to change) if no tiling fits the scratchpad or a dimension or the footprint is too large for the device.
Compiled compile_layer(const Layer &layer, const NpuConfig &npu, const CompileOptions &options);

/// The stream with `base` added to every DRAM address.
std::vector<isa::Command> relocate(const std::vector<isa::Command> &stream, std::uint64_t base);

} // namespace gradweave::compiler
