// The interface of schedulers: layers and a machine in, plans out.
#pragma once

#include "base/key/memo.hpp"
#include "compiler/ir/compiled.hpp"
#include "compiler/ir/layout.hpp"
#include "compiler/ir/program.hpp"
#include "compiler/request/options.hpp"
#include "sw_models/config/machine.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::compiler {

/// Plans that a search has found, without products; `cycles` by the timing model.
struct FoundPlans {
  std::vector<PhasePlan> plans;
  std::uint64_t cycles = 0;
  std::uint64_t cost = 0; ///< by the objective of the search; not kept in a store
  Tuning tuning;
};

/// Plans of earlier processes, by key. Any number of threads may call it.
class PlanStore {
public:
  PlanStore() = default;
  PlanStore(const PlanStore &) = delete;
  PlanStore &operator=(const PlanStore &) = delete;
  virtual ~PlanStore() = default;

  /// What was kept under the key. It may be anything: whoever asks sees whether it is of use.
  virtual std::optional<FoundPlans> find(const std::string &key) = 0;
  /// What find() gave is not what a search for the key would have kept.
  virtual void reject(const std::string &key) = 0;
  virtual void keep(const std::string &key, const FoundPlans &found) = 0;
};

/// What a scheduler decides.
struct Scheduled {
  /// All phases of all layers in the order in which they are to run.
  std::vector<PhasePlan> plans;
  /// By the timing model; 0: not known.
  std::uint64_t cycles = 0;
  /// The places of all tiles, of a scheduler that decides them itself; else residency does (compiler/spm).
  std::optional<Program> program = std::nullopt;
  /// The order that the name stands for, if it stands for several.
  Schedule chosen;
  Tuning tuning = {};
  /// Of each layer, for people; empty: the plans tell.
  std::vector<std::string> tilings = {};
};

/// What need not be looked for again.
struct KnownPlans {
  Memo<FoundPlans> found;
  Memo<Scheduled> scheduled; ///< of schedulers that find more than plans
  /// Of a phase, the plans of the best estimates by each metric that the scheduler loop_order chooses by.
  Memo<std::vector<std::vector<PhasePlan>>> loop_orders;
  PlanStore *store = nullptr; ///< if not null, asked before a search, and told what that found; outlives this
};

/// What is to be scheduled. The references must outlive the call.
struct SchedulingProblem {
  const std::vector<Layer> &layers; ///< in the order of the forward pass, at least one
  const Layout &layout;             ///< of these layers under the pass
  const Machine &npu;
  const CompileOptions &options;
  KnownPlans &known; ///< for searches that look at a layer again
};

/// A way to schedule. Its objects have no state: any number of threads may call them.
class Scheduler {
public:
  Scheduler() = default;
  Scheduler(const Scheduler &) = delete;
  Scheduler &operator=(const Scheduler &) = delete;
  virtual ~Scheduler() = default;

  /// What users call it.
  virtual Schedule name() const = 0;
  /// What it does, as a clause, for help.
  virtual std::string_view summary() const = 0;
  /// Whether it schedules convolutions that read images; else they have to go by im2col.
  virtual bool reads_images() const { return true; }
  /// Whether it plans several layers in one stream.
  virtual bool plans_together() const { return true; }
  /// Whether it tells CompileOptions::explain what it did, and why.
  virtual bool explains() const { return false; }
  /// Throws CompileError if no plan fits the NPU. Bits do not depend on what it returns: a reduction's order is part of
  /// the plans, and what follows is verified.
  virtual Scheduled schedule(const SchedulingProblem &problem) const = 0;
};

} // namespace gradweave::compiler
