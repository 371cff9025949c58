// What compilation found, for programs.
#pragma once

#include "compiler/ir/compiled.hpp"

#include <nlohmann/json_fwd.hpp>

namespace gradweave::cli {

/// A layer of `gradweave compile --json`: its shape, plan, cycles, bounds, and where its tensors lie.
nlohmann::ordered_json compiled_json(const compiler::Compiled &compiled);

} // namespace gradweave::cli
