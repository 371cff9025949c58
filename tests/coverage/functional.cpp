#include "tests/coverage/functional.hpp"

#include "vector_defs.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

namespace gradweave::coverage {

namespace {

bool bit(std::uint64_t set, unsigned place) { return (set >> place) & 1U; }

/// Of an NPU's counters, those of a vector unit behind the others.
std::string counter_name(std::size_t place) {
  return std::string(place < isa::kCounters.size() ? isa::kCounters[place].name
                                                   : isa::kVectorCounters.at(place - isa::kCounters.size()).name);
}

constexpr std::size_t kRun = 3, kStop = 4;

} // namespace

std::string FunctionalCoverage::engine_name(unsigned engine) const {
  if (engine == 0) return "LOAD";
  if (engine == 1) return "STORE";
  if (engine < 2 + geometry_.cores) return "COMPUTE" + std::to_string(engine - 2);
  return "VECTOR" + std::to_string(engine - 2 - geometry_.cores);
}

const isa::Command *FunctionalCoverage::find(std::uint32_t index) const {
  return index < stream_.size() ? &stream_[index] : nullptr;
}

void FunctionalCoverage::forget_stream() {
  stream_.clear();
  repeated_.clear();
}

void FunctionalCoverage::sample(const Sample &s) {
  sample_state(s);
  if (!s.reset_n) {
    if (bit(host_, kOpen)) hit("ring.reset");
    host_ = 0;
    seen_ = false; // the next state comes from the reset, not from a transition
    forget_stream();
    fifo_used_ = queue_used_ = 0;
    return;
  }
  sample_burst(s.read.fetch ? "FETCH" : "LOAD", s.read);
  sample_burst("STORE", s.write);
  sample_ports(s);
  sample_ring(s);
  sample_marks(s);
  host_ = s.host;
  if (s.vector_error != vector_error_ && s.vector_error != 0)
    hit("vector_fault." + std::string(isa::vector::kFaultNames.at(s.vector_error >> 16U)));
  vector_error_ = s.vector_error;
  if (s.state != kRun) {
    if (s.state != kStop) forget_stream();
    fifo_used_ = queue_used_ = 0;
    return;
  }
  sample_dispatch(s);
  sample_queues(s);
  sample_stalls(s);
  sample_semaphores(s);
  sample_error(s);
}

void FunctionalCoverage::sample_state(const Sample &s) {
  if (seen_ && !s.reset_n) hit(std::string("reset_pin.") + kStates.at(state_));
  if (seen_ && s.reset_n && s.state != state_)
    hit(std::string("state.") + kStates.at(state_) + "." + kStates.at(s.state));
  state_ = s.state;
  seen_ = true;
}

void FunctionalCoverage::sample_dispatch(const Sample &s) {
  if (!s.checking) return;
  if (s.index >= stream_.size()) {
    repeated_.clear(); // they point into the stream
    stream_.resize(s.index + 1);
  }
  stream_[s.index] = s.command;
  command(s.command, s.error);
}

void FunctionalCoverage::sample_queues(const Sample &s) {
  const unsigned engines = geometry_.engines();
  for (unsigned e = 0; e < engines; ++e) {
    const std::string name = "queue." + engine_name(e) + ".";
    if (!bit(s.room, e)) hit(name + "full");
    const isa::Command *next = find(s.index);
    if (s.moving && !bit(s.room, e) && next && isa::engine_place(next->get(isa::field::ENGINE), geometry_.cores) == e)
      hit(name + "holds_dispatch");
    if (bit(s.push, e) && bit(s.start, e)) hit(name + "in_and_out");
    if (bit(queue_used_, e) && !bit(s.head_valid, e)) hit(name + "drained");
  }
  queue_used_ = s.head_valid;
  for (unsigned f = 0; f < kFifos.size(); ++f) {
    const std::string name = std::string("queue.") + kFifos.at(f) + ".";
    const bool room = bit(s.fifo_room, f), valid = bit(s.fifo_valid, f);
    if (!room) hit(name + "full");
    if (bit(s.fifo_push, f) && room && bit(s.fifo_pop, f) && valid) hit(name + "in_and_out");
    if (bit(fifo_used_, f) && !valid) hit(name + "drained");
  }
  fifo_used_ = s.fifo_valid;
  if (s.reads_full) hit("queue.LOAD_UNANSWERED.full");
}

void FunctionalCoverage::sample_stall(const Sample &s, unsigned engine, std::uint32_t causes,
                                      std::size_t first_counter) {
  const isa::Command *command = bit(s.oldest_valid, engine) ? find(s.oldest_index[engine])
                                : bit(s.head_valid, engine) ? find(s.head_index[engine])
                                                            : nullptr;
  repeated_.resize(std::max<std::size_t>(repeated_.size(), engine + 1));
  Repeated &last = repeated_[engine];
  if (!last.valid || last.command != command || last.causes != causes) {
    last = {true, command, causes, {}};
    for (unsigned i = 0; causes >> i; ++i) {
      if (!bit(causes, i)) continue;
      const std::string counter = counter_name(first_counter + i);
      last.counts.push_back(&bins_["stall." + (command ? opcode_name(*command) : "NONE") + "." + counter]);
      if (!command) continue;
      for (const auto &[flag, value] : flags_of(*command)) {
        std::string name = "flag_stall." + opcode_name(*command);
        name += "." + flag;
        name += "." + value;
        last.counts.push_back(&bins_[name += "." + counter]);
      }
    }
  }
  for (std::uint64_t *count : last.counts)
    ++*count;
}

void FunctionalCoverage::sample_stalls(const Sample &s) {
  const auto place = [](isa::Counter c) { return static_cast<std::size_t>(c); };
  sample_stall(s, 0, s.load_counters, place(isa::Counter::LOAD_ACTIVE));
  sample_stall(s, 1, s.store_counters, place(isa::Counter::STORE_ACTIVE));
  for (unsigned i = 0; s.fetch_counters >> i; ++i)
    if (bit(s.fetch_counters, i))
      hit("stall.NONE." + std::string(isa::kCounters.at(place(isa::Counter::FETCH_ACTIVE) + i).name));
  for (unsigned core = 0; core < geometry_.cores; ++core)
    sample_stall(s, 2 + core, (s.core_counters >> (7 * core)) & 0x7fU, place(isa::Counter::COMPUTE_ACTIVE));
  for (unsigned unit = 0; unit < geometry_.vectors(); ++unit)
    sample_stall(s, 2 + geometry_.cores + unit, (s.vector_counters >> (7 * unit)) & 0x1fU,
                 place(isa::Counter::VECTOR_ACTIVE));
}

void FunctionalCoverage::sample_semaphores(const Sample &s) {
  const unsigned engines = geometry_.engines();
  for (unsigned a = 0; a < engines; ++a) {
    if (!bit(s.can_start, a)) continue;
    for (unsigned b = a + 1; b < engines; ++b)
      if (bit(s.can_start, b)) hit("together." + engine_name(a) + "." + engine_name(b));
  }
  const std::uint32_t all = (1U << engines) - 1;
  if ((s.can_start & all) == all) hit("together.ALL");
  for (unsigned e = 0; e < engines; ++e) {
    if (!bit(s.asks, e)) continue;
    const isa::Command *c = find(s.head_index[e]);
    if (const auto d = c ? isa::decode(*c) : std::nullopt) sample_wait(s, d->sync);
  }
  sample_posts(s);
}

void FunctionalCoverage::sample_wait(const Sample &s, const isa::Sync &sync) {
  unsigned waits = 0, met = 0;
  for (const isa::Wait &w : sync.waits) {
    if (w.semaphore == isa::kNoSemaphore) continue;
    const std::uint32_t held = s.semaphores.at(w.semaphore);
    ++waits;
    met += held >= w.count;
    if (held == 0)
      hit("semaphore.wait_at_zero");
    else if (held < w.count)
      hit("semaphore.wait_below");
    else if (held == w.count)
      hit("semaphore.wait_exact");
    else
      hit("semaphore.wait_above");
    if (w.count == 255) hit("semaphore.wait_for_255");
    if (w.semaphore == geometry_.semaphores - 1) hit("semaphore.last");
  }
  hit("semaphore.waits_" + std::to_string(waits));
  if (met > 0 && met < waits) hit("semaphore.some_waits_met");
}

void FunctionalCoverage::sample_posts(const Sample &s) {
  std::vector<std::uint8_t> posted; // by engines before
  for (unsigned e = 0; e < geometry_.engines(); ++e) {
    const isa::Command *c = bit(s.done, e) ? find(s.done_index[e]) : nullptr;
    const auto d = c ? isa::decode(*c) : std::nullopt;
    if (!d) continue;
    std::vector<std::uint8_t> posts(d->sync.posts.begin(), d->sync.posts.end());
    posts.erase(std::remove(posts.begin(), posts.end(), isa::kNoSemaphore), posts.end());
    hit("semaphore.posts_" + std::to_string(posts.size()));
    if (posts.size() == 3 && posts[0] == posts[1] && posts[1] == posts[2]) hit("semaphore.one_posted_three_times");
    for (const std::uint8_t semaphore : posts) {
      if (s.semaphores.at(semaphore) == 65535) hit("semaphore.post_at_max");
      const auto times = static_cast<std::uint32_t>(std::count(posts.begin(), posts.end(), semaphore));
      if (s.semaphores.at(semaphore) + times == 65535) hit("semaphore.post_to_max");
      if (std::count(posted.begin(), posted.end(), semaphore) > 0) hit("semaphore.posted_by_two_engines");
      for (unsigned taker = 0; taker < geometry_.engines(); ++taker) {
        const isa::Command *started = bit(s.start, taker) ? find(s.head_index[taker]) : nullptr;
        const auto waiting = started ? isa::decode(*started) : std::nullopt;
        if (!waiting) continue;
        for (const isa::Wait &w : waiting->sync.waits)
          if (w.semaphore == semaphore) hit("semaphore.posted_and_taken");
      }
    }
    posted.insert(posted.end(), posts.begin(), posts.end());
  }
  const auto done = s.done & ((1U << geometry_.engines()) - 1);
  if ((done & (done - 1)) != 0) hit("semaphore.two_engines_complete");
}

void FunctionalCoverage::sample_error(const Sample &s) {
  if (!s.err_valid) return;
  const std::string code(isa::kErrorNames.at(static_cast<std::size_t>(s.err_code)));
  const bool of_command = s.err_code != isa::ErrorCode::FETCH_SLVERR && s.err_code != isa::ErrorCode::FETCH_DECERR &&
                          s.err_code != isa::ErrorCode::BAD_START;
  const isa::Command *c = of_command ? find(s.err_index) : nullptr;
  hit("error." + (c ? opcode_here(*c) : "NONE") + "." + code);
  if (c)
    for (const auto &[flag, value] : flags_of(*c)) {
      std::string name = "flag_error." + opcode_name(*c);
      name += "." + flag;
      name += "." + value;
      hit(name += "." + code);
    }
  sample_stopped(s, code);
}

void FunctionalCoverage::sample_stopped(const Sample &s, const std::string &code) {
  for (unsigned e = 0; e < geometry_.engines(); ++e) {
    const std::string engine = engine_name(e);
    const bool faulty = code == "VECTOR_FAULT" && engine == "VECTOR0"; // of units no more is listed
    if (e >= 3 && !faulty) continue;
    const std::string name = "stopped." + code + "." + engine + ".";
    if (!bit(s.oldest_valid, e) && !bit(s.head_valid, e)) hit(name + "idle");
    if (bit(s.oldest_valid, e)) hit(name + "busy");
    if (!bit(s.room, e)) hit(name + "queue_full");
  }
}

void FunctionalCoverage::sample_burst(const std::string &channel, const AddressSample &a) {
  if (!a.valid) return;
  const std::string name = "burst." + channel + ".";
  if (!a.ready) hit(name + "held_back");
  if (!a.ready) return;
  const std::uint64_t bytes = std::uint64_t{a.beats} * geometry_.bus_bytes;
  const std::uint64_t begin = a.addr - a.addr % geometry_.bus_bytes;
  if (begin % 4096 == 0) hit(name + "begins_page");
  if ((begin + bytes) % 4096 == 0) hit(name + "ends_page");
  if (a.beats == 1) hit(name + "one_beat");
  if (a.beats == 256) hit(name + "256_beats");
  if (a.beats > 1 && a.beats < 256) hit(name + "several_beats");
  hit(name + (a.first_byte > 0 ? "first_beat_in_part" : "first_beat_whole"));
  hit(name + (a.last_byte + 1 < bytes ? "last_beat_in_part" : "last_beat_whole"));
}

void FunctionalCoverage::sample_ports(const Sample &s) {
  for (unsigned c = 0; c < kPortChannels.size(); ++c)
    for (unsigned port = 0; port < geometry_.ports; ++port)
      if (bit(s.ahead.at(c), port))
        hit(std::string("port.") + kPortChannels.at(c) + "." + std::to_string(port) + "_ahead");
}

void FunctionalCoverage::sample_ring(const Sample &s) {
  const bool idle = s.retired == s.count;
  if (bit(s.host, kTailWritten)) hit(idle ? "ring.tail_while_idle" : "ring.tail_while_busy");
  if (bit(s.host, kTailRefused)) hit(s.tail < s.count ? "ring.tail_that_falls" : "ring.tail_beyond");
  if (bit(s.host, kClosed)) hit(idle ? "ring.closed_while_idle" : "ring.closed_while_busy");
  if (bit(s.host, kCloseRefused)) hit("ring.close_refused");
  if (!bit(s.host, kRing) || s.state != kRun) return;
  if (bit(s.host, kWraps)) hit("ring.wraps");
  if (s.count - s.received == s.ring_size) hit("ring.full");
  if (bit(s.host, kOpen) && idle) hit("ring.idle");
}

void FunctionalCoverage::sample_marks(const Sample &s) {
  const bool there = bit(s.host, kMarkThere);
  if (bit(s.host, kMarkStarts)) hit("mark.starts");
  if (bit(s.host, kMarkWaits) && s.state == kRun) hit("mark.waits_for_room");
  if (bit(s.host, kMarkCompletes)) hit(there ? "mark.behind_others" : "mark.first");
  if (bit(s.host, kTaken)) hit(bit(s.host, kLogHasRoom) ? "mark.taken" : "mark.taken_from_full");
  if (bit(s.host, kTaken) && bit(s.host, kMarkCompletes)) hit("mark.taken_as_one_completes");
  if (bit(s.host, kTakeRefused)) hit("mark.take_refused");
  if (bit(s.host, kIrq) && !bit(host_, kIrq)) hit(bit(s.host, kEnded) ? "mark.interrupt_of_the_end" : "mark.interrupt");
  if (there && bit(s.host, kEnded)) hit("mark.left_at_the_end");
}

void FunctionalCoverage::write(const std::string &file) const {
  std::ofstream out(file);
  for (const auto &[name, count] : bins_)
    out << count << ' ' << name << '\n';
  if (!out.flush()) throw std::runtime_error("cannot write the coverage file " + file);
}

} // namespace gradweave::coverage
