#include "sw_models/timing/engines/memory_system.hpp"

#include "sw_models/timing/engines/latencies.hpp"

#include <algorithm>

namespace gradweave::timing {

namespace {

constexpr std::uint32_t kFetchBursts = 16; ///< under way at most: its buffer holds so many commands

unsigned log2_of(std::uint32_t power) {
  unsigned shift = 0;
  while ((1U << shift) < power)
    ++shift;
  return shift;
}

} // namespace

MemorySystem::MemorySystem(const Machine &npu, std::uint32_t fetch_word_beats, std::uint64_t limit,
                           ProgressLog &progress)
    : channel_(npu.memory, npu.bus_bytes), limit_(limit), latency_(npu.memory.latency_cycles), progress_(progress),
      every_beat_(limit != kNever || progress.on()), bus_bytes_(npu.bus_bytes),
      fetch_word_beats_(fetch_word_beats), granules_{log2_of(npu.bus_bytes), log2_of(channel_.access_bytes())},
      load_(npu.outstanding), store_(npu.outstanding), reads_(npu.outstanding + kFetchBursts),
      writes_(npu.outstanding) {}

void MemorySystem::start(bool store, std::uint64_t cycle, const isa::DmaCommand &command) {
  Side &s = side(store);
  // The last burst of the command before was issued a cycle ago. Fetch bursts that are known may go first, and one that
  // is not may come in the next cycle.
  while (!store && load_.next <= cycle + 1)
    offer_load();
  if (!store && load_.next != kNever) held_ = load_.bursts.take();
  s.order.start_transfer();
  s.bursts.start(command, granules_);
  s.earliest = cycle + latency::kStartToBurst;
  s.bursts_done = kNever;
  if (!held_ || store) plan(s, store ? 0 : latency::kLoadBurstToMux);
  if (!every_beat_)
    (store ? totals_.write_bytes : totals_.read_bytes) +=
        std::uint64_t{command.rows} * command.cols * (command.fp32 ? 4 : 2);
  else
    s.counted.push_back(command);
}

/// Fixes when the next burst is issued, unless its credit is still unknown. True if it is the command's last.
inline bool MemorySystem::plan(Side &s, std::uint64_t issue_to_event) {
  s.next = kNever;
  if (!s.bursts.active()) return false;
  const std::uint64_t credit = s.credits.available();
  if (credit == kNever) return false;
  const std::uint64_t issue = std::max(s.earliest, credit);
  s.issued = issue;
  s.next = issue + issue_to_event;
  if (!s.bursts.at_last()) return false;
  s.bursts_done = issue + latency::kBurstToStart;
  return true;
}

/// Element bytes of the first `beats` beats of the next burst to be answered.
std::uint32_t MemorySystem::count(Side &s, std::uint32_t beats) {
  if (!s.replay.active()) {
    s.replay.start(s.counted.front(), granules_);
    s.counted.pop_front();
  }
  const BurstWalker::Extent extent = s.replay.extent();
  s.replay.take();
  return beats == 0 ? 0 : std::min(extent.bytes, beats * bus_bytes_ - extent.offset);
}

inline bool MemorySystem::offer_load() {
  const std::uint64_t cycle = load_.next;
  if (cycle == fetch_in_mux_) { // fetch goes first
    load_.next = cycle + 1;
    return false;
  }
  const bool held = held_.has_value();
  const BurstSize size = held ? *held_ : load_.bursts.take();
  totals_.read_accesses += size.accesses;
  load_.credits.issue();
  reads_.push({cycle + latency::kMuxToBus, size, false, held || !load_.bursts.active()});
  if (every_beat_) progress_.add(cycle + latency::kMuxToBus);
  load_.earliest = held ? std::max(load_.earliest, cycle) : cycle; // its register is free
  held_.reset();
  return plan(load_, latency::kLoadBurstToMux);
}

inline bool MemorySystem::issue_store() {
  const std::uint64_t cycle = store_.next;
  const BurstSize size = store_.bursts.take();
  const std::uint32_t beats = size.beats;
  totals_.write_accesses += size.accesses;
  store_.credits.issue();
  const std::uint64_t read = std::max(cycle + latency::kStoreBurstToRead, store_read_);
  store_read_ = read + beats;
  const std::uint64_t first_beat = read + latency::kReadToBus, last_beat = first_beat + beats - 1;
  writes_.push({last_beat, size, false, !store_.bursts.active()});
  if (!every_beat_) {
    totals_.write_beats += beats;
  } else {
    progress_.add(cycle + latency::kStoreBurstToBus);
    progress_.add(first_beat, last_beat);
    const auto counted =
        static_cast<std::uint32_t>(limit_ < first_beat ? 0 : std::min<std::uint64_t>(beats, limit_ - first_beat + 1));
    totals_.write_beats += counted;
    totals_.write_bytes += count(store_, counted);
  }
  store_.earliest = cycle + latency::kStoreBurstToBurst;
  return plan(store_, 0);
}

void MemorySystem::fetch(std::uint64_t cycle, std::uint32_t offset, std::uint32_t bytes) {
  if (load_.next == cycle) offer_load(); // its address goes ahead of this one
  fetch_in_mux_ = cycle + latency::kFetchToMux;
  const BurstSize size = granules_.size_of(offset, bytes);
  totals_.read_accesses += size.accesses;
  reads_.push({cycle + latency::kFetchToBus, size, true, false});
  progress_.add(cycle + latency::kFetchToBus);
}

/// The last access of the DRAM that a beat needs.
inline std::uint32_t MemorySystem::last_access(const BurstSize &size, std::uint32_t beat) const {
  const std::uint32_t to_here = size.first_accesses + (beat << (granules_.beat_shift - granules_.access_shift));
  return std::min<std::uint32_t>(to_here, size.accesses) - 1;
}

/// Beats come in order, one a cycle at most, each as soon as it is available. It is enough to look at a few beats: the
/// times of those between the first and the last, which may need fewer accesses than the others, ascend by the bus rate
/// or by the DRAM's.
std::uint64_t MemorySystem::beat_cycle(const Request &request, const DramChannel::Service &service,
                                       std::uint32_t beat) const {
  const auto available = [&](std::uint32_t b) {
    return channel_.read_beat_cycle(service.start, last_access(request.size, b));
  };
  const std::uint64_t cycle = std::max({available(0) + beat, available(beat), read_channel_ + beat});
  return beat == 0 ? cycle : std::max(cycle, available(beat - 1) + 1);
}

/// Beats up to the limit.
std::uint32_t MemorySystem::follow_beats(const Request &request, const DramChannel::Service &service) const {
  std::uint32_t beats = 0;
  for (std::uint32_t beat = 0; beat < request.size.beats; ++beat) {
    const std::uint64_t cycle = beat_cycle(request, service, beat);
    progress_.add(cycle);
    beats += cycle <= limit_;
  }
  return beats;
}

inline bool MemorySystem::answer_load(std::uint64_t last_beat, bool last) {
  read_channel_ = last_beat + 1;
  load_.credits.answer(last_beat);
  if (last) load_.order.finish(last_beat);
  bool known = last;
  if (load_.next == kNever) known |= plan(load_, latency::kLoadBurstToMux); // it may have waited for this credit
  return known;
}

bool MemorySystem::answer_fetch(const Request &request, const DramChannel::Service &service) {
  fetched_.words = request.size.beats / fetch_word_beats_;
  for (std::uint32_t word = 0; word < fetched_.words; ++word)
    fetched_.cycle[word] = beat_cycle(request, service, (word + 1) * fetch_word_beats_ - 1);
  totals_.fetch_beats += follow_beats(request, service);
  read_channel_ = fetched_.cycle[fetched_.words - 1] + 1;
  return true;
}

inline bool MemorySystem::answer_store(const DramChannel::Instant &end, bool last) {
  const std::uint64_t response = std::max(channel_.answer_cycle(end), response_channel_);
  response_channel_ = response + 1;
  if (every_beat_) progress_.add(response);
  store_.credits.answer(response);
  if (last) store_.order.finish(response);
  bool known = last;
  if (store_.next == kNever) known |= plan(store_, 0); // it may have waited for this credit
  return known;
}

/// One choice of the DRAM.
bool MemorySystem::serve() {
  const DramChannel::Waiting first = waiting();
  const DramChannel::Choice choice = channel_.choose(first);
  Ring<Request> &queue = choice.direction == DramChannel::Direction::kRead ? reads_ : writes_;
  const Request &request = queue.front(); // stays in its place until the next one comes
  queue.pop();
  const DramChannel::Service service = channel_.serve(choice, first, request.size.accesses);
  if (choice.direction == DramChannel::Direction::kWrite) return answer_store(service.end, request.last);
  if (request.fetch) return answer_fetch(request, service);
  const std::uint32_t beats = every_beat_ ? follow_beats(request, service) : request.size.beats;
  totals_.read_beats += beats;
  if (every_beat_) totals_.read_bytes += count(load_, beats);
  return answer_load(beat_cycle(request, service, request.size.beats - 1U), request.last);
}

/// offer_load() for whole rows of a tile: what happens most of the time, in a few steps a burst.
void MemorySystem::offer_rows(std::uint64_t until) {
  BurstWalker bursts = load_.bursts;
  const BurstSize size = bursts.row();
  const std::uint64_t room = load_.credits.room();
  std::uint64_t next = load_.next, offered = load_.earliest, n = 0;
  while (next < until && next != fetch_in_mux_ && bursts.at_row_of_many()) {
    bursts.skip_row();
    reads_.write(n++, {next + latency::kMuxToBus, size, false, false});
    offered = next;
    next = n == room ? kNever : std::max(next, load_.credits.available_after(n)) + latency::kLoadBurstToMux;
  }
  load_.bursts = bursts;
  totals_.read_accesses += n * size.accesses;
  load_.credits.issue(n);
  load_.earliest = offered;
  load_.next = next;
  reads_.let_in(n);
}

/// Offers the loads before cycle `until`; true as from advance().
bool MemorySystem::offer_loads(std::uint64_t until) {
  while (load_.next < until) {
    if (!every_beat_ && !held_) offer_rows(until);
    if (load_.next < until && offer_load()) return true;
  }
  return false;
}

/// issue_store() for whole rows of a tile.
void MemorySystem::issue_rows(std::uint64_t until) {
  BurstWalker bursts = store_.bursts;
  const BurstSize size = bursts.row();
  const std::uint64_t room = store_.credits.room();
  std::uint64_t next = store_.next, earliest = store_.earliest, read = store_read_, n = 0;
  while (next < until && bursts.at_row_of_many()) {
    bursts.skip_row();
    read = std::max(next + latency::kStoreBurstToRead, read) + size.beats;
    writes_.write(n++, {read + latency::kReadToBus - 1, size, false, false});
    earliest = next + latency::kStoreBurstToBurst;
    next = n == room ? kNever : std::max(earliest, store_.credits.available_after(n));
  }
  store_.bursts = bursts;
  store_.credits.issue(n);
  store_.earliest = earliest;
  store_.next = next;
  store_read_ = read;
  totals_.write_beats += n * size.beats;
  totals_.write_accesses += n * size.accesses;
  writes_.let_in(n);
}

/// Issues the stores before cycle `until`; true as from advance().
bool MemorySystem::issue_stores(std::uint64_t until) {
  while (store_.next < until) {
    if (!every_beat_) issue_rows(until);
    if (store_.next < until && issue_store()) return true;
  }
  return false;
}

/// Serves bursts of the channel's direction that are there when it is free, before cycle `until`, but for those on
/// whose answer more depends than credits. `answer` gives the cycle of a burst's answer from the end of its service.
template <typename Answer>
void MemorySystem::serve_many(Ring<Request> &queue, BurstCredits &credits, std::uint64_t other, std::uint64_t until,
                              const Answer &answer) {
  DramChannel::Course course = channel_.course();
  const std::size_t waiting = queue.size();
  std::size_t n = 0;
  for (; n < waiting; ++n) {
    const Request &request = queue.at(n);
    const std::uint64_t cycle = course.free.cycle;
    const bool other_waits = other <= cycle;
    if (cycle < request.arrival || cycle >= until || request.fetch || request.last ||
        !channel_.stays(course, other_waits))
      break;
    course = channel_.serve_next(course, request.size.accesses, other_waits);
    credits.write_answer(n, answer(channel_.answer_cycle(course.free), request.size.beats));
  }
  channel_.follow(course);
  credits.count_answers(n);
  queue.pop(n);
}

/// serve() for loads that are there when the channel, already reading, is free.
bool MemorySystem::serve_loads(std::uint64_t horizon) {
  const std::uint64_t write = first_arrival(writes_), end = std::min(horizon, store_.next);
  for (;;) {
    if (load_.next != kNever || !load_.bursts.active()) { // else the next answer is a credit that a burst waits for
      std::uint64_t beats = 0, free = read_channel_;
      serve_many(reads_, load_.credits, write, std::min(end, load_.next),
                 [&](std::uint64_t available, std::uint64_t of_burst) {
                   beats += of_burst;
                   const std::uint64_t last_beat = std::max(available, free + of_burst - 1);
                   free = last_beat + 1;
                   return last_beat;
                 });
      totals_.read_beats += beats;
      read_channel_ = free;
    }
    if (reads_.empty()) return false;
    const Request &request = reads_.front();
    const DramChannel::Course course = channel_.course();
    const std::uint64_t cycle = course.free.cycle;
    const bool other_waits = write <= cycle;
    if (cycle < request.arrival || cycle >= std::min(end, load_.next) || request.fetch ||
        !channel_.stays(course, other_waits))
      return false;
    const std::uint32_t beats = request.size.beats;
    const bool last = request.last;
    channel_.follow(channel_.serve_next(course, request.size.accesses, other_waits));
    reads_.pop();
    totals_.read_beats += beats;
    if (answer_load(std::max(channel_.answer_cycle(channel_.free()), read_channel_ + beats - 1), last)) return true;
  }
}

/// The same for stores.
bool MemorySystem::serve_stores(std::uint64_t horizon) {
  const std::uint64_t read = first_arrival(reads_), end = std::min(horizon, load_.next);
  for (;;) {
    if (store_.next != kNever || !store_.bursts.active()) {
      std::uint64_t free = response_channel_;
      serve_many(writes_, store_.credits, read, std::min(end, store_.next),
                 [&](std::uint64_t available, std::uint64_t /*beats*/) {
                   const std::uint64_t response = std::max(available, free);
                   free = response + 1;
                   return response;
                 });
      response_channel_ = free;
    }
    if (writes_.empty()) return false;
    const Request &request = writes_.front();
    const DramChannel::Course course = channel_.course();
    const std::uint64_t cycle = course.free.cycle;
    const bool other_waits = read <= cycle;
    if (cycle < request.arrival || cycle >= std::min(end, store_.next) || !channel_.stays(course, other_waits))
      return false;
    const bool last = request.last;
    channel_.follow(channel_.serve_next(course, request.size.accesses, other_waits));
    writes_.pop();
    if (answer_store(channel_.free(), last)) return true;
  }
}

// Not every event is played in the order of cycles; that would cost more than the events. What must hold:
// - The DRAM chooses only when all that arrives until then is known. An address offered in a cycle arrives later.
// - A load is offered only when no fetch burst can go before it: the next one is issued at the horizon, or later than
//   an answer that the DRAM has yet to give, which takes its latency at least.
// - Stores wait for nobody but their own answers.
bool MemorySystem::advance(std::uint64_t horizon) {
  for (;;) {
    if (issue_stores(horizon)) return true;
    const std::uint64_t choice = channel_.next_choice(waiting()).cycle;
    const std::uint64_t offers = choice == DramChannel::kNone ? horizon : std::min(horizon, choice + latency_ + 1);
    if (offer_loads(offers)) return true;
    if (channel_.next_choice(waiting()).cycle >= horizon) return false;
    do {
      if (serve()) return true;
      if (every_beat_ || !channel_.slower_than_bus()) continue;
      const bool reads = channel_.direction() == DramChannel::Direction::kRead;
      if (reads ? serve_loads(horizon) : serve_stores(horizon)) return true;
    } while (channel_.next_choice(waiting()).cycle < std::min({horizon, load_.next, store_.next}));
  }
}

std::uint64_t MemorySystem::stop(std::uint64_t cycle) {
  while (issue_stores(cycle + 1)) {
  }
  while (load_.next != kNever && load_.issued <= cycle)
    offer_load();
  for (Side *s : {&load_, &store_}) {
    s->next = kNever;
    s->bursts = {};
  }
  while (advance(kNever)) {
  }
  return last_handshake();
}

FetchedWords MemorySystem::take_fetched() {
  const FetchedWords fetched = fetched_;
  fetched_.words = 0;
  return fetched;
}

} // namespace gradweave::timing
