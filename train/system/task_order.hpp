// In which order the devices of a system do what a step has for them: a list schedule.
#pragma once

#include "sw_models/system/system_config.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace gradweave::runtime::train {

using TaskId = std::uint32_t;

/// Where a task belongs in a step, by which devices choose.
enum class Direction : std::uint8_t {
  kForward,  ///< maps
  kBackward, ///< gradients of maps
  kWeights,  ///< gradients of weights, and what follows from them
};

struct Task {
  std::array<std::uint32_t, 2> devices{}; ///< it holds both, which may be one
  std::uint64_t ps = 0;                   ///< how long, about
  std::vector<TaskId> waits;              ///< tasks before it
  Direction direction = Direction::kForward;
  std::uint32_t micro_batch = 0; ///< of all: their number
  bool transfer = false;
};

/// Tasks in the order in which they begin when each device does one at a time, the one that it could begin first; of
/// several at one time a transfer before streams, then by `order` and micro-batch, then by number. With eager_moves a
/// transfer comes before all streams that begin later than what it waits for has ended.
std::vector<TaskId> order_tasks(const std::vector<Task> &tasks, std::uint32_t devices, const PipelineOrder &order);

} // namespace gradweave::runtime::train
