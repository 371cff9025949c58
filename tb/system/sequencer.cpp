#include "tb/system/sequencer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace gradweave::tb {

using Kind = SystemCommand::Kind;
using sc_core::sc_time;

namespace {

sc_time time_of(std::uint64_t ps) { return {static_cast<double>(ps), sc_core::SC_PS}; }

} // namespace

Sequencer::Sequencer(const sc_core::sc_module_name &name, std::vector<Board *> boards,
                     std::vector<std::uint64_t> watchdogs, Wires &wires, const SystemFaults &faults)
    : sc_module(name), boards_(std::move(boards)), watchdogs_(std::move(watchdogs)), wires_(wires), faults_(faults),
      random_(faults.stall_seed) {
  SC_METHOD(step);
  dont_initialize();
  sensitive << event_;
}

std::uint64_t Sequencer::now() const {
  return (sc_core::sc_time_stamp() - start_).value() / sc_time(1, sc_core::SC_PS).value();
}

void Sequencer::begin(const SystemPlan &plan, SystemHost &host) {
  sc_time longest;
  for (Board *board : boards_) {
    board->clock.gate();
    longest = std::max(longest, board->clock.period());
  }
  sc_core::sc_start(longest + longest); // the clocks' timers run out
  for (Board *board : boards_)
    board->set_apart(true);
  plan_ = &plan;
  host_ = &host;
  start_ = sc_core::sc_time_stamp();
  Fabric::Stall stall;
  if (faults_.longest_stall_ps > 0) stall = [this](CommandId) { return random_() % (faults_.longest_stall_ps + 1); };
  fabric_.emplace(plan, std::move(stall));
  progress_.emplace(plan);
  ready_ = {};
  running_.clear();
  outcome_ = {};
  outcome_.spans.resize(plan.commands().size());
  outcome_.times.resize(plan.commands().size());
  host_error_ = nullptr;
  over_ = plan.commands().empty();
  tell(progress_->first());
  plan_step();
}

void Sequencer::tell(const std::vector<CommandId> &ready) {
  for (const CommandId id : ready)
    ready_.emplace(now() + plan_->system().notify_ps, id);
}

/// When the first of the streams ends that do so up to this time, which boards pass meanwhile.
std::uint64_t Sequencer::first_end_until(std::uint64_t time) {
  std::uint64_t first = BoardRun::kNever;
  for (const auto &[id, run] : running_)
    first = std::min(first, run->end_until(std::min(first, time)));
  return first;
}

/// The next thing that happens.
void Sequencer::plan_step() {
  if (over_) return;
  std::uint64_t next = fabric_->next_event();
  if (!ready_.empty()) next = std::min(next, ready_.top().first);
  next = std::min(next, first_end_until(next));
  if (next != Fabric::kNever) event_.notify(start_ + time_of(next) - sc_core::sc_time_stamp());
}

void Sequencer::step() {
  if (over_) return;
  if (fabric_->next_event() == now()) play_fabric();
  end_streams();
  while (!over_ && !ready_.empty() && ready_.top().first == now()) {
    const CommandId id = ready_.top().second;
    ready_.pop();
    begin_command(id);
  }
  plan_step();
}

template <class Call> void Sequencer::ask_host(const Call &call) {
  try {
    call();
  } catch (...) {
    host_error_ = std::current_exception();
    finish();
  }
}

void Sequencer::begin_command(CommandId id) {
  outcome_.spans[id].begin = now();
  ask_host([&] { host_->begin(id); });
  if (over_) return;
  if (plan_->commands()[id].kind == Kind::kRun)
    begin_stream(id);
  else
    fabric_->start(id, now());
}

void Sequencer::begin_stream(CommandId id) {
  const SystemCommand &command = plan_->commands()[id];
  Board &board = *boards_[command.device];
  const std::vector<isa::Command> &stream = *command.stream;
  board.memory.write(command.stream_addr, stream.data(), stream.size() * sizeof(isa::Command));
  const std::uint64_t period = plan_->system().devices[command.device].machine.period_ps();
  board.control.start(RunControl::stream_registers(command.stream_addr, static_cast<std::uint32_t>(stream.size())),
                      stream.size(), RunControl::Ending::kInterrupt, [](const RunStatus &) {});
  running_[id] = std::make_unique<BoardRun>(board, (now() / period + 1) * period, period, watchdogs_[command.device]);
}

void Sequencer::end_streams() {
  std::vector<CommandId> ended;
  for (const auto &[id, run] : running_)
    if (run->end_until(now()) == now()) ended.push_back(id);
  for (const CommandId id : ended)
    if (!over_) end_stream(id);
}

void Sequencer::end_stream(CommandId id) {
  const SystemCommand &command = plan_->commands()[id];
  const Board &board = *boards_[command.device];
  const std::string problem = running_[id]->problem();
  running_.erase(id);
  outcome_.times[id] = board.npu.log();
  const RunStatus &status = board.control.status();
  if (problem.empty() && status.ok()) {
    end_command(id);
    return;
  }
  outcome_.spans[id].end = now();
  if (!problem.empty()) {
    fail(id, command.device, problem);
    return;
  }
  fail(id, command.device,
       fmt::format("the NPU stopped with {} at command {} of {} of its stream",
                   isa::kErrorNames[static_cast<std::size_t>(status.error)], status.error_index,
                   command.stream->size()));
}

void Sequencer::end_command(CommandId id) {
  if (over_) return;
  outcome_.spans[id].end = outcome_.end = now();
  std::optional<std::string> problem;
  ask_host([&] { problem = host_->end(id); });
  if (problem) fail(id, plan_->commands()[id].target_device(), *problem);
  if (over_) return;
  tell(progress_->end(id));
  if (progress_->all_ended()) finish();
}

void Sequencer::play_fabric() {
  const std::vector<Fabric::Happening> happened = fabric_->play(now());
  for (const Fabric::Happening &part : happened) {
    if (over_) return;
    if (part.what == Fabric::Happening::What::kEnded) {
      end_command(part.id);
      continue;
    }
    try {
      carry(part);
    } catch (const TransferError &error) {
      fail(part.id, plan_->commands()[part.id].device, error.what());
    }
  }
}

void Sequencer::carry(const Fabric::Happening &part) {
  const SystemCommand &command = plan_->commands()[part.id];
  LinkEngine &engine = wires_.engine(command.device);
  if (command.kind == Kind::kProcess) return; // the host does its work at its end
  if (part.what == Fabric::Happening::What::kRead) {
    if (command.kind == Kind::kFlash)
      engine.read_flash(part.id, part.offset, command.flash_addr(part.offset), part.bytes);
    else
      engine.read_memory(part.id, part.offset, command.from + part.offset, part.bytes);
  } else if (command.kind == Kind::kFlash) {
    engine.write_memory(part.id, part.offset, command.target + part.offset);
  } else if (command.kind == Kind::kProgram) {
    engine.write_flash(part.id, part.offset, command.flash_addr(part.offset));
  } else {
    engine.send(part.id, part.offset, command.to, command.target + part.offset);
  }
}

void Sequencer::fail(CommandId id, std::uint32_t device, const std::string &problem) {
  if (over_) return;
  outcome_.failure = SystemFailure{id, device, fmt::format("{}: {}", describe(*plan_, id), problem)};
  outcome_.end = now();
  finish();
}

void Sequencer::fail_idle() {
  for (CommandId id = 0; !over_ && id < outcome_.spans.size(); ++id)
    if (outcome_.spans[id].end == 0)
      fail(id, plan_->commands()[id].device, "it never ends: nothing in the system happens any more");
}

void Sequencer::finish() {
  over_ = true;
  running_.clear(); // of a plan that failed, some may be under way
  sc_core::sc_pause();
}

SystemOutcome Sequencer::end() {
  if (host_error_) std::rethrow_exception(std::exchange(host_error_, nullptr));
  for (std::uint32_t d = 0; d < boards_.size() && outcome_.ok(); ++d) {
    boards_[d]->set_apart(false);
    boards_[d]->clock.resume(sc_core::sc_time_stamp() + boards_[d]->clock.period());
  }
  return std::move(outcome_);
}

} // namespace gradweave::tb
