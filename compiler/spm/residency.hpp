// Residency: which tiles stay in the scratchpad, where, and the loads, stores and spills that follow.
#pragma once

#include "compiler/ir/program.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/lower/run_order.hpp"
#include "compiler/spm/tile_table.hpp"
#include "sw_models/config/machine.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace gradweave::compiler {

/// Scratchpad rows that products of full tiles take, to ask for many splits.
class ProductRows {
public:
  ProductRows(PhaseKind kind, const TileShape &tile, const Layer &layer, const NpuConfig &npu,
              const PhaseParts &parts = {});
  /// Whether each product fits the split on its own, without anything else resident.
  bool fit(const SpmSplit &split) const;

private:
  /// Of each area.
  struct AreaRows {
    std::uint64_t shared = 0, other = 0, result = 0;
    bool fit(const SpmSplit &split) const;
  };
  class FullTiles;
  std::vector<AreaRows> products_; ///< and additions of partial sums
};
/// Whether products of full tiles fit the split.
bool fits(PhaseKind kind, const TileShape &tile, const SpmSplit &split, const Layer &layer, const NpuConfig &npu,
          const PhaseParts &parts = {});

/// What the LOADs and STOREs of a program may take of the DRAM.
struct TrafficLimit {
  std::uint64_t bytes = ~std::uint64_t{0}; ///< fewer than these; whole accesses
  std::uint32_t command_bytes = 0;         ///< that each command counts for, too
};

/// The products of plans with the tiles that they need and when they need them again: all that placing tiles depends
/// on, but for splits, windows and policies. Plans that differ in nothing else share one.
class TileWalk {
public:
  /// Of plans with products; `layers` are those of the layout, in its order. The references must outlive the object.
  TileWalk(const std::vector<PhasePlan> &plans, const std::vector<Layer> &layers, const Layout &layout,
           const Machine &npu);
  /// The same in another order: of slices that have each product once, those of a phase ascending, and what a product
  /// reads of others behind them.
  TileWalk(const std::vector<PhasePlan> &plans, const std::vector<Layer> &layers, const Layout &layout,
           const Machine &npu, std::vector<Slice> order);

  const std::vector<Layer> &layers() const { return layers_; }
  const Layout &layout() const { return layout_; }
  const Machine &npu() const { return npu_; }
  const std::vector<ReductionPlans> &reductions() const { return reductions_; }
  /// Of the products.
  const std::vector<Slice> &order() const { return order_; }
  const TileTable &table() const { return table_; }
  /// Of a walk that is walked but once.
  TileTable take_table() { return std::move(table_); }

private:
  const std::vector<Layer> &layers_;
  const Layout &layout_;
  const Machine &npu_;
  std::vector<ReductionPlans> reductions_; ///< of each layer
  std::vector<Slice> order_;
  TileTable table_;
};

/// Looks on while tiles are placed.
class PlacementWatch {
public:
  virtual ~PlacementWatch() = default;
  /// After each product: the program so far, and what all its LOADs and STOREs will take of the DRAM at least. Whether
  /// to go on.
  virtual bool goes_on(const Program &program, std::uint64_t bytes) = 0;
};

/// Bytes of the DRAM that every program of the walk takes, as TrafficLimit counts them: the commands of all products, a
/// LOAD of each input and a STORE of each result.
std::uint64_t least_traffic(const TileWalk &walk, std::uint32_t command_bytes);

/// Walks the products with knowledge of all later ones. A tile that is missing takes the rows that are cheapest to give
/// up: dead ones first, else tiles whose next use is far, counting that partial sums cost a store and a load. Rows that
/// one of the last `window` products used are avoided where possible, so that loads overlap computing. Returns nothing
/// if some product does not fit its areas, or as soon as it is clear that the program would exceed the limit, or the
/// watch does not go on; its products are then added to `lost`, all of them: a search that is bounded by its work does
/// not depend on the limit. Only a limit that does not count commands, and is one, may have a watch.
std::optional<Program> allocate(const std::vector<PhasePlan> &plans, const TileWalk &walk,
                                const TrafficLimit &limit = {}, std::uint64_t *lost = nullptr,
                                PlacementWatch *watch = nullptr);
/// The same, of a walk that is walked but once.
std::optional<Program> allocate(const std::vector<PhasePlan> &plans, TileWalk &&walk, const TrafficLimit &limit = {},
                                std::uint64_t *lost = nullptr, PlacementWatch *watch = nullptr);
/// The same, of a walk of the plans.
std::optional<Program> allocate(const std::vector<PhasePlan> &plans, const std::vector<Layer> &layers,
                                const Layout &layout, const Machine &npu, const TrafficLimit &limit = {},
                                std::uint64_t *lost = nullptr);
/// The same, without a limit; the program takes the products of the plans, which have none afterwards: a million lie in
/// memory once, not twice.
std::optional<Program> allocate_once(std::vector<PhasePlan> &plans, const std::vector<Layer> &layers,
                                     const Layout &layout, const Machine &npu);

} // namespace gradweave::compiler
