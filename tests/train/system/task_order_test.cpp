// List schedules of devices: what begins when, by hand.
#include "train/system/task_order.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace gradweave::runtime::train {
namespace {

Task stream(std::uint32_t device, std::uint64_t ps, std::vector<TaskId> waits,
            Direction direction = Direction::kForward, std::uint32_t micro_batch = 0) {
  Task task;
  task.devices = {device, device};
  task.ps = ps;
  task.waits = std::move(waits);
  task.direction = direction;
  task.micro_batch = micro_batch;
  return task;
}

Task transfer(std::uint32_t from, std::uint32_t to, std::uint64_t ps, std::vector<TaskId> waits,
              std::uint32_t micro_batch = 0) {
  Task task = stream(from, ps, std::move(waits), Direction::kForward, micro_batch);
  task.devices = {from, to};
  task.transfer = true;
  return task;
}

using Order = std::vector<TaskId>;

TEST(TaskOrder, WhatCanBeginFirstDoes) {
  // Device 0 is done with task 0 at 10, device 1 with task 1 at 4; task 2 follows there, task 3 waits for both.
  const std::vector<Task> tasks{stream(0, 10, {}), stream(1, 4, {}), stream(1, 20, {}), stream(0, 1, {0, 1})};
  EXPECT_EQ(order_tasks(tasks, 2, {}), (Order{0, 1, 2, 3}));
  const std::vector<Task> other{stream(0, 10, {}), stream(0, 1, {0}), stream(1, 4, {}), stream(1, 20, {2})};
  EXPECT_EQ(order_tasks(other, 2, {}), (Order{0, 2, 3, 1})); // 1 begins at 10, 3 at 4
}

TEST(TaskOrder, BackwardOrForwardFirst) {
  // At 10 a micro-batch could go back, or the next one forward.
  const std::vector<Task> tasks{stream(0, 10, {}), stream(0, 10, {}, Direction::kForward, 1),
                                stream(0, 10, {0}, Direction::kBackward)};
  EXPECT_EQ(order_tasks(tasks, 1, {true, true}), (Order{0, 2, 1}));
  EXPECT_EQ(order_tasks(tasks, 1, {false, true}), (Order{0, 1, 2}));
}

TEST(TaskOrder, GradientsOfWeightsFillWhatIsLeft) {
  const std::vector<Task> tasks{stream(0, 10, {}), stream(0, 5, {0}, Direction::kWeights),
                                stream(0, 5, {0}, Direction::kForward, 1), stream(0, 5, {0}, Direction::kBackward)};
  EXPECT_EQ(order_tasks(tasks, 1, {true, true}), (Order{0, 3, 2, 1}));
  EXPECT_EQ(order_tasks(tasks, 1, {false, true}), (Order{0, 2, 3, 1}));
}

TEST(TaskOrder, MicroBatchesGoOneBehindAnother) {
  // By layers in number, by micro-batch in the plan: both layers of the first one, then those of the second.
  const std::vector<Task> tasks{stream(0, 10, {}, Direction::kForward, 0), stream(0, 10, {}, Direction::kForward, 1),
                                stream(0, 10, {0}, Direction::kForward, 0), stream(0, 10, {1}, Direction::kForward, 1)};
  EXPECT_EQ(order_tasks(tasks, 1, {}), (Order{0, 2, 1, 3}));
}

TEST(TaskOrder, TransfersAreEagerOrLazy) {
  // What device 0 gives at 10 goes to device 1, which is at work until 30; meanwhile device 0 could go on.
  const std::vector<Task> tasks{stream(0, 10, {}), stream(1, 30, {}), transfer(0, 1, 2, {0}),
                                stream(0, 10, {}, Direction::kForward, 1)};
  EXPECT_EQ(order_tasks(tasks, 2, {true, true}), (Order{0, 1, 2, 3}));
  EXPECT_EQ(order_tasks(tasks, 2, {true, false}), (Order{0, 1, 3, 2}));
}

/// From 10 to 12: what waits for the receiver alone begins then, and something elsewhere at 11.
TEST(TaskOrder, ATransferHoldsBothEnds) {
  const std::vector<Task> tasks{stream(0, 10, {}), transfer(0, 1, 2, {0}), stream(2, 11, {}), stream(1, 5, {2}),
                                stream(2, 1, {2})};
  EXPECT_EQ(order_tasks(tasks, 3, {}), (Order{0, 2, 1, 4, 3}));
}

} // namespace
} // namespace gradweave::runtime::train
