#include "axi_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gradweave::dma_test {

bool WriteData::same_payload(const WriteData &o) const {
  if (valid != o.valid || last != o.last || strobe != o.strobe) return false;
  for (std::uint32_t i = 0; i < kMaxBus; ++i)
    if (strobe[i] && data[i] != o.data[i]) return false;
  return true;
}

AxiMemory::AxiMemory(AxiOptions options, Memory &memory, std::uint64_t seed)
    : options_(std::move(options)), memory_(memory), rng_(seed) {}

void AxiMemory::problem(const std::string &text) { problems.push_back(fmt::format("cycle {}: {}", cycle, text)); }

bool AxiMemory::held_back() {
  return options_.stall > 0 && std::uniform_real_distribution<double>(0, 1)(rng_) < options_.stall;
}

std::uint8_t AxiMemory::response_of(bool write, std::uint64_t addr, std::uint64_t bytes) const {
  for (const Fault &f : options_.faults)
    if (f.write == write && addr < f.addr + f.bytes && f.addr < addr + bytes) return f.response;
  return 0;
}

void AxiMemory::drive() {
  ar_ready = !held_back();
  aw_ready = !held_back();
  w_ready = !held_back();

  // Data of different IDs may come interleaved, beat by beat.
  r = ReadBeat{};
  bool first = (rng_() & 1U) != 0;
  for (bool id : {first, !first}) {
    if (r.valid || reads_[id].empty() || reads_[id].front().due > cycle || held_back()) continue;
    const Read &read = reads_[id].front();
    r.valid = true;
    r.id = id;
    r.addr = read.address.addr + std::uint64_t{read.beat} * options_.bus_bytes;
    r.last = read.beat == read.address.len;
    r.response = response_of(false, r.addr, options_.bus_bytes);
    for (std::uint32_t i = 0; i < options_.bus_bytes; ++i)
      r.data[i] = memory_.read(r.addr + i);
  }

  b_valid = !writes_.empty() && writes_.front().beats > writes_.front().address.len && writes_.front().due <= cycle &&
            !held_back();
  b_response = 0;
  if (b_valid) {
    const Address &a = writes_.front().address;
    b_response = response_of(true, a.addr, (a.len + 1ULL) * options_.bus_bytes);
  }
}

void AxiMemory::check_address(const char *channel, const Address &now, Address &before, bool ready) {
  if (before.valid && !(now == before)) problem(fmt::format("{} changed while it waited", channel));
  before = now;
  if (!now.valid) return;
  if (now.addr % options_.bus_bytes != 0) problem(fmt::format("{} address {:#x} is not aligned", channel, now.addr));
  if (now.addr % 4096 + (now.len + 1ULL) * options_.bus_bytes > 4096)
    problem(fmt::format("{} burst at {:#x} of {} beats crosses 4 KB", channel, now.addr, now.len + 1));
  if (ready) before = Address{};
}

void AxiMemory::take_data(Write &write, const WriteData &w) {
  std::uint64_t addr = write.address.addr + std::uint64_t{write.beats} * options_.bus_bytes;
  for (std::uint32_t i = 0; i < options_.bus_bytes; ++i)
    if (w.strobe[i]) memory_.write(addr + i, w.data[i]);
  if (w.last != (write.beats == write.address.len))
    problem(fmt::format("WLAST is {} at beat {} of {}", w.last, write.beats, write.address.len + 1));
  ++write.beats;
  write.due = cycle + 1 + options_.latency;
}

void AxiMemory::clock(const Address &ar, const Address &aw, const WriteData &w) {
  check_address("AR", ar, ar_before_, ar_ready);
  bool new_offer = aw.valid && !aw_before_.valid;
  check_address("AW", aw, aw_before_, aw_ready);
  if (new_offer) ++bursts_offered_;

  if (w_before_.valid && !w.same_payload(w_before_)) problem("W changed while it waited");
  w_before_ = w.valid && !w_ready ? w : WriteData{};
  if (w.valid && !w_inside_ && bursts_begun_ == bursts_offered_) problem("W comes before its AW");

  if (r.valid && ++reads_[r.id].front().beat > reads_[r.id].front().address.len) reads_[r.id].pop_front();
  if (b_valid) writes_.pop_front();

  if (ar.valid && ar_ready) {
    reads_[ar.id].push_back({ar, cycle + 1 + options_.latency, 0});
    if (ar.id) loads.push_back({ar.addr, ar.len + 1U, 0});
    if (reads_[1].size() > options_.outstanding) problem("too many read bursts outstanding");
  }
  if (aw.valid && aw_ready) {
    writes_.push_back({aw, 0, 0});
    stores.push_back({aw.addr, aw.len + 1U, 0});
    if (writes_.size() > options_.outstanding) problem("too many write bursts outstanding");
  }
  if (w.valid && w_ready) {
    if (!w_inside_) ++bursts_begun_;
    w_inside_ = !w.last;
    beats_.push_back(w);
  }
  // Data belongs to the first accepted burst that still lacks some.
  for (std::size_t i = 0; i < writes_.size() && !beats_.empty(); ++i) {
    while (writes_[i].beats <= writes_[i].address.len && !beats_.empty()) {
      take_data(writes_[i], beats_.front());
      beats_.pop_front();
    }
  }
  most_loads = std::max(most_loads, reads_[1].size());
  most_stores = std::max(most_stores, writes_.size());
  ++cycle;
}

void AxiMemory::forget_offers() {
  ar_before_ = aw_before_ = Address{};
  w_before_ = WriteData{};
  bursts_begun_ = bursts_offered_;
}

} // namespace gradweave::dma_test
