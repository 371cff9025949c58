#include "compiler/ahead/plans_ahead.hpp"

#include "compiler/lower/layout.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace gradweave::compiler {
namespace {

/// Nobody waits for the plans any more.
struct Abandoned : std::runtime_error {
  Abandoned() : std::runtime_error("the search for plans was abandoned") {}
};

} // namespace

PlansAhead::PlansAhead(std::vector<Compilation> compilations, CompileCache &cache, unsigned threads)
    : compilations_(std::move(compilations)), cache_(cache) {
  working_ = std::min<std::size_t>(threads, compilations_.size());
  for (std::size_t i = 0, count = working_; i < count; ++i)
    threads_.emplace_back([this] { work(); });
}

PlansAhead::~PlansAhead() {
  stop_ = true;
  for (std::thread &thread : threads_)
    thread.join();
}

void PlansAhead::work() {
  for (std::size_t i = next_++; i < compilations_.size() && !stop_; i = next_++)
    try {
      plan(compilations_[i]);
    } catch (const std::exception &) { // whoever compiles meets it again, and reports it
    }
  const std::lock_guard<std::mutex> lock(mutex_);
  --working_;
  ended_.notify_all();
}

bool PlansAhead::wait(std::chrono::milliseconds most) {
  std::unique_lock<std::mutex> lock(mutex_);
  return ended_.wait_for(lock, most, [this] { return working_ == 0; });
}

void PlansAhead::plan(const Compilation &compilation) {
  CompileOptions options = compilation.options;
  options.progress = [this, &compilation](std::uint64_t done, std::uint64_t of) {
    if (stop_) throw Abandoned();
    if (compilation.options.progress) compilation.options.progress(done, of);
  };
  if (compilation.layers.size() == 1 && compilation.layers.front().vector) { // has no plans
    compile(compilation.layers, compilation.npu, options, cache_);
    return;
  }
  const Layout layout = make_layout(compilation.layers, options.pass, compilation.npu);
  const Scheduled scheduled =
      scheduler_of(options.schedule).schedule({compilation.layers, layout, compilation.npu, options, cache_.plans});
  // The cache keeps streams that are made of plans of one layer.
  if (!scheduled.program && compilation.layers.size() == 1)
    compile(compilation.layers, compilation.npu, options, cache_);
}

} // namespace gradweave::compiler
