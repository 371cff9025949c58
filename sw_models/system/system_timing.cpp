#include "sw_models/system/system_timing.hpp"

#include <algorithm>
#include <queue>

namespace gradweave {
namespace {

using Kind = SystemCommand::Kind;
using What = Fabric::Happening::What;

/// Parts of transfers that are at fault.
class FaultyParts {
public:
  FaultyParts(const SystemPlan &plan, const SystemFaults &faults)
      : plan_(plan), faults_(faults), packets_(plan.system().devices.size(), 0) {}

  /// To be told each happening once.
  bool hit(const Fabric::Happening &h) {
    const SystemCommand &command = plan_.commands()[h.id];
    const bool of_block = (command.kind == Kind::kFlash && h.what == What::kRead) ||
                          (command.kind == Kind::kProgram && h.what == What::kWritten);
    if (of_block) return is_one_of(faults_.blocks, command.device, command.flash_addr(h.offset) / kFlashBlock);
    return command.kind == Kind::kMove && h.what == What::kWritten &&
           is_one_of(faults_.packets, command.device, packets_[command.device]++);
  }

private:
  template <class Fault>
  static bool is_one_of(const std::vector<Fault> &faults, std::uint32_t device, std::uint64_t number) {
    return std::any_of(faults.begin(), faults.end(),
                       [&](const Fault &f) { return f.device == device && f.number == number; });
  }

  const SystemPlan &plan_;
  const SystemFaults &faults_;
  std::vector<std::uint64_t> packets_; ///< that each device has sent
};

/// One plan from event to event. At one time ends come before begins, and fabric before streams, which is of
/// consequence only for a plan that stops: what ends is told to others later.
class Player {
public:
  using Time = std::function<std::shared_ptr<const timing::RunResult>(const SystemCommand &)>;

  Player(const SystemPlan &plan, const SystemFaults &faults, Time time)
      : plan_(plan), time_(std::move(time)), fabric_(plan), progress_(plan), faulty_(plan, faults) {
    times_.spans.resize(plan.commands().size());
    times_.runs.resize(plan.commands().size());
  }

  SystemTimes run() {
    tell(progress_.first(), 0);
    while (!times_.stop && !progress_.all_ended()) {
      const std::uint64_t now = std::min(fabric_.next_event(), events_.top().time);
      if (fabric_.next_event() == now) play_fabric(now);
      while (!times_.stop && events_.top().time == now) {
        const Event event = events_.top();
        events_.pop();
        event.ends ? end(event.id, now) : begin(event.id, now);
      }
    }
    for (std::uint32_t device = 0; device < plan_.system().devices.size(); ++device) {
      times_.link_busy_ps.push_back(fabric_.link_busy_ps(device));
      times_.flash_busy_ps.push_back(fabric_.flash_busy_ps(device));
    }
    return std::move(times_);
  }

private:
  struct Event {
    std::uint64_t time;
    bool ends;
    CommandId id;
    bool operator>(const Event &o) const {
      if (time != o.time) return time > o.time;
      return ends != o.ends ? o.ends : id > o.id;
    }
  };

  void tell(const std::vector<CommandId> &ready, std::uint64_t now) {
    for (const CommandId id : ready)
      events_.push({now + plan_.system().notify_ps, false, id});
  }

  void play_fabric(std::uint64_t now) {
    for (const Fabric::Happening &h : fabric_.play(now)) {
      if (faulty_.hit(h)) {
        times_.stop = SystemStop{h.id, isa::ErrorCode::NONE, 0};
        times_.end = now;
        return;
      }
      if (h.what == What::kEnded) end(h.id, now);
    }
  }

  void begin(CommandId id, std::uint64_t now) {
    times_.spans[id].begin = now;
    const SystemCommand &command = plan_.commands()[id];
    if (command.kind != Kind::kRun) {
      fabric_.start(id, now);
      return;
    }
    const Machine &machine = plan_.system().devices[command.device].machine;
    const auto result = times_.runs[id] = time_(command);
    const std::uint64_t first = now / machine.period_ps() + 1;
    const std::uint64_t last = first + result->cycles() + host_cycles(machine, *result);
    events_.push({last * machine.period_ps(), true, id});
  }

  void end(CommandId id, std::uint64_t now) {
    times_.spans[id].end = times_.end = now;
    if (times_.runs[id] && !times_.runs[id]->ok()) {
      times_.stop = SystemStop{id, times_.runs[id]->error, times_.runs[id]->error_index};
      return;
    }
    tell(progress_.end(id), now);
  }

  const SystemPlan &plan_;
  Time time_;
  Fabric fabric_;
  PlanProgress progress_;
  FaultyParts faulty_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_{{},
                                                                         {{Fabric::kNever, false, 0}}}; // never empty
  SystemTimes times_;
};

} // namespace

std::uint64_t host_cycles(const Machine &machine, const timing::RunResult &run) {
  constexpr std::uint64_t kAccesses = 20, kRead = 3; // the latter: ERR_INDEX, and ERR_WORD where there is one
  const std::uint64_t told = run.ok() ? 0 : run.error == isa::ErrorCode::VECTOR_FAULT ? 2 : 1;
  return kAccesses + machine.memory.longest_pause() + run.stop_cycles + told * kRead;
}

SystemTimes SystemTiming::run(const SystemPlan &plan, const SystemFaults &faults) {
  return Player(plan, faults, [this](const SystemCommand &command) { return time(command); }).run();
}

std::uint64_t SystemTiming::stream_ps(const SystemCommand &command) {
  const Machine &machine = system_.devices[command.device].machine;
  const auto run = time(command);
  return (run->cycles() + host_cycles(machine, *run)) * machine.period_ps();
}

std::shared_ptr<const timing::RunResult> SystemTiming::time(const SystemCommand &command) {
  auto &known = known_[{command.device, command.stream_addr, command.stream}];
  if (!known) {
    timing::RunOptions options;
    options.stream_addr = command.stream_addr;
    known = std::make_shared<timing::RunResult>(
        timing::run(system_.devices[command.device].machine, *command.stream, options));
  }
  return known;
}

} // namespace gradweave
