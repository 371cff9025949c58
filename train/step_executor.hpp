// One step of training: executed by the golden definition of every op, and, where asked for, with its products on a
// device, each tensor of which is compared with the golden one.
#pragma once

#include "graph/passes/training.hpp"
#include "train/data/feed.hpp"
#include "train/product_runner.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace gradweave::runtime::train {

/// What lives from step to step: values of parameters and state, by tensor of the step's graph.
using Living = std::vector<std::vector<float>>;

/// Throws std::invalid_argument with both numbers if what lives takes more than `bytes` of the host's memory, in which
/// each element is an fp32.
void check_living(const graph::Graph &graph, std::uint64_t bytes);
/// Those of a fresh network. Throws as check_living() if the machine's memory is too small.
Living initial_living(const graph::Graph &graph, std::uint64_t seed);

/// Where two executions of a step part.
struct Difference {
  std::string op, tensor; ///< the first op in order whose result differs, and the result
  std::uint64_t element = 0, differing = 0, elements = 0;
  std::string got, golden; ///< the first element, as people read it
  std::string text() const;
};

/// Which share of a step ran where.
struct Shares {
  double device_multiply_adds = 0, host_multiply_adds = 0;
  double device_operations = 0, host_operations = 0; ///< fp32 operations of ops that are no product
  double device_bytes = 0, host_bytes = 0;           ///< that ops read and write: their operands and results once
  std::uint64_t device_ops = 0, host_ops = 0;
};

/// Of the sections of one stream that are of one operator.
struct OperatorCycles {
  std::string what; ///< the operator, and its part if it is one
  std::uint64_t sections = 0, commands = 0;
  std::uint64_t cycles = 0; ///< from the end of all sections before to its own; those of a stream add up to all
  std::uint64_t read_bytes = 0, write_bytes = 0; ///< of elements that its LOADs and STOREs move
};

/// Where the cycles of a step went that is one stream.
struct StepCycles {
  std::vector<OperatorCycles> operators; ///< the most cycles first
  // Cycles in which a command of the kind is under way:
  std::uint64_t array = 0, memory = 0, vector = 0;
  std::uint64_t vector_alone = 0; ///< and none of the other two
};

struct StepResult {
  std::vector<float> losses;               ///< of each micro-batch
  std::uint64_t tensors = 0, elements = 0; ///< compared; 0 without a device
  std::uint64_t unchecked = 0;             ///< elements that a device does not have: it computes none, or no longer
  std::uint64_t inside = 0;                ///< tensors that never reach the device's memory
  std::optional<Difference> difference;
  std::vector<std::string> failures; ///< of the device, and of its counters
  ProductTotals products;
  std::optional<StepCycles> cycles; ///< of a step that is one stream, on a backend with time
  double device_seconds = 0;        ///< of the clock on the wall, in which the device ran such a step
  Shares shares;
  std::vector<graph::Buffer<graph::Contract>> watched; ///< of the tensors that StepExecutor::watch() named

  bool ok() const { return !difference && failures.empty(); }
  float loss() const; ///< the mean over the micro-batches
};

/// What ends a step that is not wanted any more.
class Abandoned : public std::runtime_error {
public:
  Abandoned() : std::runtime_error("the step was abandoned") {}
};

/// Executes a step's graph again and again.
class StepExecutor {
public:
  /// Golden only.
  explicit StepExecutor(const graph::TrainingGraph &step, unsigned threads = usable_cores());
  /// With products on a device. References must outlive this. Throws as ProductRunner.
  StepExecutor(const graph::TrainingGraph &step, Device &device, const ProductOptions &options,
               unsigned threads = usable_cores());

  StepExecutor(const StepExecutor &) = delete;
  StepExecutor &operator=(const StepExecutor &) = delete;
  virtual ~StepExecutor() = default;

  /// Steps from now on keep the values of these tensors (StepResult::watched).
  void watch(std::vector<graph::TensorId> tensors);

  /// Nobody asks for what lives behind the steps from now on: golden executions that nothing is compared with execute
  /// only what a loss or a watched tensor depends on, and leave `living` without values.
  void end_unread();

  virtual bool has_device() const { return runner_ != nullptr; }
  /// Whether values of a device are compared with the golden ones.
  virtual bool compares() const { return has_device(); }
  /// Whether ops that are no products run on the device, too.
  virtual bool runs_operators() const { return false; }
  const ProductPlan &plan() const { return plan_; }
  virtual double compile_seconds() const { return runner_ ? runner_->compile_seconds() : 0; }

  /// A step by the golden definition: `living` becomes that of the next step.
  StepResult golden(const std::vector<std::vector<Fed>> &batches, const std::vector<float> &constants,
                    Living &living) const;
  /// The same on the device, which computes from `device_living`; each of its tensors is compared with one that the
  /// golden execution computes from `living`. Ends at the first difference, or failure of the device; both are spent
  /// then.
  virtual StepResult compared(const std::vector<std::vector<Fed>> &batches, const std::vector<float> &constants,
                              Living &living, Living &device_living);

  /// Whether compared() takes values from `device_living`; else it may be empty.
  virtual bool takes_device_living() const { return true; }

  // For steps side by side (lanes.hpp):

  /// An executor of the same steps on another device like this one's, whose golden executions take so many threads. It
  /// shares the plan of this one, which outlives it. Only of an executor with one device.
  virtual std::unique_ptr<StepExecutor> beside(Device &device, unsigned threads) const;
  /// Each step from now on takes `device_living` as it is given, whatever the device's memory holds.
  virtual void begin_afresh() {}
  /// In whatever thread: compared() ends soon, and from now on at once, by Abandoned.
  void abandon() { abandoned_ = true; }
  const std::string &name_of(graph::TensorId tensor) const { return step_.graph.tensors[tensor].name; }

protected:
  using Values = graph::Execution<graph::Contract>;

  /// Golden, and a plan of which products go to devices that have data; who derives from this runs them.
  StepExecutor(const graph::TrainingGraph &step, ProductPlan plan, unsigned threads);

  /// Throws Abandoned if the step is not wanted any more. For waits: called now and then.
  void check_abandoned() const {
    if (abandoned_) throw Abandoned();
  }
  const graph::TrainingGraph &step() const { return step_; }
  /// Whether the golden execution of a step takes in this op (end_unread()).
  bool executes(graph::OpId op) const { return executed_.empty() || executed_[op]; }
  /// 1 + index of its last pass; 0: the host's.
  std::size_t pass_of(graph::OpId op) const { return pass_of_[op]; }
  /// `keep_all`: of tensors, until the step's end.
  Values begin(const std::vector<std::vector<Fed>> &batches, const std::vector<float> &constants, Living &living,
               bool keep_all = false) const;
  /// The end of compared(): of both executions, unless they differ.
  void end_both(Values &golden, Living &living, Values &device, Living &device_living, StepResult &result) const;
  /// Whether all results of an op are equal; notes it.
  bool compare(graph::OpId op, const Values &golden, const Values &device, StepResult &result) const;
  /// The same for one tensor; `by`: what gave it.
  bool compare_tensor(graph::TensorId tensor, const std::string &by, const graph::Buffer<graph::Contract> &golden,
                      const graph::Buffer<graph::Contract> &device, StepResult &result) const;
  /// The end of one execution.
  void end(Values &values, Living &living, StepResult &result) const;
  Shares shares() const;

private:
  /// Products on another device like that of `other`.
  StepExecutor(const StepExecutor &other, Device &device, unsigned threads);
  void take_plan(ProductPlan plan);
  /// Runs what is due at an op on the device's side; the ops that then are complete.
  std::vector<graph::OpId> advance(graph::OpId op, Values &device, StepResult &result);

  const graph::TrainingGraph &step_;
  unsigned threads_;
  ProductPlan plan_;
  std::unique_ptr<ProductRunner> runner_;
  bool device_data_ = false;
  std::vector<std::size_t> pass_of_; ///< of each op: 1 + index of its last pass; 0: the host's
  std::vector<bool> unread_;         ///< of each tensor: kept beyond the step's end
  std::vector<graph::TensorId> watched_;
  std::vector<bool> executed_; ///< ops; empty: all
  std::atomic<bool> abandoned_{false};
};

} // namespace gradweave::runtime::train
