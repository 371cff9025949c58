// A step of training as a plan of a system: which device runs which product, what crosses links, where it lies.
#pragma once

#include "compiler/compiler.hpp"
#include "graph/partition/partition.hpp"
#include "sw_models/system/system_plan.hpp"
#include "train/product_plan.hpp"

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

/// Of the products of a step on a system, which has to outlive it.
MachineOf machine_of(const graph::TrainingGraph &step, const graph::PartitionedGraph &network,
                     const SystemConfig &system);

/// A step's products compiled for the devices that run them, and all commands of the step. What is computed at one
/// place and read at another is moved once, as its edge has it: maps at the cut and their gradients, gradients of
/// weights to where they are added, weights to where they are read. Inputs of devices with flash are read from there.
/// The host's operators take no time, as in a step on one device.
class SystemStep {
public:
  /// All must outlive this. `products`: of `step`'s graph. Throws compiler::CompileError, and std::invalid_argument
  /// naming the device and the sizes if a memory or flash is too small.
  SystemStep(const graph::TrainingGraph &step, const graph::PartitionedGraph &network, const ProductPlan &products,
             const SystemConfig &system, const compiler::CompileOptions &options);

  const SystemPlan &plan() const { return plan_; }
  const StepCommand &command(CommandId id) const { return commands_[id]; }
  const compiler::Compiled &compiled(std::size_t pass) const { return compiled_[pass]; }
  std::uint32_t device_of_pass(std::size_t pass) const { return device_of(place_of_pass(pass)); }
  /// Of the device's memory that passes take turns in: its first byte.
  std::uint64_t base_of(std::uint32_t device) const { return bases_[device]; }

private:
  using Waits = std::vector<CommandId>;

  std::uint32_t device_of(std::uint32_t place) const;
  std::uint32_t place_of_pass(std::size_t pass) const;
  void compile(const compiler::CompileOptions &options);
  void lay_out();
  std::uint64_t allocate(std::uint32_t device, std::uint64_t bytes, bool flash);
  void add_commands();
  void add_pass(std::size_t pass);
  /// What has to end before a tensor is at a place; adds the transfers that bring it there.
  const Waits &ready(graph::TensorId tensor, std::uint32_t place);
  Waits bring(graph::TensorId tensor, std::uint32_t place);
  Waits move(graph::TensorId tensor, std::uint32_t from, std::uint32_t to);
  Waits read_flash(graph::TensorId tensor, std::uint32_t place);

  const graph::TrainingGraph &step_;
  const ProductPlan &products_;
  const SystemConfig &system_;
  std::uint32_t upper_;
  std::vector<std::uint32_t> places_;        ///< of each op
  std::vector<std::uint32_t> homes_;         ///< of each tensor that lives on, where it is updated; else kHostPlace
  std::vector<std::size_t> pass_of_;         ///< of each op: 1 + its pass; 0: the host's
  std::vector<compiler::Compiled> compiled_; ///< of each pass
  std::vector<std::uint64_t> bases_, streams_, free_, flash_free_; ///< of each device
  SystemPlan plan_;
  std::vector<StepCommand> commands_;
  std::vector<std::optional<CommandId>> run_of_; ///< of each pass
  std::map<std::pair<graph::TensorId, std::uint32_t>, Waits> ready_;
};

/// Bytes of a tensor on a link or in flash, elements of its edge's type one after another.
std::uint64_t bytes_of_tensor(const graph::Tensor &tensor);

} // namespace gradweave::runtime::train
