// `gradweave memory --validate`.
#pragma once

#include "app/cli/common/arguments.hpp"

#include <optional>
#include <string>

namespace gradweave::cli {

struct MemoryValidation {
  WorkArguments work;              ///< what is compiled; an empty model or NPU: all of the igo evaluation
  std::string capacity;            ///< scratchpads in MiB; empty: the NPU's own
  std::optional<double> bandwidth; ///< GB/s; none: the memory's own
  std::string json, csv;
};

/// Compiles training steps, and compares their cycles and traffic with what the memory model predicts from shapes
/// alone. Returns an exit code; throws as resolve() and compile() do.
int validate_memory(const MemoryValidation &arguments, const SignalGuard &signals);

} // namespace gradweave::cli
