#include "train/system/system_step.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "isa/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
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

std::uint32_t device_at(const SystemConfig &system, std::uint32_t place, std::uint32_t upper) {
  return place == upper || system.partition.lower.empty() ? system.partition.upper : system.partition.lower[place];
}

} // namespace

MachineOf machine_of(const graph::TrainingGraph &step, const graph::PartitionedGraph &network,
                     const SystemConfig &system) {
  const std::uint32_t upper = network.partition.upper();
  return [places = graph::places_of_step(step, network), upper, &system](OpId op) -> const Machine & {
    return system.devices[device_at(system, std::min(places[op], upper), upper)].machine;
  };
}

std::uint64_t bytes_of_tensor(const Tensor &tensor) { return tensor.shape.elements() * graph::bytes_of(tensor.type); }

SystemStep::SystemStep(const graph::TrainingGraph &step, const graph::PartitionedGraph &network,
                       const ProductPlan &products, const SystemConfig &system, const compiler::CompileOptions &options)
    : step_(step), products_(products), system_(system), upper_(network.partition.upper()),
      places_(graph::places_of_step(step, network)), homes_(step.graph.tensors.size(), kHostPlace),
      pass_of_(products.pass_of_ops(step.graph.ops.size())), plan_(system), run_of_(products.passes.size()) {
  for (std::size_t pass = 0; pass < products.passes.size(); ++pass) // dX and dW of one dY are one stream
    for (const OpId op : products.passes[pass].ops)
      places_[op] = place_of_pass(pass);
  for (const graph::Update &update : step.graph.updates)
    if (const OpId producer = step.graph.tensors[update.next].producer; producer != kNone)
      homes_[update.tensor] = places_[producer];
  compile(options);
  lay_out();
  add_commands();
}

std::uint32_t SystemStep::device_of(std::uint32_t place) const { return device_at(system_, place, upper_); }

std::uint32_t SystemStep::place_of_pass(std::size_t pass) const {
  std::uint32_t place = upper_;
  for (const OpId op : products_.passes[pass].ops)
    place = std::min(place, places_[op]);
  return place;
}

void SystemStep::compile(const compiler::CompileOptions &options) {
  std::map<std::uint32_t, compiler::CompileCache> caches; // by device
  for (std::size_t pass = 0; pass < products_.passes.size(); ++pass) {
    compiler::CompileOptions own = options;
    own.pass = products_.passes[pass].pass;
    const std::uint32_t device = device_of_pass(pass);
    const DeviceConfig &config = system_.devices[device];
    try {
      compiled_.push_back(compiler::compile({products_.passes[pass].layer}, config.machine, own, caches[device]));
    } catch (const compiler::CompileError &error) {
      throw compiler::CompileError(fmt::format("{}: device '{}': {}", system_.file, config.name, error.what()));
    }
  }
}

/// On each device: the tensors of a pass, its stream, then what is moved.
void SystemStep::lay_out() {
  const std::size_t devices = system_.devices.size();
  std::vector<std::uint64_t> data(devices, 1), stream(devices, 1);
  for (std::size_t pass = 0; pass < compiled_.size(); ++pass) {
    const std::uint32_t device = device_of_pass(pass);
    data[device] = std::max(data[device], compiled_[pass].dram_bytes);
    stream[device] = std::max<std::uint64_t>(stream[device], compiled_[pass].stream.size() * sizeof(isa::Command));
  }
  free_.assign(devices, 0);
  flash_free_.assign(devices, 0);
  for (std::uint32_t device = 0; device < devices; ++device) {
    bases_.push_back(allocate(device, data[device], false));
    streams_.push_back(allocate(device, stream[device], false));
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

void SystemStep::add_commands() {
  const std::vector<Op> &ops = step_.graph.ops;
  for (OpId id = 0; id < ops.size(); ++id) {
    if (pass_of_[id] > 0) {
      for (const std::size_t pass : products_.due(id))
        add_pass(pass);
    } else if (places_[id] != kHostPlace) {
      for (const TensorId input : ops[id].inputs)
        if (input != kNone) ready(input, places_[id]);
    }
  }
}

void SystemStep::add_pass(std::size_t pass) {
  const std::uint32_t place = place_of_pass(pass), device = device_of(place);
  std::set<CommandId> waits;
  if (pass > 0 && !products_.passes[pass - 1].completes) waits.insert(*run_of_[pass - 1]); // the phase before
  for (const PlacedTensor &input : products_.passes[pass].inputs) {
    const Waits &own = ready(input.id, place);
    waits.insert(own.begin(), own.end());
  }
  SystemCommand run;
  run.label = products_.passes[pass].layer.name;
  run.device = device;
  run.stream =
      std::make_shared<const std::vector<isa::Command>>(compiler::relocate(compiled_[pass].stream, bases_[device]));
  run.stream_addr = streams_[device];
  run.waits = {waits.begin(), waits.end()};
  run_of_[pass] = plan_.add(std::move(run));
  commands_.push_back({pass, kNone});
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
    if (tensor.role == Role::kInput) return read_flash(id, place);
    const std::uint32_t home = homes_[id];
    return home == kHostPlace || home == place ? Waits{} : move(id, home, place);
  }
  const std::uint32_t from = places_[tensor.producer];
  if (from == kHostPlace) return read_flash(id, place);
  if (from != place) return move(id, from, place);
  if (const std::size_t pass = pass_of_[tensor.producer]; pass > 0) return {*run_of_[pass - 1]};
  std::set<CommandId> waits;
  for (const TensorId input : step_.graph.ops[tensor.producer].inputs)
    if (input != kNone) {
      const Waits &own = ready(input, place);
      waits.insert(own.begin(), own.end());
    }
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
  commands_.push_back({std::nullopt, id});
  return {plan_.add(std::move(command))};
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
  commands_.push_back({std::nullopt, id});
  return {plan_.add(std::move(command))};
}

} // namespace gradweave::runtime::train
