#include "tb/rtl_device.hpp"

#include "sw_models/timing/timing_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace gradweave::tb {

namespace {

constexpr std::uint32_t kCtrlReset = 2, kCtrlClose = 8, kCtrlTakeMark = 16;
constexpr std::uint32_t kStatusBusy = 1;
constexpr std::uint32_t kExpectedId = 0x47570000U | isa::kVersion;

constexpr std::uint32_t kThereIsAMark = 1U << 16U;
/// Cycles from the call of a write to the one in which the NPU takes it, without back-pressure: the master drives, the
/// register slave holds address and data.
constexpr std::uint64_t kWriteLead = 3;

constexpr std::uint64_t kSliceCycles = 4096; ///< simulated between two looks at the wall clock
constexpr auto kProgressInterval = std::chrono::milliseconds(250);

} // namespace

RtlDevice::RtlDevice(std::shared_ptr<Simulation> simulation, const Machine &config, const DeviceOptions &options,
                     std::unique_ptr<NpuModel> model)
    : Device(config, options), watchdog_(options.watchdog_cycles.value_or(timing::usual_watchdog(config))),
      simulation_(std::move(simulation)), board_(simulation_->add(config, options, std::move(model))) {}

RtlDevice::RtlDevice(const Machine &config, const DeviceOptions &options, std::unique_ptr<NpuModel> model)
    : RtlDevice(std::make_shared<Simulation>(), config, options, std::move(model)) {
  simulation_->elaborate();
  power_up();
}

RtlDevice::~RtlDevice() { board_.power_off(); }

void RtlDevice::power_up() { power_up(built_values(config())); }

void RtlDevice::power_up(const std::vector<BuiltValue> &expected) {
  board_.clock.reset();
  check_parameters(expected);
  program();
}

void RtlDevice::check_parameters(const std::vector<BuiltValue> &values) {
  const std::uint32_t id = read_csr(isa::Csr::ID);
  if (id != kExpectedId)
    throw std::runtime_error(
        fmt::format("the NPU's ID register reads {:#010x}, not {:#010x}: RTL and software were built "
                    "from different instruction sets; rebuild gradweave_rtl_{}",
                    id, kExpectedId, config().name));
  std::optional<isa::Csr> csr; // each is read once
  std::uint32_t contents = 0;
  for (const BuiltValue &expected : values) {
    if (csr != expected.csr) contents = read_csr(expected.csr);
    csr = expected.csr;
    const std::uint32_t built = expected.read(contents);
    if (built != expected.value)
      throw std::runtime_error(
          fmt::format("configuration '{0}' has {1} = {2}, but gradweave_rtl_{0} was built with {3}; "
                      "rebuild that target, or give a changed configuration a name of its own",
                      config().name, expected.what, expected.value, built));
  }
}

void RtlDevice::write_csr64(isa::Csr low, std::uint64_t value) {
  const auto offset = static_cast<std::uint16_t>(low);
  board_.csr.write(offset, static_cast<std::uint32_t>(value));
  board_.csr.write(offset + 4, static_cast<std::uint32_t>(value >> 32U));
}

void RtlDevice::program() {
  write_csr64(isa::Csr::DRAM_BASE_LO, 0);
  write_csr64(isa::Csr::DRAM_SIZE_LO, board_.memory.size());
  write_csr(isa::Csr::WATCHDOG, watchdog_);
}

void RtlDevice::do_copy_in(std::uint64_t addr, const void *data, std::size_t bytes) {
  board_.memory.write(addr, data, bytes);
}

void RtlDevice::do_copy_out(std::uint64_t addr, void *data, std::size_t bytes) {
  board_.memory.read(addr, data, bytes);
}

void RtlDevice::do_submit(std::uint64_t addr, const std::vector<isa::Command> &stream) {
  in_ring_ = false;
  log_marks(stream, 0);
  set_ring(0);
  launch(RunControl::stream_registers(addr, static_cast<std::uint32_t>(stream.size())), stream.size());
}

void RtlDevice::start(std::size_t commands) {
  begin("start()");
  launch({}, commands);
}

void RtlDevice::launch(const std::vector<RegisterAccess> &registers, std::size_t commands) {
  RunControl &control = board_.control;
  // The interrupt tells of MARKs, too, and goes on telling of those that an earlier run left until this one starts.
  const bool of_the_end = marks_.empty() && !in_ring_ && !board_.npu.irq();
  const auto ending = of_the_end ? RunControl::Ending::kInterrupt : RunControl::Ending::kHost;
  control.start(registers, commands, ending, [this](const RunStatus &) { board_.clock.stop(); });
  while (control.launching())
    board_.clock.run(1);
}

void RtlDevice::set_ring(std::uint32_t places) {
  if (std::exchange(ring_size_, places) != places) write_csr(isa::Csr::RING_SIZE, places);
}

/// Notes which commands are MARKs; the first of a run forgets those before.
void RtlDevice::log_marks(const std::vector<isa::Command> &commands, std::uint32_t first) {
  if (first == 0) {
    marks_.clear();
    taken_ = 0;
  }
  for (std::size_t i = 0; i < commands.size(); ++i)
    if (isa::is_mark(commands[i])) marks_.push_back(static_cast<std::uint32_t>(first + i));
}

/// A MARK completed and was not taken.
bool RtlDevice::mark_waits() const {
  return taken_ < marks_.size() && board_.npu.log()[marks_[taken_]].done != timing::kNever;
}

/// What the kernel has no part in, apart from it. Else with it: other boards and modules go on as well, and so do
/// accesses of registers that the host waits for.
void RtlDevice::run_to_end(const ProgressFunction &progress) {
  RunControl &control = board_.control;
  if (!simulation_->lone() || control.ends_by_host() || control.finishing()) {
    run_slices(progress, [&] {
      if (control.ends_by_host() && !board_.npu.running()) {
        while (read_csr(isa::Csr::STATUS) & kStatusBusy) // bursts of a run that was stopped end
          board_.clock.run(1);
        control.conclude();
      }
      board_.clock.run(kSliceCycles);
    });
    return;
  }
  const std::uint64_t begin = board_.clock.cycle();
  simulation_->part();
  run_slices(progress, [&] { board_.edges(kSliceCycles); });
  simulation_->rejoin(board_.clock.cycle() - begin);
}

template <class Slice> void RtlDevice::run_slices(const ProgressFunction &progress, const Slice &slice) {
  using Clock = std::chrono::steady_clock;
  auto reported = Clock::now();
  const NpuModule &npu = board_.npu;
  while (board_.control.running()) {
    slice();
    board_.control.check_alive(watchdog_);
    if (progress && Clock::now() - reported >= kProgressInterval) {
      progress(npu.retired(), npu.log().size());
      reported = Clock::now();
    }
  }
}

RunStatus RtlDevice::do_wait(const ProgressFunction &progress) {
  try {
    board_.npu.stop_at_end(board_.control.ends_by_host());
    run_to_end(progress);
    board_.npu.stop_at_end(false);
  } catch (...) {
    board_.power_off(); // of no use any more, but others of the simulation are
    throw;
  }
  return board_.control.status();
}

// --- A run with a ring ---------------------------------------------------------------------------------------------

void RtlDevice::do_open(std::uint64_t addr, std::uint32_t places) {
  in_ring_ = true;
  log_marks({}, 0);
  write_csr64(isa::Csr::CMD_ADDR_LO, addr);
  write_csr(isa::Csr::CMD_COUNT, 0);
  set_ring(places);
  launch({}, 0);
  while (!board_.npu.running())
    board_.clock.run(1);
  run_to_cycle(HostLatency::kOpen);
}

void RtlDevice::run_to_cycle(std::uint64_t cycle) {
  if (now() < cycle) board_.clock.run(cycle - now());
}

/// Writes a register such that the NPU takes it `cycles` from now on, or later if there is back-pressure. A run that
/// has ended refuses the write. Returns that cycle.
std::uint64_t RtlDevice::write_in(std::uint64_t cycles, isa::Csr csr, std::uint32_t value) {
  run_to_cycle(now() + cycles - kWriteLead);
  try_write_csr(csr, value);
  const std::uint64_t cycle = written();
  run_to_cycle(cycle + HostLatency::kAnswer);
  return cycle;
}

std::uint64_t RtlDevice::do_append(const std::vector<isa::Command> &commands, std::uint32_t all) {
  log_marks(commands, all - static_cast<std::uint32_t>(commands.size()));
  board_.npu.extend_log(all);
  return write_in(HostLatency::kWrite, isa::Csr::CMD_COUNT, all);
}

std::uint64_t RtlDevice::do_close() { return write_in(HostLatency::kWrite, isa::Csr::CTRL, kCtrlClose); }

bool RtlDevice::do_advance(std::uint64_t cycle) {
  NpuModule &npu = board_.npu;
  npu.on_irq([this] { board_.clock.stop(); });
  if (!npu.irq()) run_to_cycle(cycle);
  npu.on_irq({});
  return !npu.irq() || mark_waits();
}

std::optional<timing::Mark> RtlDevice::do_take_mark() {
  if (!mark_waits()) return std::nullopt;
  const std::uint64_t begin = now();
  timing::Mark mark;
  const std::uint32_t tag = read_csr(isa::Csr::MARK_TAG);
  if ((tag & kThereIsAMark) == 0)
    throw std::runtime_error(fmt::format("cycle {}: command {} is a MARK that completed, but the log has no mark",
                                         board_.clock.cycle(), marks_[taken_]));
  mark.tag = static_cast<std::uint16_t>(tag);
  mark.cycle = read_csr(isa::Csr::MARK_CYCLE_LO);
  mark.cycle |= std::uint64_t{read_csr(isa::Csr::MARK_CYCLE_HI)} << 32U;
  write_in(std::max(begin + HostLatency::kTake, now() + kWriteLead) - now(), isa::Csr::CTRL, kCtrlTakeMark);
  ++taken_;
  return mark;
}

Counters RtlDevice::do_read_counters() {
  Counters counters(config().cores, config().vectors());
  std::map<std::string, std::uint64_t> sums;
  for (std::size_t i = 0; i < counters.values.size(); ++i) {
    const std::uint16_t offset = isa::counter_csr(i);
    counters.values[i] = board_.csr.read(offset) | std::uint64_t{board_.csr.read(offset + 4)} << 32U;
    if (const std::string group = isa::counter_group(i, config().cores); !group.empty())
      sums[group] += counters.values[i];
  }
  for (const auto &[group, sum] : sums)
    if (sum != counters[isa::Counter::CYCLES])
      throw std::runtime_error(fmt::format("the NPU's {} counters add up to {}, not to CYCLES = {}", group, sum,
                                           counters[isa::Counter::CYCLES]));
  return counters;
}

void RtlDevice::do_reset() {
  while (board_.control.finishing())
    board_.clock.run(1);
  board_.control.abandon();
  if (board_.bus.idle() && !(read_csr(isa::Csr::STATUS) & kStatusBusy)) {
    write_csr(isa::Csr::CTRL, kCtrlReset);
  } else {
    board_.clock.reset();
    ring_size_ = 0;
    program();
  }
  in_ring_ = false;
}

std::vector<std::unique_ptr<Device>> make_rtl_devices(const std::vector<RtlNpu> &npus) {
  const auto simulation = std::make_shared<Simulation>();
  std::vector<std::unique_ptr<RtlDevice>> devices;
  for (const RtlNpu &npu : npus)
    devices.push_back(std::make_unique<RtlDevice>(simulation, npu.config, npu.options,
                                                  std::unique_ptr<NpuModel>(npu.make_model(npu.config))));
  simulation->elaborate();
  for (const auto &device : devices)
    device->power_up();
  return {std::make_move_iterator(devices.begin()), std::make_move_iterator(devices.end())};
}

} // namespace gradweave::tb
