// A run on the timing model: all layers one after another in this process.
#pragma once

#include "runtime/run/run.hpp"

namespace gradweave::runtime {

struct SimulationEvents {
  LayerDone layer_done;
  /// Gets the times of all commands of a layer's stream, and the run's CYCLES; may be empty.
  std::function<void(const JobSpec &, const compiler::Compiled &, const std::vector<timing::CommandTimes> &,
                     std::uint64_t)>
      times = {};
};

/// Plans of all layers are searched on all cores. Compiles and simulates each layer under each schedule; or, if
/// `options.stream` names a file, `stream`, the commands in it. One compiled stream is in memory at a time. Timing
/// traces and timelines go to `options.times` and `options.timeline`: into one file in the order of the layers, or into
/// a file for each layer and schedule if that is a directory. Throws OutputError, Interrupted.
RunResult simulate(const RunOptions &options, const std::vector<isa::Command> &stream, const SignalGuard &signals,
                   const SimulationEvents &events);

/// The commands of a file: a binary stream (.gws) or text that can be assembled. Throws isa::AssemblyError, or
/// ConfigError if there are none.
std::vector<isa::Command> load_stream(const std::string &file);

/// What stands for the layer of a stream file: a layer without shape that has the file's name.
compiler::Layer stream_layer(const std::string &file);

} // namespace gradweave::runtime
