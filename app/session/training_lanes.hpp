// The devices and executors of training steps side by side.
#pragma once

#include "device/device.hpp"
#include "train/trainer.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace gradweave::cli {

/// How many steps at a time pay on a machine: one a core, but no more than there are, and than fit half of its memory.
/// A lane has each tensor in its golden execution, in its device's memory, and, of what lives on, in copies for
/// comparison.
unsigned lanes_that_pay(const graph::Graph &step, std::uint64_t steps, unsigned cores, std::uint64_t memory_bytes);

/// Lanes, and what they stand on.
class TrainingLanes {
public:
  /// The lane of `first`, and further ones beside it, on devices that `make_device` makes. References outlive this.
  TrainingLanes(const graph::TrainingGraph &step, runtime::train::StepExecutor &first, unsigned count, unsigned threads,
                const std::function<std::unique_ptr<Device>()> &make_device);

  /// As StepExecutor::watch(), for all lanes.
  void watch(const std::vector<graph::TensorId> &tensors);
  /// Trainer::compared_step().
  runtime::train::StepResult next(runtime::train::Trainer &trainer, std::uint64_t until,
                                  const std::function<void()> &tick) {
    return trainer.compared_step(*lanes_, golden_, until, tick);
  }

private:
  runtime::train::StepExecutor golden_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::unique_ptr<runtime::train::StepExecutor>> beside_;
  std::vector<runtime::train::StepExecutor *> all_;
  std::unique_ptr<runtime::train::Lanes> lanes_; ///< ends first
};

} // namespace gradweave::cli
