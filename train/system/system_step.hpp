// A step of training as a plan of a system: which device runs which product, what crosses links, where it lies.
#pragma once

#include "compiler/compiler.hpp"
#include "sw_models/system/system_timing.hpp"
#include "train/product_plan.hpp"
#include "train/system/flash_tables.hpp"
#include "train/system/sum_stream.hpp"
#include "train/system/system_network.hpp"
#include "train/system/task_order.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace gradweave::runtime::train {

/// What a command of the plan is in the step.
struct StepCommand {
  std::optional<std::size_t> pass;       ///< of a stream of products: index of ProductPlan::passes
  graph::OpId sum = graph::kNone;        ///< of a stream that adds
  graph::TensorId tensor = graph::kNone; ///< of a transfer, or of what a processor looks up
  graph::OpId update = graph::kNone;     ///< of a processor that updates rows
};

/// Plans of layers that devices have in common: found once for all steps that are made with it.
using SystemCaches = std::map<std::pair<std::string, double>, compiler::CompileCache>; ///< by NPU and bandwidth

/// A step's products compiled for the devices that run them, and all commands of the step, in the order of a list
/// schedule (task_order.hpp). What is computed at one place and read at another is moved once, as its edge has it: maps
/// at the cut and their gradients, gradients of weights to where they are added, weights to where they are read. Inputs
/// of devices with flash are read from there. Gradients in fp32 are added by the NPU of their place (sum_stream.hpp).
/// The host's other operators take no time, as in a step on one device.
///
/// Tables in flash (flash_tables.hpp) stay there: the blocks with the rows that a step looks up are read, the device's
/// processor looks them up, with all that is at their place (look_ups.hpp), and updates them when their gradient is
/// there, and the blocks are written back. Of a processor's command count the rows that it reads and writes: each that
/// is looked up, and the result; of an update a gradient of each, and each distinct one with its moments.
class SystemStep {
public:
  /// `network`, `products` (of its step's graph) and `system` must outlive this. Throws compiler::CompileError, and
  /// std::invalid_argument naming the device and the sizes if a memory or flash is too small.
  SystemStep(const SystemNetwork &network, const ProductPlan &products, const SystemConfig &system,
             const compiler::CompileOptions &options, SystemCaches &caches);

  /// Plans the step anew for what is looked up in it: `ids` gives the values of a tensor of ids. Before, the plan is
  /// for ids that are spread evenly over their table.
  using Ids = std::function<std::vector<std::int32_t>(graph::TensorId)>;
  void look_up(const Ids &ids);

  const std::vector<FlashTable> &tables() const { return tables_; }
  /// That a tensor is, or its next value; else null.
  const FlashTable *table_of(graph::TensorId tensor) const;
  const SystemPlan &plan() const { return plan_; }
  /// Its times by the model.
  const SystemTimes &times() const { return times_; }
  const StepCommand &command(CommandId id) const { return commands_[id]; }
  const compiler::Compiled &compiled(std::size_t pass) const { return compiled_[pass]; }
  /// Of an op that an NPU adds; else null.
  const SumStream *sum_of(graph::OpId op) const;
  std::uint32_t device_of_pass(std::size_t pass) const { return device_of(place_of_pass(pass)); }
  std::uint32_t device_of_op(graph::OpId op) const { return device_of(places_[op]); }
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
  void find_sums();
  void add_sum(graph::OpId op);
  Stream stream_on(std::uint32_t device, const std::vector<isa::Command> &commands);
  TaskId add_task(SystemCommand command, const StepCommand &what, Task task);
  std::uint64_t transfer_ps(const SystemCommand &command) const;
  Direction direction_of(std::size_t pass) const;
  Task task_of_transfer(graph::TensorId tensor) const;
  void add_commands();
  void plan_step();
  bool leaves_look_ups(graph::OpId op) const;
  TaskId look_up_at(graph::TensorId tensor, std::uint32_t place, const std::set<TaskId> &waits);
  void update_rows(graph::OpId op);
  Waits transfer_blocks(SystemCommand::Kind kind, const FlashTable &table, Waits waits);
  std::uint64_t row_bytes(const FlashTable &table) const;
  std::uint64_t processor_ps(const SystemCommand &command) const;
  /// What has to end before a tensor is at a place; adds the transfers that bring it there.
  const Waits &ready(graph::TensorId tensor, std::uint32_t place);
  Waits bring(graph::TensorId tensor, std::uint32_t place);
  Waits move(graph::TensorId tensor, std::uint32_t from, std::uint32_t to);
  Waits read_flash(graph::TensorId tensor, std::uint32_t place);

  const SystemNetwork &network_;
  const graph::TrainingGraph &step_;
  const ProductPlan &products_;
  const SystemConfig &system_;
  std::vector<std::uint32_t> places_;   ///< of each op
  std::vector<std::uint32_t> look_ups_; ///< of each op, its place if it is where tables lie
  std::vector<FlashTable> tables_;
  std::set<graph::OpId> counted_;            ///< look-ups that a processor's command has the rows of
  std::vector<std::uint32_t> homes_;         ///< of each tensor that lives on, where it is updated; else kHostPlace
  std::vector<std::size_t> pass_of_;         ///< of each op: 1 + its pass; 0: the host's
  std::vector<compiler::Compiled> compiled_; ///< of each pass
  std::map<graph::OpId, SumStream> sums_;
  std::map<graph::OpId, TaskId> run_of_sum_;
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
