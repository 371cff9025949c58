// The plainest schedule: the largest tiles that fit, one product after another, nothing tried.
#pragma once

#include "compiler/back/layer_scheduler.hpp"

namespace gradweave::compiler {

/// All of Y, or all of dX and then all of dW; each result is summed up in one go, row by row. What a search has to
/// beat, and a first example of a scheduler.
class InOrder final : public LayerScheduler {
public:
  Schedule name() const override { return Schedule("in_order"); }
  std::string_view summary() const override { return "the largest tiles that fit, one by one, without a search"; }

protected:
  /// Throws CompileError if not even single elements fit the scratchpad, or they take too many commands.
  Scheduled schedule_layer(const SchedulingProblem &problem) const override;
};

} // namespace gradweave::compiler
