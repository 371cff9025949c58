// The baseline of igo_micro23 and its schedules as the paper describes them, without any search
// (docs/paper-baseline.md).
#pragma once

#include "compiler/ir/scheduler.hpp"
#include "compiler/paper/planner.hpp"
#include "compiler/request/error.hpp"

namespace gradweave::compiler::paper {

/// Plans layers, one at a time, under a policy, in the order that the options name: `ideal` is the fastest of
/// interleave, dx_major and dw_major, by the timing model; the scheduler's own name means Algorithm 1. Of the options
/// count schedule, pass, how the layer is cut, and whether there is to be a stream. Algorithm 1 looks at a part's own
/// dimensions. One core is used unless the layer is cut.
class PaperScheduler final : public Scheduler {
public:
  /// `ideal`: for section 3.3 of the paper (dy_once, with sequential only), and for asking what its gains depend on.
  explicit PaperScheduler(const Policy &policy = {}, const Idealisation &ideal = {}) : policy_(policy), ideal_(ideal) {}

  Schedule name() const override { return Schedule("igo_paper"); }
  std::string_view summary() const override { return "the paper's own tiles and replacement, without a search"; }
  bool reads_images() const override { return false; }
  bool plans_together() const override { return false; }
  /// Throws CompileError if the tiles or the layer do not fit, or if there are several layers; std::invalid_argument if
  /// an idealisation is asked for with a stream, or dy_once with another schedule than sequential.
  Scheduled schedule(const SchedulingProblem &problem) const override;

private:
  Policy policy_;
  Idealisation ideal_;
};

} // namespace gradweave::compiler::paper
