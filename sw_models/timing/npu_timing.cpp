#include "sw_models/timing/npu_timing.hpp"
#include "sw_models/timing/silence.hpp"

#include <algorithm>

namespace gradweave::timing {

namespace {

constexpr std::uint32_t kSemaphoreMax = 65535;

bool is_mark(const isa::Decoded &command) {
  const auto *sync = std::get_if<isa::SyncCommand>(&command.op);
  return sync != nullptr && sync->mark;
}

} // namespace

NpuTiming::NpuTiming(const Machine &npu, const isa::Command *stream, std::size_t count, const RunOptions &options,
                     std::uint64_t limit, ProgressLog &progress)
    : npu_(npu), stream_(stream), count_(options.ring.places == 0 ? count : options.ring.first_tail), options_(options),
      watchdog_(options.watchdog.value_or(usual_watchdog(npu))), limit_(limit), progress_(progress),
      fetch_(npu.bus_bytes, options.stream_addr, count_), memory_(npu, fetch_.word_beats(), limit, progress),
      cores_(npu.cores, GemmEngine(npu, limit, progress)), units_(npu.vectors(), VectorEngine(npu, limit, progress)),
      engines_(npu.engines(), Engine(npu.queue_depth)), semaphores_(npu.semaphores, 0),
      open_(options.ring.places != 0) {
  if (options_.dram_size == 0) options_.dram_size = npu.memory.size_bytes;
  limits_ = {npu.lanes(),        npu.spm_rows(),     npu.cores,    npu.semaphores,
             options_.dram_base, options_.dram_size, npu.vectors()};
  result_.commands.resize(count_);
  result_.cores = npu.cores;
}

bool NpuTiming::legal_start() const {
  const RingOptions &ring = options_.ring;
  const std::uint64_t places = ring.places == 0 ? count_ : ring.places, bytes = places * isa::kCommandBytes;
  if (ring.places != 0 && (options_.stream_addr % isa::kRingAlignment != 0 || bytes % isa::kRingAlignment != 0 ||
                           ring.first_tail > ring.places))
    return false;
  return options_.stream_addr % isa::kCommandBytes == 0 && places != 0 && options_.stream_addr >= options_.dram_base &&
         bytes <= options_.dram_size && options_.stream_addr - options_.dram_base <= options_.dram_size - bytes &&
         options_.stream_addr <= ~std::uint64_t{0} - bytes + 1;
}

bool NpuTiming::mark_blocked() const {
  const Engine &store = engines_[kStore];
  return marks_held_ == latency::kMarks && !store.queue.empty() && is_mark(store.queue.front().command);
}

/// First cycle in which the head of the engine's queue could start, its waits apart.
std::uint64_t NpuTiming::candidate(std::size_t e) const {
  const Engine &engine = engines_[e];
  if (engine.queue.empty() || engine.blocked) return kNever;
  std::uint64_t ready = 0;
  if (e < kCore) {
    ready = memory_.ready(e == kStore);
    if (e == kStore && is_mark(engine.queue.front().command))
      ready = marks_held_ == latency::kMarks ? kNever : std::max(ready, mark_room_since_);
  } else if (is_unit(e)) {
    ready = unit(e).ready();
  } else {
    const GemmEngine &core = cores_[e - kCore];
    const auto &op = engine.queue.front().command.op;
    const bool product = std::holds_alternative<isa::GemmCommand>(op) || std::holds_alternative<isa::ConvCommand>(op);
    ready = product ? core.gemm_ready() : core.empty_ready();
  }
  return std::max({ready, engine.head_since, engine.retry});
}

std::uint64_t NpuTiming::next_done(std::size_t e) const {
  if (is_unit(e)) return unit(e).next_done();
  return e < kCore ? memory_.next_done(e == kStore) : cores_[e - kCore].next_done();
}

void NpuTiming::look() {
  for (std::size_t e = 0; changed_ != 0; changed_ >>= 1U, ++e)
    if ((changed_ & 1U) != 0) {
      engines_[e].next_start = candidate(e);
      engines_[e].next_done = next_done(e);
    }
}

std::uint64_t NpuTiming::next_event() const {
  std::uint64_t next = std::min(dispatch_at_, fetch_.next_burst());
  for (const Engine &engine : engines_)
    next = std::min({next, engine.next_start, engine.next_done});
  return next;
}

/// Fixes when the next command moves to its queue, if that is known.
void NpuTiming::plan_dispatch() {
  if (dispatch_at_ != kNever || dispatched_ == count_) return;
  const std::uint64_t available = fetch_.available(dispatched_);
  if (available == kNever) return;
  if (!decoded_) {
    decoded_ = true;
    dispatch_error_ = isa::check_command(stream_[dispatched_], limits_);
    if (dispatch_error_ == isa::ErrorCode::NONE) {
      next_ = {static_cast<std::uint32_t>(dispatched_), *isa::decode(stream_[dispatched_])};
      dispatch_engine_ = isa::engine_place(next_.command.engine(), npu_.cores);
    }
  }
  const std::uint64_t check = std::max(available, check_from_);
  if (dispatch_error_ != isa::ErrorCode::NONE) {
    dispatch_at_ = check + latency::kCheckToMove;
    return;
  }
  const Engine &target = engines_[dispatch_engine_];
  if (target.queue.size() < npu_.queue_depth) dispatch_at_ = std::max(check + latency::kCheckToMove, target.room_since);
}

void NpuTiming::dispatch(std::uint64_t now) {
  dispatch_at_ = kNever;
  if (dispatch_error_ != isa::ErrorCode::NONE) {
    stop(dispatch_error_, static_cast<std::uint32_t>(dispatched_));
    return;
  }
  Engine &target = engines_[dispatch_engine_];
  if (target.queue.empty()) {
    target.head_since = now + latency::kMoveToHead;
    target.blocked = false;
    target.retry = 0;
  }
  target.queue.push(next_);
  changed(dispatch_engine_);
  result_.commands[dispatched_].issue = now;
  fetch_.moved(now);
  ++dispatched_;
  decoded_ = false;
  check_from_ = now + latency::kMoveToCheck;
  last_progress_ = now;
  progress_.add(now);
}

bool NpuTiming::waits_hold(const isa::Sync &sync) const {
  return std::all_of(sync.waits.begin(), sync.waits.end(), [this](const isa::Wait &w) {
    return w.semaphore == isa::kNoSemaphore || semaphores_[w.semaphore] >= w.count;
  });
}

/// Who starts first in a cycle: STORE's head, else LOAD's, else those of cores and vector units in turn, behind the one
/// that started last.
std::size_t NpuTiming::precedence(std::size_t e) const {
  if (e < kCore) return e == kStore ? 0 : 1;
  const std::size_t one = e - kCore;
  return kCore + (one >= first_ ? one - first_ : one + cores_.size() + units_.size() - first_);
}

/// Of the heads that could start, one does.
void NpuTiming::grant(std::uint64_t now) {
  std::size_t winner = engines_.size();
  for (std::size_t e = 0; e < engines_.size(); ++e) {
    Engine &engine = engines_[e];
    if (engine.next_start > now) continue;
    changed(e);
    if (!waits_hold(engine.queue.front().command.sync)) {
      engine.blocked = true;
      continue;
    }
    engine.retry = now + latency::kGrantToGrant;
    if (winner == engines_.size() || precedence(e) < precedence(winner)) winner = e;
  }
  if (winner != engines_.size()) start(winner, now);
}

void NpuTiming::start(std::size_t e, std::uint64_t now) {
  Engine &engine = engines_[e];
  const Queued &head = engine.queue.front(); // stays in its place until the next one comes
  for (const isa::Wait &wait : head.command.sync.waits)
    if (wait.semaphore != isa::kNoSemaphore) semaphores_[wait.semaphore] -= wait.count;
  if (engine.queue.size() == npu_.queue_depth) engine.room_since = now + latency::kStartToQueueRoom;
  engine.queue.pop();

  CommandTimes &times = result_.commands[head.index];
  times.start = now;
  if (options_.latest_start != nullptr && now > options_.latest_start[head.index]) result_.given_up = true;
  // The head waited, with nothing in flight, since it was issued, or the one before it started or was done.
  if (engine.in_flight.empty()) {
    std::uint64_t since = times.issue;
    if (engine.any_done) since = std::max(since, engine.last_done);
    engine.waiting += now - since;
  }
  engine.in_flight.push({head.index, head.command.sync.posts});
  engine.head_since = now + latency::kStartToHead;
  engine.retry = 0;
  if (e >= kCore) first_ = (e - kCore + 1) % (cores_.size() + units_.size());
  if (!engine.queue.empty())
    engine.head_since =
        std::max(engine.head_since, result_.commands[engine.queue.front().index].issue + latency::kMoveToHead);

  if (is_mark(head.command)) start_mark(head.index, head.command.tag, now);
  start_work(e, now, head.command);
}

void NpuTiming::start_work(std::size_t e, std::uint64_t now, const isa::Decoded &command) {
  if (is_unit(e)) return start_unit(unit(e), now, command);
  if (const auto *dma = std::get_if<isa::DmaCommand>(&command.op))
    memory_.start(e == kStore, now, *dma);
  else if (const auto *gemm = std::get_if<isa::GemmCommand>(&command.op))
    cores_[e - kCore].start_gemm(now, *gemm);
  else if (const auto *conv = std::get_if<isa::ConvCommand>(&command.op))
    cores_[e - kCore].start_conv(now, *conv);
  else if (const auto *add = std::get_if<isa::AddCommand>(&command.op))
    cores_[e - kCore].start_add(now, *add);
  else if (e < kCore)
    memory_.start_sync(e == kStore, now);
  else
    cores_[e - kCore].start_sync(now);
}

void NpuTiming::start_unit(VectorEngine &unit, std::uint64_t now, const isa::Decoded &command) {
  if (const auto *run = std::get_if<isa::VectorCommand>(&command.op))
    unit.start_vector(now, *run);
  else if (const auto *tiles = std::get_if<isa::TileCommand>(&command.op))
    unit.start_tile(now, *tiles);
  else if (const auto *program = std::get_if<isa::ProgramCommand>(&command.op))
    unit.start_program(now, *program);
  else
    unit.start_sync(now);
}

void NpuTiming::start_mark(std::uint32_t index, std::uint16_t tag, std::uint64_t now) {
  started_marks_.emplace_back(index, tag);
  if (++marks_held_ == latency::kMarks) marks_full_since_ = now + 1;
}

void NpuTiming::complete(std::size_t e, std::uint64_t now) {
  Engine &engine = engines_[e];
  changed(e);
  const auto [index, posts] = engine.in_flight.front();
  if (is_unit(e) && unit(e).fault_word() != 0) {
    stop(isa::ErrorCode::VECTOR_FAULT, index);
    result_.error_word = result_.error == isa::ErrorCode::VECTOR_FAULT ? unit(e).fault_word() : 0;
    return;
  }
  engine.in_flight.pop();
  result_.commands[index].done = now;
  const std::uint64_t from =
      engine.any_done ? std::max(engine.last_done, result_.commands[index].start) : result_.commands[index].start;
  engine.busy += now - from;
  engine.last_done = now;
  engine.any_done = true;
  ++retired_;
  last_progress_ = now;
  progress_.add(now);
  if (!started_marks_.empty() && started_marks_.front().first == index) {
    result_.marks.push_back({started_marks_.front().second, now});
    started_marks_.pop_front();
  }
  for (const std::uint8_t semaphore : posts) {
    if (semaphore == isa::kNoSemaphore) continue;
    if (semaphores_[semaphore] == kSemaphoreMax)
      stop(isa::ErrorCode::SEM_OVERFLOW, index);
    else
      ++semaphores_[semaphore];
    for (std::size_t other = 0; other < engines_.size(); ++other) {
      if (!engines_[other].blocked) continue;
      engines_[other].blocked = false;
      engines_[other].retry = now + latency::kPostToTake;
      changed(other);
    }
  }
  if (is_unit(e))
    unit(e).complete();
  else
    e < kCore ? memory_.complete(e == kStore, now) : cores_[e - kCore].complete();
}

void NpuTiming::play(std::uint64_t now) {
  if (fetch_.next_burst() == now) {
    const CommandFetch::Burst burst = fetch_.issue(now);
    memory_.fetch(now, burst.offset, burst.bytes);
    changed(kLoad);
    last_progress_ = now;
  }
  if (dispatch_at_ == now) dispatch(now);
  grant(now);
  for (std::size_t e = 0; e < engines_.size(); ++e)
    if (engines_[e].next_done == now) complete(e, now);
  plan_dispatch();
  look();
}

bool NpuTiming::begin() {
  if (legal_start()) return true;
  stop(isa::ErrorCode::BAD_START, 0);
  return false;
}

bool NpuTiming::play_until(std::uint64_t last, std::size_t marks) {
  const std::uint64_t horizon = last == kNever ? kNever : last + 1;
  while (running() && result_.marks.size() < marks) {
    std::uint64_t event = next_event();
    while (memory_.advance(std::min({event, horizon, limit_ == kNever ? kNever : limit_ + 1}))) {
      fetch_.receive(memory_.take_fetched());
      plan_dispatch();
      changed(kLoad);
      changed(kStore);
      look();
      event = next_event();
    }
    if (event == kNever || event > limit_ || event > last) { // nothing happens any more, or too late
      const std::uint64_t expired = expiry();
      if (expired == kNever && last == kNever) never_ends();
      if (expired == kNever || expired > last) break;
      expire(expired);
      break;
    }
    end_ = event;
    play(event);
    if (memory_.idle_cycles() > options_.most_idle_cycles) result_.given_up = true;
  }
  return running();
}

bool NpuTiming::write(const HostWrite &write) {
  if (host_is_next()) { // in this cycle, too
    last_progress_ = std::max(last_progress_, write.cycle);
    progress_.add(host_since(), write.cycle);
  }
  switch (write.kind) {
  case HostWrite::Kind::kTail:
    if (!open_ || !running() || write.tail < count_ ||
        write.tail - fetch_.received_before(write.cycle) > options_.ring.places)
      return false;
    count_ = write.tail;
    result_.commands.resize(count_);
    fetch_.raise(count_, write.cycle);
    return true;
  case HostWrite::Kind::kClose:
    if (!open_ || !running()) return false;
    open_ = false;
    end_ = std::max(end_, write.cycle + latency::kCloseToEnd);
    return true;
  case HostWrite::Kind::kTakeMark:
    break;
  }
  if (marks_taken_ == result_.marks.size() || result_.marks[marks_taken_].cycle >= write.cycle) return false;
  ++marks_taken_;
  if (marks_held_-- == latency::kMarks) mark_room_since_ = write.cycle + latency::kTakeToMark;
  changed(kStore);
  look();
  return true;
}

RunResult NpuTiming::run() {
  if (begin()) {
    const std::vector<HostWrite> &host = options_.ring.host;
    for (std::size_t i = 0; i < host.size(); ++i) {
      play_until(host[i].cycle);
      if (!result_.ok() || result_.given_up) break;
      if (!write(host[i])) result_.refused.push_back(i);
    }
    play_until(kNever);
  }
  return finish();
}

RunResult NpuTiming::finish() {
  fill_counters(end_);
  if (!result_.ok()) result_.stop_cycles = stop_cycles();
  return std::move(result_);
}

} // namespace gradweave::timing
