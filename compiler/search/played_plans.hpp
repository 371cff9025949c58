// What became of plans that a search has played, so that none is played twice.
#pragma once

#include "compiler/ir/program.hpp"
#include "compiler/lower/order.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <map>

namespace gradweave::compiler {

/// A plan that was placed and estimated under a limit, as far as it took to see that it does not keep to it.
struct PlayedPlan {
  std::uint64_t limit = 0;    ///< cycles
  std::uint64_t work = 0;     ///< Program::work(), or of a plan that was not placed all its products
  std::uint64_t products = 0; ///< of the plan
  std::uint64_t bytes = 0;    ///< that it moves, if it was placed
  std::uint64_t cycles = 0;   ///< estimated; `limit` or more: at least these
  bool placed = false;

  bool in_time() const { return placed && cycles < limit; }
};

/// Plans of one phase of a layer, told apart by what their programs depend on: loops of one trip make no difference.
class PlayedPlans {
public:
  /// What playing the plan under the limit comes to, which allows `bytes` to be moved; null if that is not known.
  const PlayedPlan *find(const PhasePlan &plan, const Layer &layer, std::uint64_t limit, std::uint64_t bytes) {
    const auto at = known_.find(key(plan, layer));
    if (at == known_.end()) return nullptr;
    PlayedPlan &known = at->second;
    if (!known.placed) return limit <= known.limit ? &known : nullptr;
    if (known.bytes >= bytes) { // it would not be placed
      given_up_ = {limit, known.products, known.products, 0, 0, false};
      return &given_up_;
    }
    return known.in_time() || limit <= known.limit ? &known : nullptr;
  }
  void keep(const PhasePlan &plan, const Layer &layer, const PlayedPlan &played) { known_[key(plan, layer)] = played; }

private:
  using Key = std::array<std::uint32_t, 15>;

  static Key key(const PhasePlan &plan, const Layer &layer) {
    const LoopOrder loops = loops_that_turn(plan.loops, plan.tile, layer);
    std::uint32_t order = 0;
    for (const Dim d : loops)
      order = order * 4 + static_cast<std::uint32_t>(d);
    const auto &[shared, other, result] = plan.split;
    Key key{plan.tile.m, plan.tile.k, plan.tile.n,  order,       shared.first, shared.rows,
            other.first, other.rows,  result.first, result.rows, plan.window};
    std::memcpy(&key[11], &plan.policy.reload, sizeof plan.policy.reload);
    std::memcpy(&key[13], &plan.policy.conflict, sizeof plan.policy.conflict);
    return key;
  }

  std::map<Key, PlayedPlan> known_;
  PlayedPlan given_up_;
};

} // namespace gradweave::compiler
