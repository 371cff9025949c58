// An AXI4 memory for tests: answers bursts after a latency, holds channels back at random, and notes every breach of
// the protocol by the master.
#pragma once

#include "dma_reference.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace gradweave::dma_test {

constexpr std::uint32_t kMaxBus = 2048; ///< bytes of the widest beat

struct Fault {
  bool write = false;
  std::uint64_t addr = 0, bytes = 0;
  std::uint8_t response = 2; ///< 2: SLVERR, 3: DECERR
};

struct AxiOptions {
  std::uint32_t bus_bytes = 0;
  std::uint32_t outstanding = 0; ///< what the master may have unanswered
  std::uint32_t latency = 0;     ///< cycles from the address to the first beat or, for writes, from the data to B
  double stall = 0;              ///< probability per channel and cycle that memory holds back
  std::vector<Fault> faults;
};

/// Payload of AR or AW as the master drives it.
struct Address {
  bool valid = false;
  bool id = false;
  std::uint64_t addr = 0;
  std::uint8_t len = 0;
  bool operator==(const Address &o) const { return valid == o.valid && id == o.id && addr == o.addr && len == o.len; }
};

struct WriteData {
  bool valid = false, last = false;
  std::array<std::uint8_t, kMaxBus> data{};
  std::array<bool, kMaxBus> strobe{};
  /// Bytes without strobe may change while the beat waits.
  bool same_payload(const WriteData &o) const;
};

struct ReadBeat {
  bool valid = false, id = false, last = false;
  std::uint8_t response = 0;
  std::uint64_t addr = 0; ///< of the beat
  std::array<std::uint8_t, kMaxBus> data{};
};

class AxiMemory {
public:
  AxiMemory(AxiOptions options, Memory &memory, std::uint64_t seed);

  /// Chooses what memory drives in this cycle: the ready and valid signals below.
  void drive();
  bool ar_ready = false, aw_ready = false, w_ready = false;
  ReadBeat r;
  bool b_valid = false;
  std::uint8_t b_response = 0;

  /// The clock edge: takes what the master drives, checks it against the protocol.
  void clock(const Address &ar, const Address &aw, const WriteData &w);
  /// The master was reset: forget what it offered.
  void forget_offers();

  /// Nothing accepted is waiting for an answer.
  bool idle() const { return reads_[0].empty() && reads_[1].empty() && writes_.empty() && beats_.empty(); }
  std::uint8_t response_of(bool write, std::uint64_t addr, std::uint64_t bytes) const;

  std::vector<Burst> loads, stores;            ///< bursts accepted (reads of ID 1, writes), index 0
  std::size_t most_loads = 0, most_stores = 0; ///< of these unanswered at a time
  std::vector<std::string> problems;
  std::uint64_t cycle = 0;

private:
  struct Read {
    Address address;
    std::uint64_t due;
    std::uint32_t beat;
  };
  struct Write {
    Address address;
    std::uint32_t beats; ///< taken
    std::uint64_t due;   ///< of the answer, once all data is taken
  };
  void check_address(const char *channel, const Address &now, Address &before, bool ready);
  void take_data(Write &write, const WriteData &w);
  void problem(const std::string &text);
  bool held_back();

  AxiOptions options_;
  Memory &memory_;
  std::mt19937_64 rng_;
  std::array<std::deque<Read>, 2> reads_;
  std::deque<Write> writes_;
  std::deque<WriteData> beats_; ///< taken ahead of their address
  Address ar_before_, aw_before_;
  WriteData w_before_;
  std::uint64_t bursts_offered_ = 0, bursts_begun_ = 0; ///< on AW, on W
  bool w_inside_ = false;                               ///< the next W beat continues a burst
};

} // namespace gradweave::dma_test
