// A step of training as a plan of a system: which device runs which product, what crosses links, where it lies.
#pragma once

#include "compiler/compiler.hpp"
#include "sw_models/system/system_timing.hpp"
#include "train/product_plan.hpp"
#include "train/system/system_network.hpp"
#include "train/system/task_order.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace gradweave::runtime::train {

/// What a command of the plan is in the step.
struct StepCommand {
  std::optional<std::size_t> pass;       ///< of a stream: index of ProductPlan::passes
  graph::TensorId tensor = graph::kNone; ///< of a transfer
};

/// Plans of layers that devices have in common: found once for all steps that are made with it.
using SystemCaches = std::map<std::pair<std::string, double>, compiler::CompileCache>; ///< by NPU and bandwidth

/// A step's products compiled for the devices that run them, and all commands of the step, in the order of a list
/// schedule (task_order.hpp). What is computed at one place and read at another is moved once, as its edge has it: maps
/// at the cut and their gradients, gradients of weights to where they are added, weights to where they are read. Inputs
/// of devices with flash are read from there. The host's operators take no time, as in a step on one device.
class SystemStep {
public:
  /// `network`, `products` (of its step's graph) and `system` must outlive this. Throws compiler::CompileError, and
  /// std::invalid_argument naming the device and the sizes if a memory or flash is too small.
  SystemStep(const SystemNetwork &network, const ProductPlan &products, const SystemConfig &system,
             const compiler::CompileOptions &options, SystemCaches &caches);

  const SystemPlan &plan() const { return plan_; }
  /// Its times by the model.
  const SystemTimes &times() const { return times_; }
  const StepCommand &command(CommandId id) const { return commands_[id]; }
  const compiler::Compiled &compiled(std::size_t pass) const { return compiled_[pass]; }
  std::uint32_t device_of_pass(std::size_t pass) const { return device_of(place_of_pass(pass)); }
  /// Of the device's memory that passes take turns in: its first byte.
  std::uint64_t base_of(std::uint32_t device) const { return bases_[device]; }

private:
  using Waits = std::vector<TaskId>;
  using Stream = std::shared_ptr<const std::vector<isa::Command>>;

  std::uint32_t device_of(std::uint32_t place) const { return network_.devices[place]; }
  std::uint32_t place_of_pass(std::size_t pass) const;
  void compile(const compiler::CompileOptions &options, SystemCaches &caches);
  void lay_out();
  std::uint64_t allocate(std::uint32_t device, std::uint64_t bytes, bool flash);
  void make_tasks();
  void add_pass(std::size_t pass);
  Stream stream_of(std::size_t pass);
  TaskId add_task(SystemCommand command, const StepCommand &what, Task task);
  std::uint64_t transfer_ps(const SystemCommand &command) const;
  Direction direction_of(std::size_t pass) const;
  Task task_of_transfer(graph::TensorId tensor) const;
  void add_commands();
  /// What has to end before a tensor is at a place; adds the transfers that bring it there.
  const Waits &ready(graph::TensorId tensor, std::uint32_t place);
  Waits bring(graph::TensorId tensor, std::uint32_t place);
  Waits move(graph::TensorId tensor, std::uint32_t from, std::uint32_t to);
  Waits read_flash(graph::TensorId tensor, std::uint32_t place);

  const SystemNetwork &network_;
  const graph::TrainingGraph &step_;
  const ProductPlan &products_;
  const SystemConfig &system_;
  std::vector<std::uint32_t> places_;        ///< of each op
  std::vector<std::uint32_t> homes_;         ///< of each tensor that lives on, where it is updated; else kHostPlace
  std::vector<std::size_t> pass_of_;         ///< of each op: 1 + its pass; 0: the host's
  std::vector<compiler::Compiled> compiled_; ///< of each pass
  std::vector<std::uint64_t> bases_, streams_, free_, flash_free_; ///< of each device
  SystemTiming timing_;
  SystemPlan plan_;
  SystemTimes times_;
  std::vector<StepCommand> commands_;
  std::vector<std::optional<TaskId>> run_of_; ///< of each pass
  std::map<std::pair<graph::TensorId, std::uint32_t>, Waits> ready_;
  std::vector<std::vector<Stream>> known_streams_; ///< of each device, those that differ
  // By task, until they are commands:
  std::vector<Task> tasks_;
  std::vector<SystemCommand> task_commands_;
  std::vector<StepCommand> task_whats_;
};

} // namespace gradweave::runtime::train
