#include "compiler/verify/verify_sync.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::compiler {

SyncReplay::SyncReplay(const NpuConfig &npu)
    : cores_(npu.cores), queue_depth_(npu.queue_depth), issued_(npu.engines(), 0),
      clock_(npu.engines(), Clock(npu.engines(), 0)), semaphores_(npu.semaphores) {}

std::string SyncReplay::take(const isa::Wait &wait) {
  Semaphore &s = semaphores_.at(wait.semaphore);
  if (s.taker != Semaphore::kNobody && s.taker != engine_)
    return fmt::format("semaphore {} is taken by engines {} and {}; who gets a token is a race", wait.semaphore,
                       s.taker, engine_);
  s.taker = engine_;
  if (s.tokens.size() < wait.count)
    return fmt::format("takes {} of semaphore {}, which earlier commands leave at {}: no legal serial order",
                       wait.count, wait.semaphore, s.tokens.size());
  s.taken += wait.count;
  const auto last = s.tokens.begin() + (wait.count - 1);
  Clock &mine = clock_[engine_];
  for (std::size_t e = 0; e < mine.size(); ++e)
    mine[e] = std::max(mine[e], (*last)[e]);
  s.tokens.erase(s.tokens.begin(), last + 1);
  return {};
}

std::string SyncReplay::post(std::uint8_t id) {
  Semaphore &s = semaphores_.at(id);
  if (s.poster != Semaphore::kNobody && s.poster != engine_)
    return fmt::format("semaphore {} is posted by engines {} and {}; whose token comes first is a race", id, s.poster,
                       engine_);
  s.poster = engine_;
  Clock done = clock_[engine_];
  done[engine_] = issued_[engine_];
  s.tokens.push_back(std::move(done));
  ++s.posted;
  // Dispatch is in order, so at most a queue of takers, and the one that runs, can lag behind the serial order.
  if (s.tokens.size() + (queue_depth_ + 1) * 255 > 65535) return fmt::format("semaphore {} can exceed 65535", id);
  return {};
}

std::string SyncReplay::step(const isa::Decoded &command) {
  engine_ = isa::engine_place(command.engine(), cores_);
  ++issued_[engine_];
  for (const isa::Wait &wait : command.sync.waits)
    if (wait.semaphore != isa::kNoSemaphore)
      if (std::string problem = take(wait); !problem.empty()) return problem;
  for (const std::uint8_t id : command.sync.posts)
    if (id != isa::kNoSemaphore)
      if (std::string problem = post(id); !problem.empty()) return problem;
  return {};
}

std::string SyncReplay::finish() const {
  for (std::size_t id = 0; id < semaphores_.size(); ++id)
    if (const Semaphore &s = semaphores_[id]; s.posted != s.taken)
      return fmt::format("semaphore {} is posted {} times and taken {} times", id, s.posted, s.taken);
  return {};
}

} // namespace gradweave::compiler
