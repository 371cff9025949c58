// Schedulers that look at one layer at a time.
#pragma once

#include "compiler/ir/scheduler.hpp"
#include "compiler/request/error.hpp"

namespace gradweave::compiler {

/// Schedules several layers each by itself: all forward passes in their order, then all backward passes in the opposite
/// one. What a layer leaves in the scratchpad may still serve the next; between the passes of one layer by itself
/// nothing stays, as in a step other layers lie there.
class LayerScheduler : public Scheduler {
public:
  Scheduled schedule(const SchedulingProblem &problem) const override;

protected:
  /// `problem` has one layer, and both passes only where their plans do not fit one behind the other.
  virtual Scheduled schedule_layer(const SchedulingProblem &problem) const = 0;

private:
  /// Each pass of each layer as by itself.
  Scheduled schedule_apart(const SchedulingProblem &problem) const;
};

} // namespace gradweave::compiler
