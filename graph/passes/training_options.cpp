#include "graph/passes/training_options.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace gradweave::graph {

Extent parse_extent(std::string_view name) {
  if (name == "forward") return Extent::kForward;
  if (name == "gradients") return Extent::kGradients;
  if (name == "updates") return Extent::kUpdates;
  throw std::invalid_argument(fmt::format("unknown extent '{}'; known: forward, gradients, updates", name));
}

std::string_view to_string(OptimizerKind kind) { return kind == OptimizerKind::kSgd ? "sgd" : "adamw"; }

OptimizerKind parse_optimizer(std::string_view name) {
  for (const OptimizerKind kind : {OptimizerKind::kSgd, OptimizerKind::kAdamW})
    if (name == to_string(kind)) return kind;
  throw std::invalid_argument(fmt::format("unknown optimizer '{}'; known: sgd, adamw", name));
}

} // namespace gradweave::graph
