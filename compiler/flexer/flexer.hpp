// The scheduler of flexer_cgo23 as the paper describes it (docs/flexer.md).
#pragma once

#include "compiler/ir/scheduler.hpp"

namespace gradweave::compiler::flexer {

/// Algorithm 1: a list schedule for each tiling, and the best by the metric of CompileOptions::flexer_policy, with
/// latencies by the timing model. A forward pass is one phase; a backward pass with a dX one too, whose products share
/// dY. All cores of the NPU take part; options that cut a layer are refused.
class FlexerScheduler final : public Scheduler {
public:
  Schedule name() const override { return Schedule("flexer"); }
  std::string_view summary() const override {
    return "out of order on all cores, as Flexer's list scheduler and its memory management";
  }
  bool plans_together() const override { return false; }
  bool explains() const override { return true; }
  /// Throws CompileError if there are several layers, a partition, or no tiling fits.
  Scheduled schedule(const SchedulingProblem &problem) const override;
};

} // namespace gradweave::compiler::flexer
