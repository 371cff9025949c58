// What a step has to choose from for each of its layers: searched plans for the array, sections for the vector unit.
#pragma once

#include "compiler/back/vector_room.hpp"
#include "compiler/search/plans/layer_plans.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace gradweave::compiler {

/// Layers of the vector unit (Layer::vector) have one plan. Where there are any, the others are searched with all of
/// the scratchpad for what they cost by themselves, and for the step, which changes plans further, with what these
/// leave of it and the least effort.
class StepPlans {
public:
  /// The references must outlive the object. `layout`: of all layers under the pass. `tried` as LayerPlans has it.
  StepPlans(const std::vector<Layer> &layers, Pass pass, const Layout &layout, const Machine &npu, std::uint64_t plans,
            Objective objective, std::function<void()> tried);

  /// Searches, in so many threads at most. `progress` is called after each shape, by one thread at a time; it may
  /// throw.
  void prepare(unsigned threads, const std::function<void()> &progress);

  /// Calls take(index of a layer, pass) in the order in which they run.
  template <typename Take> void for_passes(const Take &take) const {
    if (pass_ != Pass::kBackward)
      for (std::size_t i = 0; i < layers_.size(); ++i)
        if (takes_part(layers_[i], Pass::kForward)) take(i, Pass::kForward);
    if (pass_ != Pass::kForward)
      for (std::size_t i = layers_.size(); i-- > 0;)
        if (takes_part(layers_[i], Pass::kBackward)) take(i, Pass::kBackward);
  }

  /// Searches for plans of the same layers by energy times cycles, in so many threads at most.
  void prepare_thrifty(unsigned threads);

  const LayerPlans::Choice &of(std::size_t layer, Pass pass) const;
  /// Plans that move less; of what prepare_thrifty() has searched. Null of a layer of the vector unit.
  const LayerPlans::Choice *thrifty(std::size_t layer, Pass pass) const;
  /// Of a layer by itself.
  const LayerPlans::Choice &alone(std::size_t layer, Pass pass) const;
  /// Of elements that LOADs and STOREs move where the layer runs a plan by itself.
  std::uint64_t bytes_of(std::size_t layer, Pass pass, const OwnPlan &own) const;
  /// The phases of a layer of the vector unit in the step; null of another.
  std::shared_ptr<const std::vector<PhasePlan>> sections(std::size_t layer, Pass pass) const;

  const SharedMachine &machine() const { return machine_; }

  /// As LayerPlans has it, of layers by themselves; whether a step can begin from what was found: one that shares the
  /// scratchpad cannot.
  bool search_conventional(std::uint64_t bursts, unsigned threads, const std::function<void()> &progress);
  /// Of the conventional plans of layers by themselves, and of the search for all plans.
  SearchWork conventional_work() const { return (alone_ ? *alone_ : array_).conventional_work(); }
  SearchWork work() const;
  /// Of prepare_thrifty().
  SearchWork thrifty_work() const;

private:
  std::vector<LayerPlans::Direction> directions() const;
  LayerPlans::Choice choice_of_unit(const Layer &layer, Pass pass) const;

  const std::vector<Layer> &layers_;
  Pass pass_;
  const Layout &layout_;
  SharedMachine machine_;
  Objective objective_;
  LayerPlans array_;
  LayerPlans thrifty_;
  std::optional<LayerPlans> alone_; ///< with all of the scratchpad, where there are sections
  using Key = std::pair<std::size_t, Pass>;
  std::map<Key, std::shared_ptr<const std::vector<PhasePlan>>> sections_;
  std::map<Key, std::shared_ptr<const LayerPlans::Choice>> units_; ///< of a shape in common
};

} // namespace gradweave::compiler
