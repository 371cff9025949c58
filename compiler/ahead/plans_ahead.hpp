// Plans searched, and streams of single layers made and verified, in threads ahead of whoever compiles.
#pragma once

#include "compiler/compiler.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

namespace gradweave::compiler {

/// Looks for the plans of compilations that are to come, the longest first, in threads of its own. Who compiles with
/// the same cache then finds them, or waits for those under way; plans and streams are the same with any number of
/// threads. What is searched is told by the cache's keys: equal shapes once. No process may be forked while it lives.
class PlansAhead {
public:
  struct Compilation {
    std::vector<Layer> layers;
    Machine npu;
    CompileOptions options; ///< `progress` is called in the threads
  };

  /// The cache must outlive the object.
  PlansAhead(std::vector<Compilation> compilations, CompileCache &cache, unsigned threads);
  /// Abandons what is under way, and waits for the threads.
  ~PlansAhead();
  /// Waits for the end of all searches, so long at most; whether they have ended.
  bool wait(std::chrono::milliseconds most);
  PlansAhead(const PlansAhead &) = delete;
  PlansAhead &operator=(const PlansAhead &) = delete;

private:
  void work();
  void plan(const Compilation &compilation);

  std::vector<Compilation> compilations_;
  CompileCache &cache_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t working_ = 0; ///< threads
  std::vector<std::thread> threads_;
};

} // namespace gradweave::compiler
