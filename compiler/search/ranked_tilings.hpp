// The tilings and loop orders of a phase, those first that are the best by a rough estimate.
#pragma once

#include "compiler/cost/estimate.hpp"
#include "compiler/ir/program.hpp"
#include "sw_models/config/machine.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <queue>
#include <vector>

namespace gradweave::compiler {

/// Tiles of which each side is one that is worth trying, and that fit the scratchpad. There are thousands, of which a
/// search plays a few: each is estimated only when it may be the next.
class RankedTilings {
public:
  struct Ranked {
    TileShape tile;
    LoopOrder loops;
    RoughEstimate rough;
    double bound = 0; ///< cycles that no plan of the tile is below
  };

  /// `fixed`: tile sides that are given; 0: to be found. `layer`: that of the plans; `part`: its largest part, which
  /// tiles are chosen for; `whole`: the layer that `layer` is a sample of, which may not take too many products. The
  /// references must outlive the object.
  RankedTilings(PhaseKind kind, const PhaseParts &parts, const TileShape &fixed, const Layer &layer, const Layer &part,
                const Layer &whole, const Machine &npu);

  /// The best that is left; nothing if there is none.
  std::optional<Ranked> next();
  /// The least bound of all that have been estimated.
  double bound() const { return bound_; }
  /// Why there is none at all: throws CompileError.
  [[noreturn]] void refuse() const;

private:
  /// Not estimated yet.
  struct Tiling {
    double least; ///< cycles of any estimate
    TileShape tile;
  };
  struct Estimated {
    Ranked ranked;
    std::size_t tiling, order; ///< indices: the first of equals is the better one
    /// Whether the other one is better.
    bool operator<(const Estimated &other) const;
  };

  bool fits_alone(const TileShape &tile) const;
  double least(const TileShape &tile) const;
  std::vector<RoughEstimate> estimates(const TileShape &tile) const;
  void estimate(std::size_t tiling);

  PhaseKind kind_;
  PhaseParts parts_;
  const Layer &layer_, &part_, &whole_;
  const Machine &npu_;
  std::vector<Tiling> tilings_; ///< by least cycles
  std::size_t estimated_ = 0;   ///< so many of them, if they fit
  std::priority_queue<Estimated> ready_;
  double bound_ = std::numeric_limits<double>::infinity();
};

} // namespace gradweave::compiler
