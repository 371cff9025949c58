#include "compiler/ahead/plans_ahead.hpp"

#include "compiler/lower/layout.hpp"
#include "graph/layer_fingerprint.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

namespace gradweave::compiler {
namespace {

/// Nobody waits for the plans any more.
struct Abandoned : std::runtime_error {
  Abandoned() : std::runtime_error("the search for plans was abandoned") {}
};

/// Equal ones have equal plans: who asks for the second while the first is searched only waits.
std::string key_of(const PlansAhead::Compilation &compilation) {
  Fingerprint key;
  for (const Layer &layer : compilation.layers)
    key.add(shape_fingerprint(layer));
  key.add(fingerprint(compilation.npu), fingerprint(compilation.options));
  return key.hex();
}

/// Cycles that the products or the operands take at least, roughly, which the time of a search goes with.
double weight_of(const PlansAhead::Compilation &compilation) {
  const Machine &npu = compilation.npu;
  const double per_step = static_cast<double>(npu.rows) * npu.cols;
  const double per_byte = static_cast<double>(npu.memory.bytes_den) / static_cast<double>(npu.memory.bytes_num);
  double cycles = 0;
  for (const Layer &l : compilation.layers) {
    const double m = l.m, k = l.k, n = l.n;
    cycles += l.groups * std::max(m * k * n / per_step, 2 * (m * k + k * n + m * n) * per_byte);
  }
  return cycles;
}

/// In the order in which threads are done soonest: no two equal ones at a time, and the longest first, so that none of
/// them begins when the others have nothing left to do.
std::vector<PlansAhead::Compilation> in_order_of_search(std::vector<PlansAhead::Compilation> compilations) {
  struct Item {
    bool known;
    double weight;
    std::size_t index;
  };
  std::set<std::string> keys;
  std::vector<Item> items;
  for (std::size_t i = 0; i < compilations.size(); ++i)
    items.push_back({!keys.insert(key_of(compilations[i])).second, weight_of(compilations[i]), i});
  std::sort(items.begin(), items.end(), [](const Item &x, const Item &y) {
    if (x.known != y.known) return y.known;
    return x.weight != y.weight ? x.weight > y.weight : x.index < y.index;
  });
  std::vector<PlansAhead::Compilation> ordered;
  ordered.reserve(items.size());
  for (const Item &item : items)
    ordered.push_back(std::move(compilations[item.index]));
  return ordered;
}

} // namespace

PlansAhead::PlansAhead(std::vector<Compilation> compilations, CompileCache &cache, unsigned threads)
    : compilations_(in_order_of_search(std::move(compilations))), cache_(cache) {
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
