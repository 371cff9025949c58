// The first part of the search: the best tilings, loop orders and areas of one phase by estimate.
#pragma once

#include "compiler/cost/estimate/estimate.hpp"
#include "compiler/cost/estimate/tile_estimate.hpp"
#include "compiler/ir/program.hpp"
#include "compiler/search/played_plans.hpp"
#include "compiler/spm/residency.hpp"
#include "sw_models/config/machine.hpp"

#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace gradweave::compiler {

/// A plan of a phase, without products, and its estimates.
struct Candidate {
  PhasePlan plan;
  RoughEstimate rough;
  double cycles = std::numeric_limits<double>::infinity();
};

class PhaseSearch {
public:
  /// `fixed`: tile sides that are given; 0: to be found. `budget`: Program::work() that it may do. `whole`: the layer
  /// that `layer` is a sample of. `tried` is called after every plan. The references must outlive the object.
  PhaseSearch(PhaseKind kind, const PhaseParts &parts, const TileShape &fixed, std::uint64_t budget, const Layer &layer,
              const Layer &whole, const Layout &layout, const Machine &npu, const std::function<void()> &tried);

  /// The best plans found, best first. Throws CompileError if no tiling is possible; with given sides, finds nothing
  /// then.
  std::vector<Candidate> run();

private:
  /// A tiling and loop order that has not been played yet. There are many.
  struct Ranked {
    double cycles, bound; ///< RoughEstimate's
    std::uint32_t tile;   ///< index
    std::uint32_t order;  ///< index

    bool operator<(const Ranked &other) const { return cycles < other.cycles; }
  };
  /// The tilings, and those of their orders that are to be played: the best.
  struct Ranking {
    std::vector<TileShape> tiles;
    std::vector<Ranked> ranked; ///< a heap of the best once it is full, whose first is the worst

    /// Whether as many as are to be played are known: from then on only better ones count than the worst of them.
    bool is_full() const;
    double worst() const { return ranked.front().cycles; }
    void add(const Ranked &r);
    /// Best first; none is added any more.
    void sort();
  };
  Ranking ranking() const;
  /// Cycles that the tile's estimate in no order is below, found in far less time.
  double least_estimate(const TileShape &tile) const;
  std::vector<RoughEstimate> estimates(const TileShape &tile, const std::vector<LoopOrder> &orders) const;
  /// The tile in all loop orders.
  void add_orders(const TileShape &tile, Ranking &ranking) const;
  Candidate plan_of(const TileShape &tile, const LoopOrder &loops) const;
  /// Plans of the same tile and loops share products and tiles.
  const TileWalk &walk_of(const PhasePlan &plan);
  /// Places the plan, and estimates its cycles; neither any further than `limit` cycles.
  PlayedPlan place_and_estimate(const PhasePlan &plan, std::uint64_t limit);
  /// Plays the plan and keeps it if it is among the best.
  void play(Candidate candidate);
  void play_in_budget(const Candidate &candidate, std::uint64_t budget) {
    if (played_ < budget) play(candidate);
  }
  double best() const { return found_.empty() ? std::numeric_limits<double>::infinity() : found_.front().cycles; }

  PhaseKind kind_;
  PhaseParts parts_;
  TileShape fixed_;
  std::uint64_t budget_;
  const Layer &layer_, &whole_;
  std::vector<Layer> layers_; ///< the one
  Layer part_;                ///< the largest part: tilings are chosen for it
  const Layout &layout_;
  const Machine &npu_;
  const std::function<void()> &tried_;
  std::uint64_t played_ = 0; ///< work done
  std::vector<Candidate> found_;
  std::vector<PhasePlan> walked_ = std::vector<PhasePlan>(1); ///< the one that walk_ is of
  std::optional<TileWalk> walk_;
  RunningEstimate estimate_;        ///< of programs of that walk
  std::optional<ProductRows> rows_; ///< of tiles of rows_of_
  TileShape rows_of_;
  PlayedPlans known_;
};

} // namespace gradweave::compiler
