// Estimate of a program tile by tile, to rank the plans that are worth simulating. A hundred times quicker than the
// timing model, and wrong by a few percent.
#pragma once

#include "compiler/emit/hazards.hpp"
#include "compiler/ir/program.hpp"
#include "compiler/spm/residency.hpp"
#include "sw_models/config/machine.hpp"

#include <array>
#include <limits>
#include <vector>

namespace gradweave::compiler {

/// Plays programs on in-order engines that share the DRAM bandwidth, while their tiles are placed.
class RunningEstimate : public PlacementWatch {
public:
  /// The machine must outlive the object.
  explicit RunningEstimate(const Machine &npu) : npu_(npu), order_(npu) {}

  /// The products of the programs to come, in the order in which these have them: first none, then one by one.
  /// `first_loads`: bytes of the DRAM that the program loads for this product, and has not loaded for any before, at
  /// least.
  void clear_products();
  void add_product(const TileProduct &product, const Layer &layer, std::uint64_t first_loads = 0);
  /// All at once: those of a walk of the plans.
  void set_products(const std::vector<PhasePlan> &plans, const TileWalk &walk);

  /// A program of all these products is to come, of which nothing is asked if it takes `limit` cycles or more. False if
  /// that is clear from the products.
  bool begin(std::uint64_t limit);
  /// Plays what is sure. False as soon as it is clear that the estimate is not below the limit.
  bool goes_on(const Program &program, std::uint64_t bytes) override;
  /// Of the whole program; `limit` or more if the estimate is not less.
  std::uint64_t end(const Program &program);

private:
  static constexpr double kPending = -1;
  static constexpr double kPipeline = 20; ///< cycles from a semaphore's post to the next engine's first access
  static constexpr double kNotReady = std::numeric_limits<double>::infinity();
  using PerEngine = std::array<double, kMostEngines>;

  /// From a product's last step to its last result written.
  double drain() const { return 2.0 * npu_.rows + npu_.cols + 8; }
  double service(std::uint64_t bytes) const;
  double fetched(std::size_t action) const;
  /// Cycles that the program takes in any case.
  double least() const;
  double least_to_come() const;
  void look_ahead();
  double tail_of(const Program &program) const;
  bool late() const { return least() >= limit_; }
  bool is_known(std::size_t engine) const { return head_[engine] < queue_[engine].size(); }
  double ready(std::size_t engine) const;
  double ready_at_least(std::size_t engine) const;
  void follow(const Program &program);
  bool play(const Program &program, bool whole);
  void move(const Program &program, std::size_t engine, double start);
  void compute(const Program &program, std::size_t engine, double start);
  bool compute_all(const Program &program);

  const Machine &npu_;
  RunningOrder order_;
  const Orderings *ordering_ = nullptr;
  std::vector<double> cycles_;       ///< array cycles of each product
  std::vector<std::uint32_t> cores_; ///< of each product
  PerEngine all_{};                  ///< of each core's products
  double tail_ = 0; ///< cycles that follow the array's last, as far as a program of these products has shown
  /// Bytes that products load first: of each with all before, and of none.
  std::vector<std::uint64_t> first_loads_{0};
  /// Cycles from when the channel begins with all first loads to the end of the array's work, by what a product from
  /// this one on loads and what its core computes from there on, at least.
  std::vector<double> ahead_;

  double limit_ = 0;
  std::uint64_t queued_loads_ = 0;   ///< bytes
  std::size_t placed_ = 0;           ///< products that the program has
  double moving_ = 0;                ///< cycles of all moves, at least
  double idle_ = 0;                  ///< cycles in which the channel has waited
  double array_ = 0;                 ///< cycles until a product began, and from there to the last one of its core
  PerEngine left_{};                 ///< array cycles of each core from its next action on
  std::vector<double> done_;         ///< of each action, or kPending
  std::vector<std::uint64_t> bytes_; ///< of each action that moves
  std::array<std::vector<std::size_t>, kMostEngines> queue_;
  std::array<std::size_t, kMostEngines> head_{};
  PerEngine free_{}; ///< when the engine can start its next action
  double channel_free_ = 0;
  double end_ = 0;
};

/// Of a whole program; `limit` or more as soon as it is clear that the estimate is not less.
std::uint64_t estimate_cycles(const Program &program, const Machine &npu, std::uint64_t limit);

} // namespace gradweave::compiler
