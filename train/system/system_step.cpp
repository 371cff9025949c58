#include "train/system/system_step.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "isa/command.hpp"
#include "train/data/tensor_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace gradweave::runtime::train {
namespace {

using graph::kHostPlace;
using graph::kNone;
using graph::Op;
using graph::OpId;
using graph::Role;
using graph::Tensor;
using graph::TensorId;

} // namespace

SystemStep::SystemStep(const SystemNetwork &network, const ProductPlan &products, const SystemConfig &system,
                       const compiler::CompileOptions &options, SystemCaches &caches)
    : network_(network), step_(network.step), products_(products), system_(system), places_(network.places),
      look_ups_(look_ups_of(network)), tables_(tables_in_flash(network, system)),
      homes_(step_.graph.tensors.size(), kHostPlace), pass_of_(products.pass_of_ops(step_.graph.ops.size())),
      timing_(system), plan_(system), known_streams_(system.devices.size()) {
  for (std::size_t pass = 0; pass < products_.passes.size(); ++pass) // dX and dW of one dY are one stream
    for (const OpId op : products_.passes[pass].ops)
      places_[op] = place_of_pass(pass);
  for (const graph::Update &update : step_.graph.updates)
    if (const OpId producer = step_.graph.tensors[update.next].producer; producer != kNone)
      homes_[update.tensor] = places_[producer];
  compile(options, caches);
  find_sums();
  look_up([this](TensorId ids) { return spread_ids(step_.graph, ids); });
}

void SystemStep::look_up(const Ids &ids) {
  for (FlashTable &table : tables_)
    table.rows = rows_of(step_.graph.tensors[table.tensor], ids(table.ids));
  plan_step();
}

void SystemStep::plan_step() {
  plan_ = SystemPlan(system_);
  commands_.clear();
  tasks_.clear();
  task_commands_.clear();
  task_whats_.clear();
  ready_.clear();
  counted_.clear();
  run_of_sum_.clear();
  run_of_.assign(products_.passes.size(), std::nullopt);
  lay_out();
  make_tasks();
  add_commands();
  times_ = timing_.run(plan_);
}

std::uint32_t SystemStep::place_of_pass(std::size_t pass) const {
  std::uint32_t place = kHostPlace;
  for (const OpId op : products_.passes[pass].ops)
    place = std::min(place, places_[op]);
  return place;
}

void SystemStep::compile(const compiler::CompileOptions &options, SystemCaches &caches) {
  for (std::size_t pass = 0; pass < products_.passes.size(); ++pass) {
    compiler::CompileOptions own = options;
    own.pass = products_.passes[pass].pass;
    const std::uint32_t device = device_of_pass(pass);
    const DeviceConfig &config = system_.devices[device];
    try {
      compiled_.push_back(compiler::compile({products_.passes[pass].layer}, config.machine, own,
                                            caches[{config.npu_file, config.machine.memory.bandwidth_gb_s}]));
    } catch (const compiler::CompileError &error) {
      throw compiler::CompileError(fmt::format("{}: device '{}': {}", system_.file, config.name, error.what()));
    }
  }
}

/// On each device: the tensors of a pass, its stream, blocks of tables, then what is moved. In flash tables come first,
/// which stay there from step to step.
void SystemStep::lay_out() {
  const std::size_t devices = system_.devices.size();
  std::vector<std::uint64_t> data(devices, 1), stream(devices, 1);
  for (std::size_t pass = 0; pass < compiled_.size(); ++pass) {
    const std::uint32_t device = device_of_pass(pass);
    data[device] = std::max(data[device], compiled_[pass].dram_bytes);
    stream[device] = std::max<std::uint64_t>(stream[device], compiled_[pass].stream.size() * sizeof(isa::Command));
  }
  for (const auto &[op, sum] : sums_) {
    const std::uint32_t device = device_of(places_[op]);
    data[device] = std::max(data[device], sum.dram_bytes);
    stream[device] = std::max<std::uint64_t>(stream[device], sum.stream.size() * sizeof(isa::Command));
  }
  free_.assign(devices, 0);
  flash_free_.assign(devices, 0);
  bases_.clear();
  streams_.clear();
  for (std::uint32_t device = 0; device < devices; ++device) {
    bases_.push_back(allocate(device, data[device], false));
    streams_.push_back(allocate(device, stream[device], false));
  }
  for (FlashTable &table : tables_) {
    table.flash = allocate(table.device, bytes_of_tensor(step_.graph.tensors[table.tensor]), true);
    table.memory = allocate(table.device, std::uint64_t{kFlashBlock} * table.rows.blocks.size(), false);
  }
}

std::uint64_t SystemStep::allocate(std::uint32_t device, std::uint64_t bytes, bool flash) {
  const DeviceConfig &config = system_.devices[device];
  std::uint64_t &free = flash ? flash_free_[device] : free_[device];
  const std::uint64_t size = flash ? system_.flashes[*config.flash].size_bytes : config.machine.memory.size_bytes;
  const std::uint64_t first = free;
  free += compiler::round_up(bytes, kFlashBlock);
  if (free > size)
    throw std::invalid_argument(
        fmt::format("{}: the {} of device '{}' is too small: its part of the step takes {} bytes "
                    "or more, and there are {}; raise its size_bytes, or cut elsewhere",
                    system_.file, flash ? "flash" : "memory", config.name, free, size));
  return first;
}

void SystemStep::make_tasks() {
  const std::vector<Op> &ops = step_.graph.ops;
  for (OpId id = 0; id < ops.size(); ++id) {
    if (pass_of_[id] > 0) {
      for (const std::size_t pass : products_.due(id))
        add_pass(pass);
    } else if (sums_.count(id) > 0) {
      add_sum(id);
    } else if (places_[id] != kHostPlace) {
      for (const TensorId input : ops[id].inputs)
        if (input != kNone) ready(input, places_[id]);
      if (table_of(ops[id].outputs[0]) != nullptr) update_rows(id);
    }
  }
}

TaskId SystemStep::add_task(SystemCommand command, const StepCommand &what, Task task) {
  task.devices = {command.device, command.target_device()};
  task.waits = command.waits;
  tasks_.push_back(std::move(task));
  task_commands_.push_back(std::move(command));
  task_whats_.push_back(what);
  return static_cast<TaskId>(tasks_.size() - 1);
}

void SystemStep::add_commands() {
  std::vector<CommandId> command_of(tasks_.size());
  for (const TaskId task : order_tasks(tasks_, static_cast<std::uint32_t>(system_.devices.size()), network_.order)) {
    SystemCommand command = std::move(task_commands_[task]);
    for (CommandId &wait : command.waits)
      wait = command_of[wait];
    command_of[task] = plan_.add(std::move(command));
    commands_.push_back(task_whats_[task]);
  }
}

/// dX and dW in one stream are on the way back.
Direction SystemStep::direction_of(std::size_t pass) const {
  Direction direction = Direction::kWeights;
  for (const OpId id : products_.passes[pass].ops) {
    const Op &op = step_.graph.ops[id];
    const graph::ProductKind kind = op.type->lower({step_.graph, op}).product->kind;
    if (kind == graph::ProductKind::kForward) direction = Direction::kForward;
    if (kind == graph::ProductKind::kInputGradient) direction = Direction::kBackward;
  }
  return direction;
}

/// Equal ones are one, which is timed once.
SystemStep::Stream SystemStep::stream_on(std::uint32_t device, const std::vector<isa::Command> &commands) {
  std::vector<isa::Command> stream = compiler::relocate(commands, bases_[device]);
  for (const Stream &known : known_streams_[device])
    if (known->size() == stream.size() &&
        std::memcmp(known->data(), stream.data(), stream.size() * sizeof(isa::Command)) == 0)
      return known;
  known_streams_[device].push_back(std::make_shared<const std::vector<isa::Command>>(std::move(stream)));
  return known_streams_[device].back();
}

const SumStream *SystemStep::sum_of(OpId op) const {
  const auto found = sums_.find(op);
  return found == sums_.end() ? nullptr : &found->second;
}

/// Gradients that meet, none of them rounded to bf16.
void SystemStep::find_sums() {
  for (OpId id = 0; id < step_.graph.ops.size(); ++id) {
    const Op &op = step_.graph.ops[id];
    if (op.type->name != "Add" || places_[id] == kHostPlace) continue;
    const Tensor &sum = step_.graph.tensors[op.outputs[0]];
    const auto like_sum = [&](TensorId input) {
      const Tensor &tensor = step_.graph.tensors[input];
      return tensor.role == Role::kGradient && tensor.type == sum.type && tensor.shape == sum.shape;
    };
    if (sum.type == graph::ElementType::kFp32 && std::all_of(op.inputs.begin(), op.inputs.end(), like_sum))
      sums_[id] = sum_stream(sum.shape.elements(), system_.devices[device_of(places_[id])].machine);
  }
}

void SystemStep::add_sum(OpId id) {
  const Op &op = step_.graph.ops[id];
  std::set<TaskId> waits;
  for (const TensorId input : op.inputs) {
    const Waits &own = ready(input, places_[id]);
    waits.insert(own.begin(), own.end());
  }
  SystemCommand run;
  run.label = op.name;
  run.device = device_of(places_[id]);
  run.stream = stream_on(run.device, sums_.at(id).stream);
  run.stream_addr = streams_[run.device];
  run.waits = {waits.begin(), waits.end()};
  Task task;
  task.ps = system_.notify_ps + timing_.stream_ps(run);
  task.direction = Direction::kWeights;
  task.micro_batch = kNone;
  StepCommand what;
  what.sum = id;
  run_of_sum_[id] = add_task(std::move(run), what, std::move(task));
}

void SystemStep::add_pass(std::size_t pass) {
  const std::uint32_t place = place_of_pass(pass), device = device_of(place);
  std::set<TaskId> waits;
  if (pass > 0 && !products_.passes[pass - 1].completes) waits.insert(*run_of_[pass - 1]); // the phase before
  for (const PlacedTensor &input : products_.passes[pass].inputs) {
    const Waits &own = ready(input.id, place);
    waits.insert(own.begin(), own.end());
  }
  SystemCommand run;
  run.label = products_.passes[pass].layer.name;
  run.device = device;
  run.stream = stream_on(device, compiled_[pass].stream);
  run.stream_addr = streams_[device];
  run.waits = {waits.begin(), waits.end()};
  Task task;
  task.ps = system_.notify_ps + timing_.stream_ps(run);
  task.direction = direction_of(pass);
  task.micro_batch = network_.micro_batch_of[products_.passes[pass].when()];
  run_of_[pass] = add_task(std::move(run), {pass}, std::move(task));
}

const SystemStep::Waits &SystemStep::ready(TensorId tensor, std::uint32_t place) {
  const auto key = std::make_pair(tensor, place);
  if (const auto known = ready_.find(key); known != ready_.end()) return known->second;
  Waits waits = bring(tensor, place);
  return ready_[key] = std::move(waits);
}

SystemStep::Waits SystemStep::bring(TensorId id, std::uint32_t place) {
  const Tensor &tensor = step_.graph.tensors[id];
  if (!tensor.computed()) {
    if (const FlashTable *table = table_of(id)) return transfer_blocks(SystemCommand::Kind::kFlash, *table, {});
    if (tensor.role == Role::kInput) return read_flash(id, place);
    const std::uint32_t home = homes_[id];
    return home == kHostPlace || home == place ? Waits{} : move(id, home, place);
  }
  const std::uint32_t from = places_[tensor.producer];
  if (from == kHostPlace) return read_flash(id, place);
  if (from != place) return move(id, from, place);
  if (const std::size_t pass = pass_of_[tensor.producer]; pass > 0) return {*run_of_[pass - 1]};
  if (sums_.count(tensor.producer) > 0) return {run_of_sum_.at(tensor.producer)};
  std::set<TaskId> waits;
  for (const TensorId input : step_.graph.ops[tensor.producer].inputs)
    if (input != kNone) {
      const Waits &own = ready(input, place);
      waits.insert(own.begin(), own.end());
    }
  if (leaves_look_ups(tensor.producer)) return {look_up_at(id, place, waits)};
  return {waits.begin(), waits.end()};
}

SystemStep::Waits SystemStep::move(TensorId id, std::uint32_t from, std::uint32_t to) {
  SystemCommand command;
  command.kind = SystemCommand::Kind::kMove;
  command.label = step_.graph.tensors[id].name;
  command.device = device_of(from);
  command.to = device_of(to);
  if (command.device == command.to) return ready(id, from);
  command.waits = ready(id, from);
  command.bytes = bytes_of_tensor(step_.graph.tensors[id]);
  command.from = allocate(command.device, command.bytes, false);
  command.target = allocate(command.to, command.bytes, false);
  Task task = task_of_transfer(id);
  task.ps = transfer_ps(command);
  return {add_task(std::move(command), {std::nullopt, kNone, id}, std::move(task))};
}

/// Without others on its way.
std::uint64_t SystemStep::transfer_ps(const SystemCommand &command) const {
  if (command.kind != SystemCommand::Kind::kMove) {
    const FlashConfig &flash = system_.flashes[*system_.devices[command.device].flash];
    const std::uint64_t blocks = compiler::divide_up(command.bytes, std::uint64_t{kFlashBlock} * flash.channels);
    const std::uint64_t latency = command.kind == SystemCommand::Kind::kFlash ? flash.read_ps : flash.program_ps;
    return system_.notify_ps + blocks * (latency + LinkConfig::packet_ps(kFlashBlock, flash.channel_gb_s));
  }
  const LinkConfig &from = system_.link_of(command.device), &to = system_.link_of(command.to);
  const std::uint64_t packets = compiler::divide_up(command.bytes, from.packet_bytes);
  return system_.notify_ps + from.latency_ps + to.latency_ps +
         LinkConfig::packet_ps(command.bytes + packets * from.overhead_bytes,
                               std::min(from.bandwidth_gb_s, to.bandwidth_gb_s));
}

Task SystemStep::task_of_transfer(TensorId tensor) const {
  const Tensor &moved = step_.graph.tensors[tensor];
  Task task;
  task.transfer = true;
  task.direction = moved.role == Role::kGradient                                   ? Direction::kBackward
                   : moved.role == Role::kActivation || moved.role == Role::kInput ? Direction::kForward
                                                                                   : Direction::kWeights;
  task.micro_batch = moved.computed() ? network_.micro_batch_of[moved.producer] : kNone;
  return task;
}

SystemStep::Waits SystemStep::read_flash(TensorId id, std::uint32_t place) {
  const std::uint32_t device = device_of(place);
  const Tensor &tensor = step_.graph.tensors[id];
  if (!system_.devices[device].flash || !graph::is_real(tensor.type) || id == step_.constants) return {};
  SystemCommand command;
  command.kind = SystemCommand::Kind::kFlash;
  command.label = tensor.name;
  command.device = device;
  command.bytes = bytes_of_tensor(tensor);
  command.from = allocate(device, command.bytes, true);
  command.target = allocate(device, command.bytes, false);
  Task task = task_of_transfer(id);
  task.ps = transfer_ps(command);
  return {add_task(std::move(command), {std::nullopt, kNone, id}, std::move(task))};
}

} // namespace gradweave::runtime::train
