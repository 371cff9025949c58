#include "train/lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace gradweave::runtime::train {
namespace {

constexpr auto kTick = std::chrono::milliseconds(100);

bool same_bits(const std::vector<float> &a, const std::vector<float> &b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

StepResult run(StepExecutor &executor, const GoldenStep &step) {
  Living golden = *step.begin, device = *step.begin;
  StepResult result = executor.compared(step.batches, step.constants, golden, device);
  for (std::size_t id = 0; id < device.size() && result.ok(); ++id)
    if (!same_bits(device[id], (*step.end)[id]))
      result.failures.push_back(fmt::format("'{}' is not what the next step began with", executor.name_of(id)));
  return result;
}

} // namespace

unsigned lanes_that_pay(const graph::Graph &step, std::uint64_t steps, unsigned cores, std::uint64_t memory_bytes) {
  constexpr std::uint64_t kCopies = 3;
  std::uint64_t bytes = 1;
  for (const graph::Tensor &tensor : step.tensors)
    bytes += kCopies * tensor.shape.elements() * sizeof(float);
  const std::uint64_t most = std::min<std::uint64_t>({steps, cores, memory_bytes / 2 / bytes});
  return std::max(1U, static_cast<unsigned>(most));
}

Lanes::Lanes(const graph::TrainingGraph &step, StepExecutor &first, std::size_t count, unsigned threads,
             const std::function<std::unique_ptr<Device>()> &make_device)
    : golden_(step), executors_{&first} {
  while (executors_.size() < count) {
    devices_.push_back(make_device());
    beside_.push_back(first.beside(*devices_.back(), threads));
    executors_.push_back(beside_.back().get());
  }
  for (StepExecutor *executor : executors_)
    executor->begin_afresh();
}

Lanes::~Lanes() {
  for (StepExecutor *executor : executors_)
    executor->abandon();
}

void Lanes::watch(const std::vector<graph::TensorId> &tensors) {
  for (StepExecutor *executor : executors_)
    executor->watch(tensors);
}

void Lanes::execute(GoldenStep &step) const {
  Living living = *step.begin;
  golden_.golden(step.batches, step.constants, living);
  step.end = std::make_shared<const Living>(std::move(living));
}

void Lanes::begin(GoldenStep step) {
  if (full()) throw std::logic_error("a step begins while all lanes are taken");
  StepExecutor &executor = *executors_[begun_++ % count()];
  under_way_.push_back(
      std::async(std::launch::async, [&executor, step = std::move(step)] { return run(executor, step); }));
}

StepResult Lanes::end(const std::function<void()> &tick) {
  std::future<StepResult> &oldest = under_way_.front();
  while (oldest.wait_for(kTick) != std::future_status::ready)
    if (tick) tick();
  StepResult result = oldest.get();
  under_way_.pop_front();
  return result;
}

} // namespace gradweave::runtime::train
