// The plans of layers by themselves that the search of a step begins with, and the conventional ones that it is
// compared to.
#pragma once

#include "compiler/lower/partition.hpp"
#include "compiler/search/refine.hpp"
#include "graph/layer_fingerprint.hpp"
#include "sw_models/config/machine.hpp"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace gradweave::compiler {

/// What a search has done.
struct SearchWork {
  std::uint64_t tried = 0;     ///< plans
  std::uint64_t simulated = 0; ///< of those, judged by the timing model
  std::uint64_t bursts = 0;    ///< and commands simulated, and the placing of tiles as so many
  double seconds = 0;          ///< of one core

  SearchWork &operator+=(const SearchWork &other);
};

/// A better step that a search came upon.
struct StepFall {
  std::uint64_t simulated = 0; ///< changes that the timing model had judged, of the same beginning
  std::uint64_t cost = 0;      ///< of the step from then on
};

/// As many bursts and commands take as long to simulate as a unit of Program::work().
inline constexpr std::uint64_t kBurstsOfAProduct = 150;

/// Cost of a plan that there is not.
inline constexpr std::uint64_t kNoPlan = ~std::uint64_t{0};

/// A plan of a layer in one direction.
struct OwnPlan {
  std::vector<PhasePlan> phases;          ///< without products
  Schedule order = Schedule::kSequential; ///< of a backward pass
  std::uint64_t cost = kNoPlan;           ///< of the layer's pass run by itself, by the objective (Judge)
};

/// The search for a layer's plans in one order and one cut, which can go on.
class OrderSearch {
public:
  /// `tried`, if there is one, is called after every plan, and may throw; it must outlive the object.
  OrderSearch(const Layer &layer, Schedule order, const Cut &cut, Pass pass, const Machine &npu, Objective objective,
              const std::function<void()> &tried);
  OrderSearch(const OrderSearch &) = delete;
  OrderSearch &operator=(const OrderSearch &) = delete;

  /// Tries more plans, or fewer if these do `work` (Program::work()) or nothing new is near those kept.
  void run(std::uint64_t plans, std::uint64_t work);
  /// Goes on for `times` of the work that it has done.
  void run_on(double times);

  /// The best so far for all of the layer.
  OwnPlan best() const;
  /// The best so far, best first.
  const std::vector<Refinement::Kept> &kept() const { return refinement_->kept(); }
  const SearchWork &work() const { return work_; }

private:
  void count(const std::function<void()> &search);

  Layer layer_, sample_;
  Schedule order_;
  const Machine &npu_;
  Judge judge_;
  const std::function<void()> &tried_;
  Layout layout_, sample_layout_;
  std::optional<Refinement> refinement_;
  SearchWork work_;
};

/// Plans of layers by themselves. Layers of a shape share them. A search with more plans passes through all that one
/// with fewer does.
class LayerPlans {
public:
  /// Plans of a layer in one direction.
  struct Choice {
    /// The best plan after 1, 2, 4 ... times the plans tried first: what a search with less effort would find.
    std::vector<OwnPlan> levels;
    /// The fastest of each tiling, others of these, then those of the levels; without products.
    std::vector<std::vector<PhasePlan>> alternatives;
    OwnPlan conventional; ///< the best that computes dX, then dW
    OwnPlan dw_first; ///< the best that computes dW, then dX: for the layer by itself, as in a step dX is waited for
    const OwnPlan &best() const { return levels.back(); }
    /// The best for the layer by itself.
    const OwnPlan &alone() const;
  };

  /// `plans`: to be tried for each layer, direction and order at least. As long as twice as many make the conventional
  /// plan better by more than `kSaturated`, twice as many are tried in all orders. `tried` is called after every plan,
  /// by several threads at a time; it may throw, which abandons what the thread does. `conventional_only`: in no other
  /// order.
  LayerPlans(const Machine &npu, std::uint64_t plans, Objective objective = Objective::kCycles,
             std::function<void()> tried = {}, bool conventional_only = false)
      : npu_(npu), plans_(plans), objective_(objective), tried_(std::move(tried)),
        conventional_only_(conventional_only) {}

  /// A layer's pass in one direction.
  struct Direction {
    const Layer *layer = nullptr;
    Pass pass = Pass::kForward;
  };
  /// Searches for plans of all of them, in so many threads at most. `progress` is called after each shape, by one
  /// thread at a time; it may throw.
  void prepare(const std::vector<Direction> &directions, unsigned threads, const std::function<void()> &progress);

  /// Of a layer that prepare() was given. The reference stays valid.
  const Choice &of(const Layer &layer, Pass pass) const;

  /// Goes on with the search for conventional plans alone until it has taken as much work as `bursts`, or knows all
  /// plans near its best. Whether one of them is now the best of its layer, which then has one more level.
  bool search_conventional(std::uint64_t bursts, unsigned threads, const std::function<void()> &progress);

  /// Of the conventional plans, and of all others.
  SearchWork conventional_work() const;
  SearchWork other_work() const;

private:
  struct Shape {
    std::vector<std::unique_ptr<OrderSearch>> orders; ///< the conventional one first
    std::unique_ptr<OrderSearch> dw_first;            ///< null without a choice
    Choice choice;
  };
  using Key = std::pair<std::string, Pass>;

  static Key key_of(const Layer &layer, Pass pass) {
    Layer shape = layer;
    shape.dx = pass == Pass::kForward || layer.dx;
    return {shape_fingerprint(shape).hex(), pass};
  }
  void begin(Shape &shape, const Layer &layer, Pass pass) const;
  void search(Shape &shape) const;
  static void add_alternatives(Shape &shape);
  static bool take_conventional(Shape &shape);

  const Machine &npu_;
  std::uint64_t plans_;
  Objective objective_;
  std::function<void()> tried_;
  bool conventional_only_;
  std::map<Key, Shape> shapes_;
};

} // namespace gradweave::compiler
