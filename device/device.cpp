#include "device/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace gradweave {
namespace {

constexpr std::uint32_t kPage = 4096;

void check(const DeviceOptions &options) {
  const double p = options.stress.stall_probability;
  if (!(p >= 0 && p < 1)) // not a number, too
    throw DeviceError(fmt::format("stress.stall_probability = {}: it must be at least 0 and below 1", p));
  if (options.stream_offset >= kPage || options.stream_offset % sizeof(isa::Command) != 0)
    throw DeviceError(fmt::format("stream_offset = {}: it must be a multiple of {}, the bytes of a command, below {}",
                                  options.stream_offset, sizeof(isa::Command), kPage));
  for (std::size_t i = 0; i < options.faults.size(); ++i) {
    const BusFault &fault = options.faults[i];
    if (fault.bytes == 0 || fault.bytes - 1 > std::numeric_limits<std::uint64_t>::max() - fault.addr)
      throw DeviceError(
          fmt::format("faults[{}]: {} bytes at address {:#x} are no range of addresses", i, fault.bytes, fault.addr));
  }
  if (!options.trace.file.empty() && options.trace.first_cycle > options.trace.last_cycle)
    throw DeviceError(fmt::format("trace: cycles {} to {} are none; the first must not be behind the last",
                                  options.trace.first_cycle, options.trace.last_cycle));
}

void check_pointer(const char *call, const void *data, std::size_t bytes) {
  if (data == nullptr && bytes != 0) throw DeviceError(fmt::format("{}: {} bytes of a null pointer", call, bytes));
}

} // namespace

std::uint64_t Counters::of_core(isa::Counter c, std::uint32_t core) const {
  const auto place = static_cast<std::size_t>(c);
  if (place >= isa::kCounters.size() && place < isa::kCounters.size() + isa::kVectorCounters.size()) {
    const std::size_t index = isa::counter_index(c, core, cores);
    if (core >= cores || index >= values.size())
      throw DeviceError(fmt::format("counter {} of core {}: the NPU has no such vector unit",
                                    isa::kVectorCounters[place - isa::kCounters.size()].name, core));
    return values[index];
  }
  const bool known = place < isa::kCounters.size();
  const bool per_core = std::find(isa::kCoreCounters.begin(), isa::kCoreCounters.end(), c) != isa::kCoreCounters.end();
  if (known && core != 0 && !per_core)
    throw DeviceError(fmt::format("counter {} of core {}: this counter is not per core; its core is 0",
                                  isa::kCounters[place].name, core));
  if (!known || core >= cores)
    throw DeviceError(fmt::format("counter {} of core {}: the NPU has {} counters and {} core{}", place, core,
                                  isa::kCounters.size(), cores, cores == 1 ? "" : "s"));
  return values[isa::counter_index(c, core, cores)];
}

Device::Device(const Machine &config, const DeviceOptions &options)
    : config_(config), stream_offset_(options.stream_offset), addresses_(config.memory.size_bytes) {
  check(options);
}

std::uint64_t Device::allocate(std::uint64_t bytes, std::uint64_t alignment) {
  return addresses_.allocate(bytes, alignment);
}

void Device::copy_in(std::uint64_t addr, const void *data, std::size_t bytes) {
  refuse_busy("copy_in()");
  addresses_.check(addr, bytes);
  check_pointer("copy_in()", data, bytes);
  if (bytes != 0) do_copy_in(addr, data, bytes);
}

void Device::copy_out(std::uint64_t addr, void *data, std::size_t bytes) {
  refuse_busy("copy_out()");
  addresses_.check(addr, bytes);
  check_pointer("copy_out()", data, bytes);
  if (bytes != 0) do_copy_out(addr, data, bytes);
}

void Device::refuse_busy(const char *call) const {
  if (state_ == State::kBusy)
    throw DeviceError(fmt::format("{}: a stream is running; wait() for it first, or reset()", call));
}

void Device::refuse_broken(const char *call) const {
  if (state_ == State::kBroken)
    throw DeviceError(
        fmt::format("{}: an exception left wait(); the device is of no use any more, make another", call));
}

void Device::begin(const char *call) {
  refuse_busy(call);
  refuse_broken(call);
  if (state_ == State::kStopped)
    throw DeviceError(fmt::format("{}: the last stream stopped with an error; reset() first", call));
  state_ = State::kBusy;
}

void Device::open(std::uint32_t places) {
  if (places == 0 || places % isa::kRingMultiple != 0)
    throw DeviceError(
        fmt::format("open(): a ring of {} commands; it must have a multiple of {}", places, isa::kRingMultiple));
  begin("open()");
  try {
    if (places > ring_room_) {
      ring_addr_ = addresses_.allocate(std::uint64_t{places} * sizeof(isa::Command), kPage);
      ring_room_ = places;
    }
  } catch (...) {
    state_ = State::kReady;
    throw;
  }
  places_ = places;
  appended_ = known_free_ = 0;
  marks_.clear();
  ring_ = RingState::kOpen;
  do_open(ring_addr_, places);
}

void Device::need_ring(const char *call, bool open) const {
  refuse_broken(call);
  if (state_ != State::kBusy || ring_ == RingState::kNone)
    throw DeviceError(fmt::format("{}: no run with a ring is going on; open() one first", call));
  if (open && ring_ != RingState::kOpen)
    throw DeviceError(fmt::format("{}: the ring is closed; wait() for its end", call));
}

std::uint32_t Device::room() const { return places_ - (appended_ - known_free_); }

std::uint64_t Device::append(const std::vector<isa::Command> &commands) {
  need_ring("append()", true);
  if (commands.size() > room())
    throw DeviceError(fmt::format("append(): {} commands for {} free places of a ring of {}; take marks first",
                                  commands.size(), room(), places_));
  for (const isa::Command &command : commands) {
    do_copy_in(ring_addr_ + std::uint64_t{appended_ % places_} * sizeof command, &command, sizeof command);
    ++appended_;
    if (isa::is_mark(command)) marks_.push_back(appended_);
  }
  return do_append(commands, appended_);
}

std::uint64_t Device::close() {
  need_ring("close()", true);
  ring_ = RingState::kClosed;
  return do_close();
}

bool Device::advance(std::uint64_t cycle) {
  need_ring("advance()", false);
  state_ = State::kBroken; // unless do_advance() returns
  const bool goes_on = do_advance(cycle);
  state_ = State::kBusy;
  return goes_on;
}

std::optional<timing::Mark> Device::take_mark() {
  need_ring("take_mark()", false);
  const std::optional<timing::Mark> mark = do_take_mark();
  if (mark) {
    known_free_ = marks_.front();
    marks_.pop_front();
  }
  return mark;
}

void Device::submit(const std::vector<isa::Command> &stream) {
  if (stream.size() > std::numeric_limits<std::uint32_t>::max())
    throw DeviceError(fmt::format("submit(): a stream of {} commands is too long; an NPU takes {}", stream.size(),
                                  std::numeric_limits<std::uint32_t>::max()));
  begin("submit()");
  try {
    const std::uint64_t bytes = stream.size() * sizeof(isa::Command);
    if (bytes > stream_bytes_) {
      stream_addr_ = addresses_.allocate(stream_offset_ + bytes, kPage) + stream_offset_;
      stream_bytes_ = bytes;
    }
    if (bytes != 0) do_copy_in(stream_addr_, stream.data(), bytes);
  } catch (...) {
    state_ = State::kReady;
    throw;
  }
  do_submit(stream_addr_, stream);
}

RunStatus Device::wait(const std::function<void(std::uint64_t, std::uint64_t)> &progress) {
  refuse_broken("wait()");
  if (state_ != State::kBusy) throw DeviceError("wait(): no stream is running; submit() one first");
  if (ring_ == RingState::kOpen) throw DeviceError("wait(): commands may still follow in the ring; close() it first");
  state_ = State::kBroken; // unless do_wait() returns
  const RunStatus status = do_wait(progress);
  ring_ = RingState::kNone;
  state_ = status.ok() ? State::kReady : State::kStopped;
  return status;
}

Counters Device::read_counters() {
  refuse_busy("read_counters()");
  refuse_broken("read_counters()");
  return do_read_counters();
}

void Device::reset() {
  refuse_broken("reset()");
  do_reset();
  ring_ = RingState::kNone;
  state_ = State::kReady;
}

} // namespace gradweave
