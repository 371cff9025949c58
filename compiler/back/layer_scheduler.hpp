// Schedulers that look at one layer at a time.
#pragma once

#include "compiler/ir/scheduler.hpp"
#include "compiler/request/error.hpp"

namespace gradweave::compiler {

/// Schedules several layers each by itself: all forward passes in their order, then all backward passes in the opposite
/// one. What a layer leaves in the scratchpad may still serve the next.
class LayerScheduler : public Scheduler {
public:
  Scheduled schedule(const SchedulingProblem &problem) const override;

protected:
  /// `problem` has one layer.
  virtual Scheduled schedule_layer(const SchedulingProblem &problem) const = 0;
};

} // namespace gradweave::compiler
