// --step of cosim and simulate: one step of training instead of layers.
#pragma once

#include "app/cli/run/cosim_arguments.hpp"
#include "app/cli/run/simulate_arguments.hpp"

namespace gradweave::cli {

/// One whole step of training on random data, or on that of files. Returns and throws as train().
int cosim_step(const CosimArguments &arguments, const SignalGuard &signals);
/// Its cycles, without data.
int simulate_step(const SimulateArguments &arguments, const SignalGuard &signals);

} // namespace gradweave::cli
