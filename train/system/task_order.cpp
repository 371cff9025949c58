#include "train/system/task_order.hpp"

#include <algorithm>
#include <tuple>

namespace gradweave::runtime::train {
namespace {

class Scheduler {
public:
  Scheduler(const std::vector<Task> &tasks, std::uint32_t devices, const PipelineOrder &order)
      : tasks_(tasks), order_(order), readers_(tasks.size()), open_(tasks.size()), due_(tasks.size()), free_(devices) {
    for (TaskId id = 0; id < tasks.size(); ++id) {
      open_[id] = tasks[id].waits.size();
      for (const TaskId wait : tasks[id].waits)
        readers_[wait].push_back(id);
      if (open_[id] == 0) ready_.push_back(id);
    }
  }

  std::vector<TaskId> run() {
    std::vector<TaskId> result;
    while (!ready_.empty()) {
      const auto next =
          std::min_element(ready_.begin(), ready_.end(), [this](TaskId a, TaskId b) { return key(a) < key(b); });
      const TaskId id = *next;
      ready_.erase(next);
      result.push_back(id);
      end(id);
    }
    return result;
  }

private:
  using Key = std::tuple<std::uint64_t, bool, std::uint32_t, std::uint32_t, TaskId>;

  std::uint64_t begin_of(const Task &task, TaskId id) const {
    return std::max({due_[id], free_[task.devices[0]], free_[task.devices[1]]});
  }

  Key key(TaskId id) const {
    const Task &task = tasks_[id];
    const bool early = task.transfer && order_.eager_moves;
    const auto rank = [&]() -> std::uint32_t {
      if (task.direction == Direction::kWeights) return 2;
      return (task.direction == Direction::kBackward) == order_.backward_first ? 0 : 1;
    };
    return {early ? due_[id] : begin_of(task, id), !task.transfer, rank(), task.micro_batch, id};
  }

  void end(TaskId id) {
    const Task &task = tasks_[id];
    const std::uint64_t end = begin_of(task, id) + task.ps;
    for (const std::uint32_t device : task.devices)
      free_[device] = end;
    for (const TaskId reader : readers_[id]) {
      due_[reader] = std::max(due_[reader], end);
      if (--open_[reader] == 0) ready_.push_back(reader);
    }
  }

  const std::vector<Task> &tasks_;
  PipelineOrder order_;
  std::vector<std::vector<TaskId>> readers_;
  std::vector<std::size_t> open_;   ///< of each task, what it waits for
  std::vector<std::uint64_t> due_;  ///< of each task
  std::vector<std::uint64_t> free_; ///< of each device
  std::vector<TaskId> ready_;
};

} // namespace

std::vector<TaskId> order_tasks(const std::vector<Task> &tasks, std::uint32_t devices, const PipelineOrder &order) {
  return Scheduler(tasks, devices, order).run();
}

} // namespace gradweave::runtime::train
