#include "sw_models/timing/memory_system.hpp"

#include "sw_models/timing/latencies.hpp"

#include <algorithm>

namespace gradweave::timing {

namespace {

enum Owner : std::uint64_t { kLoad, kFetch, kStore };

unsigned log2_of(std::uint32_t power) {
  unsigned shift = 0;
  while ((1U << shift) < power)
    ++shift;
  return shift;
}

} // namespace

MemorySystem::MemorySystem(const NpuConfig &npu, std::uint32_t fetch_word_beats, std::uint64_t limit)
    : dram_(npu.dram, npu.bus_bytes), limit_(limit), latency_(npu.dram.latency_cycles), bus_bytes_(npu.bus_bytes),
      fetch_word_beats_(fetch_word_beats), beat_shift_(log2_of(npu.bus_bytes)), load_(npu.outstanding),
      store_(npu.outstanding) {}

void MemorySystem::start(bool store, std::uint64_t cycle, const isa::DmaCommand &command) {
  Side &s = side(store);
  s.order.start_transfer();
  s.bursts.start(command, beat_shift_);
  s.earliest = cycle + latency::kStartToBurst;
  s.bursts_done = kNever;
  if (store)
    plan_store();
  else if (load_.next == kNever)
    plan_load();
}

/// Issues the next burst, which then waits for the read mux; not yet if its credit is still unknown. True if it is the
/// command's last.
bool MemorySystem::plan_load() {
  load_.next = kNever;
  if (!load_.bursts.active()) return false;
  const std::uint64_t issue = std::max(load_.earliest, load_.credits.available());
  if (issue == kNever) return false;
  const BurstWalker &b = load_.bursts;
  const BurstCredits::Burst burst{b.beats(), b.bytes(), b.offset(), b.last()};
  load_.credits.issue(burst);
  load_.bursts.next();
  load_.next = issue + latency::kLoadBurstToMux;
  load_beats_ = burst.beats;
  if (!burst.last) return false;
  load_.bursts_done = issue + latency::kBurstToStart;
  return true;
}

bool MemorySystem::plan_store() {
  const std::uint64_t issue = std::max(store_.earliest, store_.credits.available());
  store_.next = issue;
  if (issue == kNever || !store_.bursts.last()) return false;
  store_.bursts_done = issue + latency::kBurstToStart;
  return true;
}

bool MemorySystem::offer_load() {
  const std::uint64_t cycle = load_.next;
  if (cycle == fetch_in_mux_) { // fetch goes first
    load_.next = cycle + 1;
    return false;
  }
  dram_.push(DramTiming::Direction::kRead, cycle + latency::kMuxToBus, load_beats_, kLoad);
  load_.earliest = std::max(load_.earliest, cycle); // its register is free
  return plan_load();
}

bool MemorySystem::issue_store() {
  const std::uint64_t cycle = store_.next;
  const BurstWalker &b = store_.bursts;
  const BurstCredits::Burst burst{b.beats(), b.bytes(), b.offset(), b.last()};
  const std::uint64_t read = std::max(cycle + latency::kStoreBurstToRead, store_read_);
  store_read_ = read + burst.beats;
  const std::uint64_t first_beat = read + latency::kReadToBus, last_beat = first_beat + burst.beats - 1;
  dram_.push(DramTiming::Direction::kWrite, last_beat, burst.beats, kStore);
  const std::uint64_t until = std::min(last_beat + 1, limit_ + (limit_ != kNever));
  const auto beats = static_cast<std::uint32_t>(until > first_beat ? until - first_beat : 0);
  totals_.write_beats += beats;
  totals_.write_bytes += bytes_of(burst, beats);
  store_.credits.issue(burst);
  store_.bursts.next();
  store_.earliest = cycle + latency::kStoreBurstToBurst;
  if (store_.bursts.active()) return plan_store();
  store_.next = kNever;
  return false;
}

void MemorySystem::fetch(std::uint64_t cycle, std::uint32_t beats) {
  if (load_.next == cycle) offer_load(); // its address goes ahead of this one
  fetch_in_mux_ = cycle + latency::kFetchToMux;
  dram_.push(DramTiming::Direction::kRead, cycle + latency::kFetchToBus, beats, kFetch);
}

/// Beats come in order, one a cycle at most, each as soon as it is available. It is enough to look at three beats,
/// since between them the times ascend by the bus rate or by the DRAM's.
std::uint64_t MemorySystem::beat_cycle(const DramTiming::Grant &grant, std::uint32_t beat) const {
  return std::max({dram_.read_beat_cycle(grant, 0) + beat, dram_.read_beat_cycle(grant, beat), read_channel_ + beat});
}

std::uint32_t MemorySystem::beats_until_limit(const DramTiming::Grant &grant) const {
  std::uint32_t beats = grant.beats;
  while (beats > 0 && beat_cycle(grant, beats - 1) > limit_)
    --beats;
  return beats;
}

std::uint32_t MemorySystem::bytes_of(const BurstCredits::Burst &burst, std::uint32_t beats) const {
  return beats == 0 ? 0 : std::min(burst.bytes, beats * bus_bytes_ - burst.offset);
}

bool MemorySystem::answer_load(const DramTiming::Grant &grant) {
  const std::uint64_t last_beat = beat_cycle(grant, grant.beats - 1);
  const BurstCredits::Burst &burst = load_.credits.oldest();
  const std::uint32_t beats = last_beat <= limit_ ? grant.beats : beats_until_limit(grant);
  totals_.read_beats += beats;
  totals_.read_bytes += bytes_of(burst, beats);
  read_channel_ = last_beat + 1;
  const bool last = burst.last;
  load_.credits.answer(last_beat);
  if (last) load_.order.finish(last_beat);
  bool known = last;
  if (load_.next == kNever) known |= plan_load(); // it may have waited for this credit
  return known;
}

bool MemorySystem::answer_fetch(const DramTiming::Grant &grant) {
  fetched_.words = grant.beats / fetch_word_beats_;
  for (std::uint32_t word = 0; word < fetched_.words; ++word)
    fetched_.cycle[word] = beat_cycle(grant, (word + 1) * fetch_word_beats_ - 1);
  totals_.fetch_beats += fetched_.cycle[fetched_.words - 1] <= limit_ ? grant.beats : beats_until_limit(grant);
  read_channel_ = fetched_.cycle[fetched_.words - 1] + 1;
  return true;
}

bool MemorySystem::answer_store(const DramTiming::Grant &grant) {
  const std::uint64_t response = std::max(dram_.write_response_cycle(grant), response_channel_);
  response_channel_ = response + 1;
  const bool last = store_.credits.oldest().last;
  store_.credits.answer(response);
  if (last) store_.order.finish(response);
  bool known = last;
  if (store_.next == kNever && store_.bursts.active()) known |= plan_store();
  return known;
}

bool MemorySystem::serve() {
  const DramTiming::Grant &grant = *dram_.advance(dram_.next_choice_cycle());
  if (grant.id == kLoad) return answer_load(grant);
  return grant.id == kStore ? answer_store(grant) : answer_fetch(grant);
}

// Not every event is played in the order of cycles; that would cost more than the events. What must hold:
// - The DRAM chooses only when all that arrives until then is known. An address offered in a cycle arrives later.
// - A load is offered only when no fetch burst can go before it: the next one is issued at the horizon, or a while
// after
//   an answer that the DRAM has yet to give, which takes its latency at least.
// - Stores wait for nobody but their own answers.
bool MemorySystem::advance(std::uint64_t horizon) {
  for (;;) {
    while (store_.next < horizon)
      if (issue_store()) return true;
    const std::uint64_t choice = dram_.next_choice_cycle();
    const std::uint64_t offers = choice == DramTiming::kNoChoice ? horizon : std::min(horizon, choice + latency_ + 1);
    while (load_.next < offers)
      if (offer_load()) return true;
    if (dram_.next_choice_cycle() >= horizon) return false;
    do
      if (serve()) return true;
    while (dram_.next_choice_cycle() < std::min({horizon, load_.next, store_.next}));
  }
}

FetchedWords MemorySystem::take_fetched() {
  const FetchedWords fetched = fetched_;
  fetched_.words = 0;
  return fetched;
}

} // namespace gradweave::timing
