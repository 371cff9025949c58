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

/// One point of time.
DramChannel::Pace at(std::uint64_t cycle) { return {{cycle, 0}, {}}; }

} // namespace

MemorySystem::MemorySystem(const Machine &npu, std::uint32_t fetch_word_beats, std::uint64_t limit,
                           ProgressLog &progress)
    : channel_(npu.memory, npu.bus_bytes), limit_(limit), latency_(npu.memory.latency_cycles), progress_(progress),
      every_beat_(limit != kNever || progress.on()), alike_(!every_beat_ && channel_.slower_than_bus()),
      bus_bytes_(npu.bus_bytes),
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
  load_.credits.issue(1, channel_);
  reads_.push({at(cycle + latency::kMuxToBus), 1, size, false, held || !load_.bursts.active()});
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
  store_.credits.issue(1, channel_);
  const std::uint64_t read = std::max(cycle + latency::kStoreBurstToRead, store_read_);
  store_read_ = read + beats;
  const std::uint64_t first_beat = read + latency::kReadToBus, last_beat = first_beat + beats - 1;
  writes_.push({at(last_beat), 1, size, false, !store_.bursts.active()});
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
  reads_.push({at(cycle + latency::kFetchToBus), 1, size, true, false});
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
inline std::uint64_t MemorySystem::beat_cycle(const BurstSize &size, const DramChannel::Service &service,
                                              std::uint32_t beat) const {
  const auto available = [&](std::uint32_t b) { return channel_.read_beat_cycle(service.start, last_access(size, b)); };
  const std::uint64_t first = std::max(available(0), read_channel_) + beat;
  return beat == 0 ? first : std::max({first, available(beat), available(beat - 1) + 1});
}

/// Beats up to the limit.
std::uint32_t MemorySystem::follow_beats(const BurstSize &size, const DramChannel::Service &service) const {
  std::uint32_t beats = 0;
  for (std::uint32_t beat = 0; beat < size.beats; ++beat) {
    const std::uint64_t cycle = beat_cycle(size, service, beat);
    progress_.add(cycle);
    beats += cycle <= limit_;
  }
  return beats;
}

/// Loads are answered, their credits included; `last_beat`: when the last of them is. `last`: it is its command's.
inline bool MemorySystem::answer_loads(std::uint64_t last_beat, bool last) {
  read_channel_ = last_beat + 1;
  if (last) load_.order.finish(last_beat);
  bool known = last;
  if (load_.next == kNever) known |= plan(load_, latency::kLoadBurstToMux); // it may have waited for this credit
  return known;
}

bool MemorySystem::answer_fetch(const BurstSize &size, const DramChannel::Service &service) {
  fetched_.words = size.beats / fetch_word_beats_;
  for (std::uint32_t word = 0; word < fetched_.words; ++word)
    fetched_.cycle[word] = beat_cycle(size, service, (word + 1) * fetch_word_beats_ - 1);
  totals_.fetch_beats += follow_beats(size, service);
  read_channel_ = fetched_.cycle[fetched_.words - 1] + 1;
  return true;
}

/// Stores are answered likewise.
inline bool MemorySystem::answer_stores(std::uint64_t response, bool last) {
  response_channel_ = response + 1;
  if (every_beat_) progress_.add(response);
  if (last) store_.order.finish(response);
  bool known = last;
  if (store_.next == kNever) known |= plan(store_, 0); // it may have waited for this credit
  return known;
}

/// The first bursts of the queue leave it; true if the last of them is its command's.
inline bool MemorySystem::take(Ring<Request> &queue, std::uint64_t bursts) const {
  for (;;) {
    Request &front = queue.front();
    if (bursts < front.count) {
      front.arrivals.first = channel_.at(front.arrivals, bursts);
      front.count -= bursts;
      return false;
    }
    queue.pop();
    bursts -= front.count;
    if (bursts == 0) return front.last;
  }
}

/// Bursts at the head of the queue, like one of that size, that are there when the channel is free, to the end of their
/// command at most. Entries that are there become one: when they came makes no difference any more.
inline std::uint64_t MemorySystem::there(Ring<Request> &queue, const BurstSize &size) const {
  const std::uint64_t now = channel_.free().cycle;
  if (queue.empty() || queue.front().fetch || !(queue.front().size == size)) return 0;
  for (;;) {
    const Request &front = queue.front();
    const std::uint64_t count = channel_.count_until(front.arrivals, now, front.count);
    if (count < front.count || front.last || queue.size() == 1) return count;
    Request &next = queue.second();
    if (next.fetch || !(next.size == size)) return count;
    const std::uint64_t more = channel_.count_until(next.arrivals, now, next.count);
    if (more < next.count) return count + more;
    next.arrivals = {front.arrivals.first, {}};
    next.count += count;
    queue.pop();
  }
}

/// Serves further bursts of a side, like the one that was served last, before cycle `horizon`. Returns their number.
///
/// Nothing that would have to be known by then may come of it: not that a command's last burst is issued, which lets
/// the next one start. The last burst either waits for a credit, which as many answers as credits lack for it do not
/// give sooner, or is not issued before the next one.
inline std::uint64_t MemorySystem::serve_more(bool store, const BurstSize &size, std::uint64_t horizon) {
  Side &s = side(store);
  std::uint64_t until = std::min(horizon, side(!store).next), most = kNever;
  if (s.bursts.active()) {
    if (s.bursts.rows() > s.credits.known())
      most = s.bursts.rows() - s.credits.known() - 1;
    else
      until = std::min(until, s.next);
  }
  const std::uint64_t count = std::min(there(store ? writes_ : reads_, size), most);
  return channel_.serve_alike(size.accesses, count, first_arrival(store ? reads_ : writes_), until);
}

/// Cycle in which a read's last beat comes, or a write's response: one a cycle, in order.
inline std::uint64_t MemorySystem::answer_of(const BurstSize &size, bool store,
                                             const DramChannel::Service &service) const {
  const std::uint64_t available = channel_.answer_cycle(service.end);
  if (alike_) return available; // the channel takes as long as the bus, from one answer to the next, too
  return store ? std::max(available, response_channel_) : beat_cycle(size, service, size.beats - 1U);
}

/// A choice of the DRAM, and those after it that are the same.
bool MemorySystem::serve(const DramChannel::Waiting &first, std::uint64_t horizon) {
  const DramChannel::Choice choice = channel_.choose(first);
  const bool store = choice.direction == DramChannel::Direction::kWrite;
  Ring<Request> &queue = store ? writes_ : reads_;
  const BurstSize size = queue.front().size;
  const bool fetch = queue.front().fetch;
  bool last = take(queue, 1);
  const DramChannel::Service service = channel_.serve(choice, first, size.accesses);
  if (fetch) return answer_fetch(size, service);
  std::uint64_t bursts = 1, answer = answer_of(size, store, service);
  BurstCredits &credits = side(store).credits;
  const std::uint64_t more = alike_ && !last ? serve_more(store, size, horizon) : 0;
  if (more == 0) {
    credits.answer(answer);
  } else {
    last = take(queue, more);
    bursts += more;
    credits.answer(Pace{service.end, channel_.service(size.accesses)}.later(latency_), bursts);
    answer = channel_.answer_cycle(channel_.free());
  }
  if (store) return answer_stores(answer, last);
  const std::uint64_t beats = every_beat_ ? follow_beats(size, service) : bursts * size.beats;
  totals_.read_beats += beats;
  if (every_beat_) totals_.read_bytes += count(load_, static_cast<std::uint32_t>(beats));
  return answer_loads(answer, last);
}

/// The pace at which a side issues its next bursts, the first of them in cycle `issue`, with credits of one run.
/// Reduces `most` to those that keep to it.
MemorySystem::Pace MemorySystem::issue_pace(Side &s, std::uint64_t issue, std::uint64_t &most) const {
  const BurstCredits::Run &run = s.credits.next(issue, channel_);
  const Pace &credits = run.cycles;
  most = std::min(most, run.count);
  if (credits.first.ceil() == issue) return credits; // these are a cycle apart at least: each burst waits for its own
  if (credits.step.cycle > 0)                        // one a cycle, as long as credits are there by then
    most = channel_.count_until({credits.first, {credits.step.cycle - 1, credits.step.ticks}}, issue, most);
  return {{issue, 0}, {1, 0}};
}

/// offer_load() for whole rows of a tile: what happens most of the time, in a few steps for many bursts.
void MemorySystem::offer_rows(std::uint64_t until) {
  if (fetch_in_mux_ >= load_.next) until = std::min(until, fetch_in_mux_);
  while (load_.next < until) {
    std::uint64_t count = load_.bursts.rows_alike();
    if (count == 0) return;
    const Pace offers = issue_pace(load_, load_.next - latency::kLoadBurstToMux, count).later(latency::kLoadBurstToMux);
    count = channel_.count_until(offers, until - 1, count);
    load_.bursts.skip_rows(static_cast<std::uint32_t>(count));
    const BurstSize &size = load_.bursts.row();
    reads_.push({offers.later(latency::kMuxToBus), count, size, false, false});
    totals_.read_accesses += count * size.accesses;
    load_.credits.issue(count, channel_);
    load_.earliest = channel_.at(offers, count - 1).ceil();
    plan(load_, latency::kLoadBurstToMux);
  }
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
  while (store_.next < until) {
    std::uint64_t n = store_.bursts.rows_alike();
    if (n == 0) return;
    const Pace issues = issue_pace(store_, store_.next, n);
    n = channel_.count_until(issues, until - 1, n);
    const BurstSize &size = store_.bursts.row();
    // Beats are read one a cycle, of a burst when it is issued or behind those of the one before.
    const DramChannel::Instant beats{size.beats, 0};
    const std::uint64_t own = store_.next + latency::kStoreBurstToRead,
                        last_beat = beats.cycle + latency::kReadToBus - 1;
    Pace arrivals{{std::max(own, store_read_) + last_beat, 0}, beats};
    if (beats < issues.step) {
      if (own >= store_read_)
        arrivals = issues.later(latency::kStoreBurstToRead + last_beat);
      else
        n = channel_.count_until(
            {issues.later(latency::kStoreBurstToRead).first, {issues.step.cycle - beats.cycle, issues.step.ticks}},
            store_read_, n);
    }
    store_.bursts.skip_rows(static_cast<std::uint32_t>(n));
    writes_.push({arrivals, n, size, false, false});
    store_read_ = channel_.at(arrivals, n - 1).ceil() - latency::kReadToBus + 1;
    totals_.write_beats += n * size.beats;
    totals_.write_accesses += n * size.accesses;
    store_.credits.issue(n, channel_);
    store_.earliest = channel_.at(issues, n - 1).ceil() + latency::kStoreBurstToBurst;
    plan(store_, 0);
  }
}

/// Issues the stores before cycle `until`; true as from advance().
bool MemorySystem::issue_stores(std::uint64_t until) {
  while (store_.next < until) {
    if (!every_beat_) issue_rows(until);
    if (store_.next < until && issue_store()) return true;
  }
  return false;
}

// Not every event is played in the order of cycles; that would cost more than the events. What must hold:
// - The DRAM chooses only when all that arrives until then is known. An address offered in a cycle arrives later.
// - A load is offered only when no fetch burst can go before it: the next one is issued at the horizon, or later than
//   an answer that the DRAM has yet to give, which takes its latency at least.
// - Stores wait for nobody but their own answers.
bool MemorySystem::advance(std::uint64_t horizon) {
  for (;;) {
    if (store_.next < horizon && issue_stores(horizon)) return true;
    const std::uint64_t choice = channel_.next_choice(waiting()).cycle;
    const std::uint64_t offers = choice == DramChannel::kNone ? horizon : std::min(horizon, choice + latency_ + 1);
    if (load_.next < offers && offer_loads(offers)) return true;
    DramChannel::Waiting first = waiting();
    if (channel_.next_choice(first).cycle >= horizon) return false;
    do {
      if (serve(first, horizon)) return true;
      first = waiting();
    } while (channel_.next_choice(first).cycle < std::min({horizon, load_.next, store_.next}));
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
