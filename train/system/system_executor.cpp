#include "train/system/system_executor.hpp"

#include "base/process/stopwatch.hpp"
#include "runtime/job/loaded_stream.hpp"
#include "train/data/tensor_bytes.hpp"
#include "train/product_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace gradweave::runtime::train {
namespace {

using graph::kNone;
using graph::OpId;
using graph::Tensor;
using graph::TensorId;
using Kind = SystemCommand::Kind;

} // namespace

std::vector<DeviceUse> uses_of(const SystemPlan &plan, const SystemTimes &times) {
  std::vector<DeviceUse> uses;
  for (std::uint32_t device = 0; device < plan.system().devices.size(); ++device) {
    DeviceUse use;
    use.name = plan.system().devices[device].name;
    use.link_ps = times.link_busy_ps[device];
    use.flash_ps = times.flash_busy_ps[device];
    std::vector<CommandSpan> transfers;
    for (CommandId id = 0; id < plan.commands().size(); ++id) {
      const SystemCommand &command = plan.commands()[id];
      if (command.device != device && command.target_device() != device) continue;
      const CommandSpan &span = times.spans[id];
      if (command.kind == Kind::kProcess) {
        use.process_ps += span.end - span.begin;
        continue;
      }
      if (command.kind != Kind::kRun) {
        transfers.push_back(span);
        continue;
      }
      ++use.streams;
      use.stream_ps += span.end - span.begin;
    }
    std::sort(transfers.begin(), transfers.end(),
              [](const CommandSpan &a, const CommandSpan &b) { return a.begin < b.begin; });
    std::uint64_t until = 0;
    for (const CommandSpan &span : transfers) {
      const std::uint64_t from = std::max(span.begin, until);
      if (span.end > from) use.transfer_ps += span.end - from;
      until = std::max(until, span.end);
    }
    uses.push_back(std::move(use));
  }
  return uses;
}

/// What a plan's commands take and give, in one step.
class SystemExecutor::Host final : public SystemHost {
public:
  Host(SystemExecutor &executor, const Values &golden, Values &values, StepResult &result)
      : executor_(executor), graph_(executor.step().graph), golden_(golden), values_(values), result_(result),
        ran_(graph_.ops.size()) {
    for (const FlashTable &table : executor.planned_->tables()) // no row is known that has not come from flash
      values_.set(table.tensor, std::vector<float>(graph_.tensors[table.tensor].shape.elements(),
                                                   std::numeric_limits<float>::quiet_NaN()));
  }

  void begin(CommandId id) override {
    const SystemCommand &command = command_of(id);
    const StepCommand &what = executor_.planned_->command(id);
    if (what.pass) {
      fill(*what.pass);
      return;
    }
    if (what.sum != kNone) {
      fill_sum(what.sum);
      return;
    }
    if (command.kind == Kind::kProcess || executor_.planned_->table_of(what.tensor) != nullptr) return;
    compute(what.tensor);
    if (!values_.has(what.tensor)) return; // what is wrong is noted
    const std::vector<std::uint8_t> bytes = to_bytes(graph_.tensors[what.tensor], values_.get(what.tensor));
    if (command.kind == Kind::kFlash)
      executor_.devices_->write_flash(command.device, command.from, bytes.data(), bytes.size());
    else
      executor_.devices_->device(command.device).copy_in(command.from, bytes.data(), bytes.size());
  }

  std::optional<std::string> end(CommandId id) override {
    const StepCommand &what = executor_.planned_->command(id);
    if (result_.difference) return result_.difference->text();
    const FlashTable *table = executor_.planned_->table_of(what.tensor);
    if (what.pass)
      take_pass(*what.pass);
    else if (what.sum != kNone)
      take_sum(what.sum);
    else if (what.update != kNone)
      update_rows(what.update);
    else if (command_of(id).kind == Kind::kProcess)
      compute(what.tensor);
    else if (table != nullptr && command_of(id).kind == Kind::kFlash)
      take_rows(id, *table);
    else if (table != nullptr)
      take_table(id, *table);
    else
      take_tensor(id, what.tensor);
    if (result_.difference) return result_.difference->text();
    return {};
  }

  /// All that the host has still to compute.
  void finish() {
    for (OpId op = 0; op < graph_.ops.size() && result_.ok(); ++op)
      if (!ran_[op]) run(op);
  }

private:
  const SystemCommand &command_of(CommandId id) const { return executor_.system_plan().commands()[id]; }

  LoadedStream loaded(std::size_t pass) {
    const compiler::Compiled &compiled = executor_.planned_->compiled(pass);
    const std::uint32_t device = executor_.planned_->device_of_pass(pass);
    return {executor_.devices_->device(device), compiled.layout.tensors, compiled.stream, compiled.dram_bytes,
            executor_.planned_->base_of(device)};
  }

  void fill(std::size_t index) {
    const ProductPass &pass = executor_.plan().passes[index];
    const compiler::Compiled &compiled = executor_.planned_->compiled(index);
    std::vector<HostTensor> operands(compiled.layout.tensors.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const compiler::TensorBinding &binding = compiled.layout.tensors[i];
      if (!binding.input) continue;
      const PlacedTensor &placed = pass.placed(binding.tensor);
      compute(placed.id);
      if (!values_.has(placed.id)) return;
      operands[i] = to_matrix(placed, pass.layer, binding, values_.get(placed.id).real);
    }
    loaded(index).fill([&](std::size_t i) -> const HostTensor & { return operands[i]; });
  }

  void take_pass(std::size_t index) {
    const ProductPass &pass = executor_.plan().passes[index];
    LoadedStream stream = loaded(index);
    for (const compiler::TensorBinding &binding : executor_.planned_->compiled(index).layout.tensors) {
      if (binding.input) continue;
      const PlacedTensor &placed = pass.placed(binding.tensor);
      take_result(placed, pass.layer, stream.read(binding), values_);
    }
    if (!pass.completes) return;
    for (const OpId op : pass.ops) {
      if (!executor_.compare(op, golden_, values_, result_)) return;
      values_.done(op);
      ran_[op] = true;
    }
  }

  /// Where a sum's tensors are: of the device that adds.
  std::uint64_t base_of_sum(OpId op) const { return executor_.planned_->base_of(executor_.planned_->device_of_op(op)); }

  void fill_sum(OpId op) {
    const SumStream &sum = *executor_.planned_->sum_of(op);
    Device &device = executor_.devices_->device(executor_.planned_->device_of_op(op));
    const std::vector<std::uint8_t> nothing((sum.dram_bytes - sum.c), 0xFF); // no sum is this NaN
    device.copy_in(base_of_sum(op) + sum.c, nothing.data(), nothing.size());
    for (std::size_t i = 0; i < 2; ++i) {
      const TensorId input = graph_.ops[op].inputs[i];
      compute(input);
      if (!values_.has(input)) return;
      const std::vector<std::uint8_t> bytes = to_bytes(graph_.tensors[input], values_.get(input));
      device.copy_in(base_of_sum(op) + (i == 0 ? sum.a : sum.b), bytes.data(), bytes.size());
    }
  }

  void take_sum(OpId op) {
    const Tensor &tensor = graph_.tensors[graph_.ops[op].outputs[0]];
    std::vector<std::uint8_t> bytes(bytes_of_tensor(tensor));
    const SumStream &sum = *executor_.planned_->sum_of(op);
    executor_.devices_->device(executor_.planned_->device_of_op(op))
        .copy_out(base_of_sum(op) + sum.c, bytes.data(), bytes.size());
    values_.set(graph_.ops[op].outputs[0], from_bytes(tensor, bytes).real);
    if (!executor_.compare(op, golden_, values_, result_)) return;
    values_.done(op);
    ran_[op] = true;
  }

  /// From now on it is what arrived.
  void take_tensor(CommandId id, TensorId tensor) {
    const SystemCommand &command = command_of(id);
    std::vector<std::uint8_t> bytes(command.bytes);
    executor_.devices_->device(command.target_device()).copy_out(command.target, bytes.data(), bytes.size());
    graph::Buffer<graph::Contract> arrived = from_bytes(graph_.tensors[tensor], bytes);
    if (graph::is_real(graph_.tensors[tensor].type))
      values_.set(tensor, std::move(arrived.real));
    else
      values_.set_index(tensor, std::move(arrived.index));
    executor_.compare_tensor(tensor, describe(executor_.system_plan(), id), golden_.get(tensor), values_.get(tensor),
                             result_);
  }

  /// Calls `with(element, offset)` for each element of the blocks of a table that are in memory, its place there.
  template <class With> void each_element(const FlashTable &table, const With &with) const {
    const std::size_t elements = graph_.tensors[table.tensor].shape.elements();
    constexpr std::size_t kOfBlock = kFlashBlock / sizeof(float);
    for (std::size_t b = 0; b < table.rows.blocks.size(); ++b)
      for (std::size_t i = 0; i < kOfBlock; ++i)
        if (const std::size_t element = kOfBlock * table.rows.blocks[b] + i; element < elements)
          with(element, kOfBlock * b + i);
  }

  /// Blocks of a table have come from flash. What reads them is compared, and so is all that flash holds at the end.
  void take_rows(CommandId id, const FlashTable &table) {
    std::vector<float> blocks(command_of(id).bytes / sizeof(float)), values = values_.get(table.tensor).real;
    executor_.devices_->device(table.device).copy_out(table.memory, blocks.data(), command_of(id).bytes);
    each_element(table, [&](std::size_t element, std::size_t at) { values[element] = blocks[at]; });
    values_.set(table.tensor, std::move(values));
  }

  /// New rows, and what else is in the blocks, stand in memory.
  void update_rows(OpId op) {
    run(op);
    for (const TensorId next : graph_.ops[op].outputs) {
      const FlashTable *table = next == kNone ? nullptr : executor_.planned_->table_of(next);
      if (table == nullptr || !result_.ok()) continue;
      std::vector<float> blocks(table->rows.blocks.size() * kFlashBlock / sizeof(float));
      const std::vector<float> &values = values_.get(next).real;
      each_element(*table, [&](std::size_t element, std::size_t at) { blocks[at] = values[element]; });
      executor_.devices_->device(table->device).copy_in(table->memory, blocks.data(), blocks.size() * sizeof(float));
    }
  }

  /// The table is what flash holds.
  void take_table(CommandId id, const FlashTable &table) {
    std::vector<float> values(graph_.tensors[table.next].shape.elements());
    executor_.devices_->read_flash(table.device, table.flash, values.data(), values.size() * sizeof(float));
    values_.set(table.next, std::move(values));
    executor_.compare_tensor(table.next, describe(executor_.system_plan(), id), golden_.get(table.next),
                             values_.get(table.next), result_);
  }

  /// Runs the host's operators that a tensor follows from.
  void compute(TensorId tensor) {
    if (values_.has(tensor) || !result_.ok()) return;
    run(graph_.tensors[tensor].producer);
  }

  void run(OpId op) {
    if (executor_.pass_of(op) > 0 || executor_.planned_->sum_of(op) != nullptr)
      throw std::logic_error(fmt::format("the plan does not wait for '{}'", graph_.ops[op].name));
    for (const TensorId input : graph_.ops[op].inputs)
      if (input != kNone) compute(input);
    if (!result_.ok()) return;
    values_.run(op);
    ran_[op] = true;
    if (executor_.planned_->table_of(graph_.ops[op].outputs[0]) == nullptr) // else when it is in flash, all of it
      executor_.compare(op, golden_, values_, result_);
  }

  SystemExecutor &executor_;
  const graph::Graph &graph_;
  const Values &golden_;
  Values &values_;
  StepResult &result_;
  std::vector<bool> ran_;
};

SystemExecutor::SystemExecutor(const SystemNetwork &network, const SystemConfig &system,
                               const compiler::CompileOptions &options, SystemCaches &caches,
                               const SystemOptions &system_options)
    : StepExecutor(network.step, plan_products(network.step.graph, machine_of(network, system)), usable_cores()),
      stalls_(system_options.faults.longest_stall_ps > 0) {
  const Stopwatch stopwatch;
  planned_ = std::make_unique<SystemStep>(network, plan(), system, options, caches);
  compile_seconds_ = stopwatch.wall_seconds();
  for (const DeviceOptions &device : system_options.devices)
    stalls_ = stalls_ || device.stress.stall_probability > 0;
  devices_ = make_rtl_system(system, system_options);
}

StepResult SystemExecutor::compared(const std::vector<std::vector<Fed>> &batches, const std::vector<float> &constants,
                                    Living &living, Living &device_living) {
  StepResult result;
  if (!filled_) fill_tables(device_living);
  Values golden = begin(batches, constants, living, true), device = begin(batches, constants, device_living, true);
  golden.run();
  if (!planned_->tables().empty()) planned_->look_up([&golden](TensorId ids) { return golden.get(ids).index; });
  Host host(*this, golden, device, result);
  const SystemOutcome outcome = devices_->run(system_plan(), host);
  if (!result.difference && outcome.failure) result.failures.push_back(outcome.failure->text);
  if (result.ok()) check_times(outcome, result);
  if (result.ok()) host.finish();
  count(result);
  end_both(golden, living, device, device_living, result);
  return result;
}

/// Before the first step; from then on flash has what steps leave there.
void SystemExecutor::fill_tables(const Living &living) {
  for (const FlashTable &table : planned_->tables())
    devices_->write_flash(table.device, table.flash, living[table.tensor].data(),
                          living[table.tensor].size() * sizeof(float));
  filled_ = true;
}

void SystemExecutor::check_times(const SystemOutcome &outcome, StepResult &result) const {
  if (stalls_) return;
  for (CommandId id = 0; id < outcome.spans.size(); ++id) {
    const CommandSpan &got = outcome.spans[id], &predicted = times().spans[id];
    if (!(got == predicted)) {
      result.failures.push_back(fmt::format("{}: it took from {} to {} ps, and {} to {} ps were predicted",
                                            describe(system_plan(), id), got.begin, got.end, predicted.begin,
                                            predicted.end));
      return;
    }
    if (!times().runs[id]) continue;
    for (std::size_t c = 0; c < outcome.times[id].size(); ++c) {
      const timing::CommandTimes &a = outcome.times[id][c], &b = times().runs[id]->commands[c];
      if (a == b) continue;
      result.failures.push_back(fmt::format("{}: command {} was issued, started and done in cycles {}, {}, {}, and {}, "
                                            "{}, {} were predicted",
                                            describe(system_plan(), id), c, a.issue, a.start, a.done, b.issue, b.start,
                                            b.done));
      return;
    }
  }
}

void SystemExecutor::count(StepResult &result) const {
  for (CommandId id = 0; id < system_plan().commands().size(); ++id) {
    const StepCommand &what = planned_->command(id);
    if (what.pass) result.products.add(planned_->compiled(*what.pass), times().runs[id]->cycles());
  }
}

} // namespace gradweave::runtime::train
