// Plans of layers that run beside others, each in macro-banks of its own: neither takes the other's tiles or waits for
// its banks.
#pragma once

#include "compiler/search/plans/layer_plans.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace gradweave::compiler {

/// The plans of layers in some of the macro-banks, each searched when it is first asked for. Deterministic. Not for
/// several threads at a time.
class PlansBeside {
public:
  /// Best first, without products.
  using Plans = std::vector<std::vector<PhasePlan>>;

  /// `plans`, `objective`, `tried`: as of LayerPlans. `npu` must outlive the object.
  PlansBeside(const Machine &npu, std::uint64_t plans, Objective objective, std::function<void()> tried)
      : npu_(npu), plans_(plans), objective_(objective), tried_(std::move(tried)) {}
  PlansBeside(const PlansBeside &) = delete;
  PlansBeside &operator=(const PlansBeside &) = delete;

  /// The NPU with so many of its macro-banks, 1 at least. The reference stays valid.
  const Machine &npu_of(std::uint32_t banks);
  /// What is asked for.
  struct Wanted {
    const Layer *layer = nullptr;
    Pass pass = Pass::kForward;
    std::uint32_t banks = 0;
    bool gradient = false; ///< dW by itself
  };
  /// Searches for what will be asked for and is not known yet, in so many threads at most.
  void prepare(const std::vector<Wanted> &wanted, unsigned threads);

  /// Plans of the layer's pass in the first `banks` macro-banks; none if nothing fits them.
  const Plans &of(const Layer &layer, Pass pass, std::uint32_t banks) { return plans({&layer, pass, banks, false}); }
  /// Plans of dW by itself there, a phase each.
  const Plans &gradients(const Layer &layer, std::uint32_t banks) {
    return plans({&layer, Pass::kBackward, banks, true});
  }

  /// Of all searches.
  const SearchWork &work() const { return work_; }

private:
  /// Shape, pass, macro-banks, and whether it is dW by itself.
  using Key = std::tuple<std::string, Pass, std::uint32_t, bool>;

  static Key key_of(const Wanted &wanted);
  const Plans &plans(const Wanted &wanted);
  struct Found {
    Plans plans;
    SearchWork work;
  };
  Found search(const Wanted &wanted, const Machine &npu) const;

  const Machine &npu_;
  std::uint64_t plans_;
  Objective objective_;
  std::function<void()> tried_;
  std::map<std::uint32_t, Machine> npus_; ///< by macro-banks
  std::map<Key, Plans> known_;
  SearchWork work_;
};

/// Plans with their areas so many rows farther on.
std::vector<PhasePlan> moved_by(std::vector<PhasePlan> plans, std::uint32_t rows);

} // namespace gradweave::compiler
