#include "train/lanes.hpp"

#include <fmt/format.h>

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

Lanes::Lanes(std::vector<StepExecutor *> executors) : executors_(std::move(executors)) {
  for (StepExecutor *executor : executors_)
    executor->begin_afresh();
}

Lanes::~Lanes() {
  for (StepExecutor *executor : executors_)
    executor->abandon();
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
