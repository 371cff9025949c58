#include "trace/timeline/semaphores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gradweave::runtime::timeline {
namespace {

using timing::kNever;

struct Post {
  std::uint64_t cycle = 0; ///< first in which it can be taken
  std::uint32_t poster = 0;
};

struct Semaphore {
  std::vector<Post> posts; ///< in order of time
  std::uint64_t taken = 0; ///< by the commands that started so far
};

class SemaphoreFollower {
public:
  SemaphoreFollower(const Run &run, const std::vector<std::optional<isa::Decoded>> &commands)
      : run_(run), commands_(commands) {
    use_.releases.resize(commands.size());
  }

  SemaphoreUse follow() {
    for (std::uint32_t i = 0; i < commands_.size(); ++i)
      if (commands_[i]) add_posts(i);
    for (Semaphore &s : semaphores_)
      std::sort(s.posts.begin(), s.posts.end(), [](const Post &a, const Post &b) {
        return a.cycle != b.cycle ? a.cycle < b.cycle : a.poster < b.poster;
      });
    for (const std::uint32_t i : by_start())
      take(i);
    return std::move(use_);
  }

private:
  void add_posts(std::uint32_t index) {
    const std::uint64_t done = run_.times[index].done;
    if (done == kNever) return;
    for (const std::uint8_t s : commands_[index]->sync.posts) {
      if (s == isa::kNoSemaphore) continue;
      semaphores_[s].posts.push_back({done + 1, index});
      use_.steps[s].push_back({done + 1, 1});
    }
  }

  /// Commands that were issued, in order of their start; those that never started come last.
  std::vector<std::uint32_t> by_start() const {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < commands_.size(); ++i)
      if (commands_[i]) order.push_back(i);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const std::uint64_t start_a = run_.times[a].start, start_b = run_.times[b].start;
      return start_a != start_b ? start_a < start_b : a < b;
    });
    return order;
  }

  void take(std::uint32_t index) {
    const std::uint64_t start = run_.times[index].start;
    Release &release = use_.releases[index];
    for (const isa::Wait &wait : commands_[index]->sync.waits) {
      if (wait.semaphore == isa::kNoSemaphore) continue;
      Semaphore &s = semaphores_[wait.semaphore];
      const std::uint64_t needed = s.taken + wait.count;
      Release last{wait.semaphore, kNever, std::nullopt};
      if (needed <= s.posts.size()) {
        const Post &post = s.posts[needed - 1];
        last = {wait.semaphore, post.cycle, post.poster};
      }
      if (release.semaphore == isa::kNoSemaphore || last.cycle > release.cycle) release = last;
      if (start == kNever) continue;
      if (last.cycle > start) fail(index, wait, s);
      s.taken = needed;
      use_.steps[wait.semaphore].push_back({start, -std::int64_t{wait.count}});
    }
  }

  [[noreturn]] void fail(std::uint32_t index, const isa::Wait &wait, const Semaphore &s) const {
    const std::uint64_t start = run_.times[index].start;
    const auto posted = std::count_if(s.posts.begin(), s.posts.end(), [&](const Post &p) { return p.cycle <= start; });
    throw TimelineError(fmt::format(
        "{}, command {}: starts in cycle {} and takes {} from semaphore {}, which holds {} then; are the times of this "
        "stream on the NPU '{}'?",
        run_.name, index, start, wait.count, wait.semaphore, static_cast<std::uint64_t>(posted) - s.taken,
        run_.npu.name));
  }

  const Run &run_;
  const std::vector<std::optional<isa::Decoded>> &commands_;
  std::array<Semaphore, 256> semaphores_{};
  SemaphoreUse use_;
};

} // namespace

SemaphoreUse follow_semaphores(const Run &run, const std::vector<std::optional<isa::Decoded>> &commands) {
  return SemaphoreFollower(run, commands).follow();
}

} // namespace gradweave::runtime::timeline
