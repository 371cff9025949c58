// List scheduling that knows time: which core takes which product next, by what the cores would wait for.
#pragma once

#include "compiler/spm/residency.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler::list {

/// What weighs in the choice of the next product, beside the cycles that its core would be idle.
struct Weights {
  double moved = 0.5; ///< for each cycle that memory takes for its operands, and for victims that come back
  double order = 0.1; ///< for each product that it overtakes, in cycles of one of them
  double home = 2;    ///< for a product on another core than its own, in cycles of one
  bool operator==(const Weights &o) const { return moved == o.moved && order == o.order && home == o.home; }
};

struct ListOptions {
  std::vector<Weights> weights{Weights{}}; ///< tried by turns; at least one
  std::uint32_t beam = 1;                  ///< partial schedules that are kept
  std::uint32_t stretch = 64;              ///< products between two choices among partial schedules
  std::uint32_t ahead = 12;                ///< products that are looked at: the first that are ready
};

/// A product in its turn.
struct Turn {
  std::uint32_t product = 0; ///< of the walk
  std::uint8_t core = 0;
};

struct ListedOrder {
  std::vector<Turn> turns;
  double cycles = 0; ///< estimated
};

/// Gives the products of a walk to the cores of its NPU. Their order says which is preferred, and a tile is needed the
/// sooner the earlier its next product is in it. The core that is free first takes the product with the least cost.
/// Loads follow one another as far ahead as there are rows of tiles that are needed no more, or last, and as their last
/// readers have ended. Deterministic.
ListedOrder list_order(const TileWalk &walk, const std::vector<TileProduct> &products, const ListOptions &options);

} // namespace gradweave::compiler::list
