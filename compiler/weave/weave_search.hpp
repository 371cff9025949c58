// The search for an order of jobs: rules, plans and areas to begin with, then changes that the timing model judges.
#pragma once

#include "compiler/search/plan_change.hpp"
#include "compiler/weave/weave_options.hpp"
#include "compiler/weave/woven_order.hpp"

#include <functional>

namespace gradweave::compiler {

class WeaveSearch {
public:
  /// The references must outlive the object.
  WeaveSearch(const JobSet &jobs, JobPlans &plans, const WeaveOptions &options);

  /// Tries rules, plans and areas. Whether any order fits the memory.
  bool begin();
  /// Tries the changes that the options ask for.
  void run();

  const WovenOrder &order() const { return walks_.front().order; }
  std::uint64_t cycles() const { return walks_.front().cycles; }
  std::uint64_t tried() const { return tried_; }
  std::uint64_t changes() const { return changes_; }
  std::uint64_t improvements() const { return improvements_; }

private:
  /// A section of a job.
  struct Place {
    std::size_t job = 0, section = 0;
  };

  /// Two sections of a job that have a tensor of activations in common, for all pairs of their shapes.
  struct Link {
    Place one, other;
  };

  /// The fastest order of those that it has come to.
  struct Walk {
    WovenOrder order;
    std::uint64_t cycles = ~std::uint64_t{0};
  };

  bool weaves_tiles() const { return options_.policy == WeavePolicy::kTiles; }
  bool consider(Walk &walk, const std::vector<WovenOrder> &orders);
  bool consider_together(Walk &walk, const WovenOrder *orders, std::size_t count);
  std::vector<WovenOrder> beginnings() const;
  Walk begin_with(const weave_model::Rule &rule, double turn);
  void choose_by_job(Walk &walk);
  void sort_walks();
  void change(Walk &walk, std::uint64_t count);
  void change_once(WovenOrder &order);
  WovenOrder with_plans(const std::function<std::size_t(std::size_t, std::size_t)> &plan) const;
  WovenOrder priced(double memory) const;
  WovenOrder shared_out(std::uint32_t banks) const;

  void find_links();
  std::vector<Place> pick_alike();
  std::vector<Place> all_alike(const Place &place) const;
  void change_plan(WovenOrder &order);
  void invent_plan(WovenOrder &order);
  bool set_plan(WovenOrder &order, const std::vector<Place> &places, std::vector<PhasePlan> phases);
  void cut_alike(WovenOrder &order);
  void change_areas(WovenOrder &order);
  void change_window(WovenOrder &order);
  void change_pace(WovenOrder &order);
  void change_rule(WovenOrder &order);
  const Layer &layer_at(const Place &place) const { return plans_.layer_of(plans_.shape_of(place.job, place.section)); }
  const std::vector<PhasePlan> &phases_at(const WovenOrder &order, const Place &place) const {
    return plans_.of(plans_.shape_of(place.job, place.section))[order.sections[place.job][place.section].plan].phases;
  }
  SectionChoice &at(WovenOrder &order, const Place &place) const { return order.sections[place.job][place.section]; }

  const JobSet &jobs_;
  JobPlans &plans_;
  const WeaveOptions &options_;
  OrderPlayer player_;
  PlanChanger changer_;
  std::vector<weave_model::Rule> rules_;
  std::vector<double> turns_; ///< WovenOrder::turn that are tried
  std::vector<Walk> walks_;   ///< the fastest first
  std::vector<Link> links_;
  std::uint64_t tried_ = 0, changes_ = 0, improvements_ = 0;
};

} // namespace gradweave::compiler
