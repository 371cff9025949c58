#include "app/session/training_lanes.hpp"

#include <algorithm>

namespace gradweave::cli {

using namespace runtime::train;

unsigned lanes_that_pay(const graph::Graph &step, std::uint64_t steps, unsigned cores, std::uint64_t memory_bytes) {
  constexpr std::uint64_t kCopies = 3;
  std::uint64_t bytes = 1;
  for (const graph::Tensor &tensor : step.tensors)
    bytes += kCopies * tensor.shape.elements() * sizeof(float);
  const std::uint64_t most = std::min<std::uint64_t>({steps, cores, memory_bytes / 2 / bytes});
  return std::max(1U, static_cast<unsigned>(most));
}

TrainingLanes::TrainingLanes(const graph::TrainingGraph &step, StepExecutor &first, unsigned count, unsigned threads,
                             const std::function<std::unique_ptr<Device>()> &make_device)
    : golden_(step), all_{&first} {
  while (all_.size() < count) {
    devices_.push_back(make_device());
    beside_.push_back(first.beside(*devices_.back(), threads));
    all_.push_back(beside_.back().get());
  }
  lanes_ = std::make_unique<Lanes>(all_);
}

void TrainingLanes::watch(const std::vector<graph::TensorId> &tensors) {
  for (StepExecutor *executor : all_)
    executor->watch(tensors);
}

} // namespace gradweave::cli
