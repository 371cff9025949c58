// Random changes of a layer's plans: the moves of the searches that the timing model judges.
#pragma once

#include "compiler/ir/program.hpp"
#include "sw_models/config/npu_config.hpp"

#include <random>

namespace gradweave::compiler {

/// Changes tile sizes, loop orders, scratchpad splits, load windows and placement weights. Deterministic: the same
/// calls make the same changes, from the same seed.
class PlanChanger {
public:
  static constexpr std::uint64_t kUsualSeed = 1;
  explicit PlanChanger(const NpuConfig &npu, std::uint64_t seed = kUsualSeed) : npu_(npu), random_(seed) {}

  /// A number from 0 to `bound` - 1; the standard's distributions differ from library to library.
  std::uint32_t pick(std::size_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

  /// Where it is in its sequence of random numbers, which decides all that it does from there on.
  using Position = std::mt19937_64;
  const Position &position() const { return random_; }
  void go_to(const Position &position) { random_ = position; }

  /// Makes one to three changes to the plans of a layer's phases; their products are left as they were.
  void change(std::vector<PhasePlan> &plans, const Layer &layer);

private:
  std::uint32_t change_side(std::uint32_t side, std::uint32_t extent, std::uint32_t unit);
  void change_tile(std::vector<PhasePlan> &plans, PhasePlan &plan, const Layer &layer);
  void change_split(SpmSplit &split);
  void change_once(std::vector<PhasePlan> &plans, const Layer &layer);

  const NpuConfig &npu_;
  std::mt19937_64 random_;
};

/// Cuts a tensor that plans of a layer share with a phase of another one like that one does, so that tiles can stay
/// from one to the other. Products are left as they were.
void align(std::vector<PhasePlan> &plans, const Layer &mine, const PhasePlan &like, const Layer &theirs);

} // namespace gradweave::compiler
