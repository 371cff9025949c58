// The compiler's interface: layers in, a checked binary command stream out.
#pragma once

#include "compiler/ir/compiled.hpp"
#include "compiler/ir/scheduler.hpp"
#include "compiler/request/error.hpp"
#include "compiler/request/options.hpp"
#include "compiler/schedule/registry.hpp"
#include "sw_models/config/machine.hpp"

namespace gradweave::compiler {

/// What earlier compilations found. Networks repeat their layers: with one cache a shape is searched and compiled once.
/// Any number of threads may compile with it at once.
struct CompileCache {
  /// A compiled layer, whose stream is kept apart: who does not ask for it does not copy it.
  struct KnownStream {
    Compiled compiled; ///< but for stream and info
    std::vector<isa::Command> stream;
    std::vector<CommandInfo> info;
  };

  KnownPlans plans;
  Memo<KnownStream> streams;
};

/// Compiles layers into one stream and verifies the result of every pass. A single layer of the vector unit
/// (Layer::vector) has the same stream under all schedules; among others such a one is search_step()'s and weave()'s.
/// They are in the order of the forward pass; where their names link them (Layer::input, Layer::x_of) they share
/// tensors. Throws CompileError (what() says which layer, why, and what to change) if no tiling fits the scratchpad or
/// a dimension or the footprint is too large for the device.
Compiled compile(const std::vector<Layer> &layers, const Machine &npu, const CompileOptions &options,
                 CompileCache &cache);
/// The same with nothing known from before, and nothing kept.
Compiled compile(const std::vector<Layer> &layers, const Machine &npu, const CompileOptions &options);
/// The same by a scheduler that may not be registered; of the options counts what it looks at, and `stream`.
Compiled compile(const Scheduler &scheduler, const std::vector<Layer> &layers, const Machine &npu,
                 const CompileOptions &options, CompileCache &cache);

/// The stream with `base` added to every DRAM address.
std::vector<isa::Command> relocate(const std::vector<isa::Command> &stream, std::uint64_t base);

} // namespace gradweave::compiler
