// Plans of the layers of jobs, with what each takes of the array and of the memory.
#pragma once

#include "compiler/search/plans/layer_plans.hpp"
#include "compiler/weave/job_set.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace gradweave::compiler {

/// Cycles that a tile product takes of the array, and its LOADs and STOREs of the DRAM.
struct TileCost {
  double array = 0, memory = 0;
};

/// A plan of a section, which may be bad alone and good in company: while one job waits for the array another one can
/// use the memory.
struct PricedPlan {
  std::vector<PhasePlan> phases; ///< with products, of layer 0
  std::vector<TileCost> tiles;   ///< of all products, when the section runs alone
  double array = 0, memory = 0;  ///< sums of these
  std::uint64_t cycles = 0;      ///< of the section run alone, by the timing model
  std::uint32_t banks = 0;       ///< the first so many macro-banks are all that it lies in
};

/// Of a layer's pass alone. Throws CompileError if a product does not fit the scratchpad.
PricedPlan price_plan(std::vector<PhasePlan> phases, const Layer &layer, Pass pass, const Machine &npu);

/// Of a layer's pass that the vector unit computes, or of layers that are fused: a phase for each of its sections.
PricedPlan price_sections(const std::vector<Layer> &layers, Pass pass, const VectorRoom &room, const Machine &npu);

/// Plans of all sections of a job set, those of a shape in common. They are searched on the NPU as it is, and on ones
/// with less bandwidth, where what a plan moves costs more, and with a part of the scratchpad, where rows do: of all
/// plans found those are kept that no other one beats in array, memory and banks.
class JobPlans {
public:
  /// `plans`: tried for each shape and NPU at least. `progress` is called with shapes done and to do, in any thread,
  /// but one at a time; it may throw. Throws CompileError if a layer has no plan that fits the scratchpad. The set must
  /// outlive the object.
  JobPlans(const JobSet &jobs, std::uint64_t plans, unsigned threads,
           const std::function<void(std::uint64_t, std::uint64_t)> &progress = {});

  /// Index of a section's shape: sections with the same have the same plans.
  std::size_t shape_of(std::size_t job, std::size_t section) const { return shapes_[job][section]; }
  /// Of all sections of a job.
  const std::vector<std::size_t> &shapes_of(std::size_t job) const { return shapes_[job]; }
  /// The plans for a set that has but this job.
  JobPlans of_job(std::size_t job) const {
    JobPlans own = *this;
    own.shapes_ = {shapes_[job]};
    return own;
  }
  /// Of a shape, the fastest alone first. At least one.
  const std::vector<PricedPlan> &of(std::size_t shape) const { return plans_[shape]; }
  /// The layer that the plans of a shape were made for, and its pass.
  const Layer &layer_of(std::size_t shape) const { return layers_[shape]; }
  Pass pass_of(std::size_t shape) const { return passes_[shape]; }
  /// The index of a shape's plan that has these phases; the number of all if none has.
  std::size_t find(std::size_t shape, const std::vector<PhasePlan> &phases) const;
  /// One more of a shape; its index.
  std::size_t add(std::size_t shape, PricedPlan plan) {
    plans_[shape].push_back(std::move(plan));
    return plans_[shape].size() - 1;
  }

private:
  void find_shapes(const JobSet &jobs);
  static PricedPlan section_plan(const JobSet &jobs, std::uint32_t layer, Pass pass);

  std::vector<std::vector<std::size_t>> shapes_; ///< by job and section
  std::vector<Layer> layers_;
  std::vector<std::uint32_t> first_; ///< the first layer of each shape
  std::vector<Pass> passes_;
  std::vector<std::vector<PricedPlan>> plans_;
};

} // namespace gradweave::compiler
