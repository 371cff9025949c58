// Steps of training side by side, each on a device of its own.
#pragma once

#include "device/device.hpp"
#include "train/step_executor.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <vector>

namespace gradweave::runtime::train {

/// A step that golden execution has done: what it is fed, and what lives before and behind it.
struct GoldenStep {
  std::vector<std::vector<Fed>> batches;
  std::vector<float> constants;
  std::shared_ptr<const Living> begin, end; ///< `end` is the `begin` of the next one
};

/// How many steps at a time pay on a machine: one a core, but no more than there are, and than fit half of its memory.
/// A lane has each tensor in its golden execution, in its device's memory, and, of what lives on, in copies for
/// comparison.
unsigned lanes_that_pay(const graph::Graph &step, std::uint64_t steps, unsigned cores, std::uint64_t memory_bytes);

/// Golden execution is far ahead of a simulated NPU: it knows what a step begins with while the one before is still
/// under way. So each step begins with golden values, on a device of its own, and what lives at its end is compared,
/// bit for bit, with what the next one began with. If all steps are equal so, they are those of one device, one after
/// another (by induction); else the first in order that is not ends the run. No result depends on how many lanes there
/// are.
class Lanes {
public:
  /// `count` of them: `first`, whose device has data, and others beside it, on devices that `make_device` makes and
  /// whose golden executions take `threads` threads. Each begins its steps afresh from now on. References outlive this.
  Lanes(const graph::TrainingGraph &step, StepExecutor &first, std::size_t count, unsigned threads,
        const std::function<std::unique_ptr<Device>()> &make_device);
  /// Abandons the steps that are under way.
  ~Lanes();
  Lanes(const Lanes &) = delete;
  Lanes &operator=(const Lanes &) = delete;

  std::size_t count() const { return executors_.size(); }
  bool full() const { return under_way_.size() == count(); }
  /// As StepExecutor::watch(), of steps on all devices.
  void watch(const std::vector<graph::TensorId> &tensors);

  /// A step by golden execution, which goes ahead: `step` lacks its end.
  void execute(GoldenStep &step) const;
  /// Begins a step in a thread of its own. Not while all lanes are taken.
  void begin(GoldenStep step);
  /// Of the oldest step under way, when it is over. `tick` is called a few times a second until then, and may throw.
  /// Rethrows what the step threw.
  StepResult end(const std::function<void()> &tick);

private:
  StepExecutor golden_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::unique_ptr<StepExecutor>> beside_;
  std::vector<StepExecutor *> executors_;
  std::size_t begun_ = 0;
  std::deque<std::future<StepResult>> under_way_; ///< in order; the lane of a step is that of the one `count()` before
};

} // namespace gradweave::runtime::train
