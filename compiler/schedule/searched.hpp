// Schedulers that search for plans in the orders of igo_micro23.
#pragma once

#include "compiler/back/layer_scheduler.hpp"

namespace gradweave::compiler {

/// The fastest plans found in one order, or in the fastest of several: sections 4.2 and 4.3.
class SearchedOrder : public LayerScheduler {
public:
  /// `name`: one of the orders, `rearrange` or `ideal`.
  SearchedOrder(Schedule name, std::string_view summary) : name_(name), summary_(summary) {}

  Schedule name() const override { return name_; }
  std::string_view summary() const override { return summary_; }

protected:
  Scheduled schedule_layer(const SchedulingProblem &problem) const override;
  /// The orders to choose among for a layer of which `part` is what a core computes, resolved, the most promising
  /// first.
  virtual std::vector<CompileOptions> orders(const SchedulingProblem &problem) const;
  /// The best of these, `best`, with other cuts; then the other orders follow with the best cut. None: they do not.
  virtual std::vector<CompileOptions> other_cuts_with(const SchedulingProblem &problem,
                                                      const CompileOptions &best) const;

private:
  Schedule name_;
  std::string_view summary_;
};

/// All orders and, unless one is asked for, all partitions (section 5); of several layers, the plan of the whole step
/// (compiler/schedule/step/step_search.hpp).
class FullSearch final : public SearchedOrder {
public:
  FullSearch();
  Scheduled schedule(const SchedulingProblem &problem) const override;

protected:
  std::vector<CompileOptions> orders(const SchedulingProblem &problem) const override;
  std::vector<CompileOptions> other_cuts_with(const SchedulingProblem &problem,
                                              const CompileOptions &best) const override;
};

} // namespace gradweave::compiler
