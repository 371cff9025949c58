// What a step does with tables in flash.
#include "train/data/tensor_bytes.hpp"
#include "train/system/system_step.hpp"

#include <algorithm>

namespace gradweave::runtime::train {

using graph::kNone;
using graph::Op;
using graph::OpId;
using graph::Tensor;
using graph::TensorId;

const FlashTable *SystemStep::table_of(TensorId tensor) const {
  for (const FlashTable &table : tables_)
    if (table.tensor == tensor || table.next == tensor) return &table;
  return nullptr;
}

/// Whether ops that are not where tables lie read what an op there gives.
bool SystemStep::leaves_look_ups(OpId op) const {
  if (look_ups_[op] == kNone) return false;
  for (OpId reader = op + 1; reader < step_.graph.ops.size(); ++reader) {
    const std::vector<TensorId> &inputs = step_.graph.ops[reader].inputs;
    if (look_ups_[reader] == kNone &&
        std::find_first_of(inputs.begin(), inputs.end(), step_.graph.ops[op].outputs.begin(),
                           step_.graph.ops[op].outputs.end()) != inputs.end())
      return true;
  }
  return false;
}

std::uint64_t SystemStep::row_bytes(const FlashTable &table) const {
  const Tensor &tensor = step_.graph.tensors[table.tensor];
  return bytes_of_tensor(tensor) / tensor.shape[0];
}

/// The rows of look-ups that no other command has.
TaskId SystemStep::look_up_at(TensorId id, std::uint32_t place, const std::set<TaskId> &waits) {
  SystemCommand command;
  command.kind = SystemCommand::Kind::kProcess;
  command.label = step_.graph.tensors[id].name;
  command.device = device_of(place);
  command.waits = {waits.begin(), waits.end()};
  command.bytes = bytes_of_tensor(step_.graph.tensors[id]);
  std::vector<OpId> open{step_.graph.tensors[id].producer};
  while (!open.empty()) {
    const OpId op = open.back();
    open.pop_back();
    const FlashTable *table = table_of(step_.graph.ops[op].inputs[0]);
    if (table != nullptr && counted_.insert(op).second) command.bytes += table->rows.looked_up * row_bytes(*table);
    for (const TensorId input : step_.graph.ops[op].inputs)
      if (input != kNone && step_.graph.tensors[input].computed() &&
          look_ups_[step_.graph.tensors[input].producer] == place)
        open.push_back(step_.graph.tensors[input].producer);
  }
  Task task;
  task.ps = system_.notify_ps + processor_ps(command);
  task.micro_batch = network_.micro_batch_of[step_.graph.tensors[id].producer];
  return add_task(std::move(command), {std::nullopt, kNone, id}, std::move(task));
}

/// All operands of the op are there; the new rows go back to flash.
void SystemStep::update_rows(OpId id) {
  const Op &op = step_.graph.ops[id];
  std::set<TaskId> waits;
  for (const TensorId input : op.inputs)
    if (input != kNone) {
      const Waits &own = ready(input, places_[id]);
      waits.insert(own.begin(), own.end());
    }
  SystemCommand command;
  command.kind = SystemCommand::Kind::kProcess;
  command.label = op.name;
  command.device = device_of(places_[id]);
  command.waits = {waits.begin(), waits.end()};
  for (const TensorId output : op.outputs) {
    const FlashTable *table = output == kNone ? nullptr : table_of(output);
    if (table == nullptr) continue;
    if (output == op.outputs[0]) command.bytes += table->rows.looked_up * row_bytes(*table); // gradients
    command.bytes += 2 * table->rows.distinct * row_bytes(*table);
  }
  Task task;
  task.ps = system_.notify_ps + processor_ps(command);
  task.direction = Direction::kWeights;
  task.micro_batch = kNone;
  const TaskId update = add_task(std::move(command), {std::nullopt, kNone, kNone, id}, std::move(task));
  for (const TensorId output : op.outputs)
    if (const FlashTable *table = output == kNone ? nullptr : table_of(output))
      transfer_blocks(SystemCommand::Kind::kProgram, *table, {update});
}

std::uint64_t SystemStep::processor_ps(const SystemCommand &command) const {
  return system_.processors[*system_.devices[command.device].processor].command_ps(command.bytes);
}

/// From flash what a table holds, and to it what it is next.
SystemStep::Waits SystemStep::transfer_blocks(SystemCommand::Kind kind, const FlashTable &table, Waits waits) {
  const bool read = kind == SystemCommand::Kind::kFlash;
  const TensorId tensor = read ? table.tensor : table.next;
  if (table.rows.blocks.empty()) return waits;
  SystemCommand command;
  command.kind = kind;
  command.label = step_.graph.tensors[tensor].name;
  command.device = table.device;
  command.from = read ? table.flash : table.memory;
  command.target = read ? table.memory : table.flash;
  command.blocks = table.rows.blocks;
  command.bytes = std::uint64_t{kFlashBlock} * command.blocks.size();
  command.waits = std::move(waits);
  Task task = task_of_transfer(tensor);
  task.ps = transfer_ps(command);
  return {add_task(std::move(command), {std::nullopt, kNone, tensor}, std::move(task))};
}

} // namespace gradweave::runtime::train
