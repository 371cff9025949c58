#include "app/validate/graphs/shrink.hpp"

#include "app/validate/graphs/smaller.hpp"

#include <utility>
#include <vector>

namespace gradweave::graphs {
namespace {

/// Leaves an option out; false: it is left out already.
using Simplify = bool (*)(cli::TrainRequest &);

template <typename T> bool become(T &field, const T &usual) { return std::exchange(field, usual) != usual; }

const std::vector<Simplify> &simplifications() {
  static const std::vector<Simplify> all = {
      [](cli::TrainRequest &r) { return become(r.set, {}); },
      [](cli::TrainRequest &r) { return become<std::string>(r.npu, "test8v2"); },
      [](cli::TrainRequest &r) { return become<std::uint64_t>(r.steps, 1); },
      [](cli::TrainRequest &r) { return become<std::uint32_t>(r.accumulate, 1); },
      [](cli::TrainRequest &r) { return become<double>(r.clip, 0); },
      [](cli::TrainRequest &r) { return become(r.sparse_embeddings, false); },
      [](cli::TrainRequest &r) { return become(r.keep_all, false); },
      [](cli::TrainRequest &r) { return become<std::string>(r.extent, "forward"); },
      [](cli::TrainRequest &r) { return r.extent == "updates" && become<std::string>(r.extent, "gradients"); },
      [](cli::TrainRequest &r) { return become<std::string>(r.optimizer, "sgd"); },
      [](cli::TrainRequest &r) { return become<double>(r.momentum, 0); },
      [](cli::TrainRequest &r) { return become<double>(r.weight_decay, -1); },
      [](cli::TrainRequest &r) { return become<std::uint64_t>(r.seed, 1); },
  };
  return all;
}

class Shrinker {
public:
  Shrinker(GraphCase failing, const Verdict &failure, const RunCase &run, std::uint32_t most)
      : kind_(kind_of(failure)), run_(run), most_(most), best_{std::move(failing), failure, 0} {}

  Shrunk shrink() {
    while (best_.runs < most_)
      if (!shrink_options() && !shrink_graph()) break;
    return std::move(best_);
  }

private:
  bool take(GraphCase candidate) {
    if (best_.runs >= most_) return false;
    ++best_.runs;
    Verdict verdict = run_(candidate);
    if (verdict.outcome != best_.verdict.outcome || kind_of(verdict) != kind_) return false;
    best_.graph_case = std::move(candidate);
    best_.verdict = std::move(verdict);
    return true;
  }

  bool shrink_options() {
    bool shrunk = false;
    for (const Simplify simplify : simplifications()) {
      GraphCase candidate = best_.graph_case;
      if (simplify(candidate.request)) shrunk = take(std::move(candidate)) || shrunk;
    }
    for (std::size_t i = best_.graph_case.request.set.size(); i-- > 0;) {
      GraphCase candidate = best_.graph_case;
      candidate.request.set.erase(candidate.request.set.begin() + static_cast<std::ptrdiff_t>(i));
      shrunk = take(std::move(candidate)) || shrunk;
    }
    return shrunk;
  }

  /// One reduction: numbers of tensors and ops change by it.
  bool shrink_graph() {
    for (const Reduction &reduction : reductions(best_.graph_case.network)) {
      auto network = reduced(best_.graph_case.network, reduction);
      if (network && take({std::move(*network), best_.graph_case.request})) return true;
      if (best_.runs >= most_) return false;
    }
    return false;
  }

  const std::string kind_;
  const RunCase &run_;
  const std::uint32_t most_;
  Shrunk best_;
};

} // namespace

Shrunk shrink(GraphCase failing, const Verdict &failure, const RunCase &run, std::uint32_t most) {
  return Shrinker(std::move(failing), failure, run, most).shrink();
}

} // namespace gradweave::graphs
