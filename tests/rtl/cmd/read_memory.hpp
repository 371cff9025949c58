// A memory behind AXI4 read channels, cycle by cycle, with random stalls and errors; checks what is asked of it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

namespace gradweave::test {

/// Sets a Verilated port of any width from little-endian bytes.
template <class Port> void set_bytes(Port &port, const std::vector<std::uint8_t> &bytes) {
  if constexpr (std::is_integral_v<Port>) {
    port = 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
      port = static_cast<Port>((std::uint64_t{port} << 8U) | bytes[i]);
  } else {
    for (std::size_t i = 0; i < bytes.size() / 4; ++i)
      port[i] = std::uint32_t{bytes[4 * i]} | std::uint32_t{bytes[4 * i + 1]} << 8U |
                std::uint32_t{bytes[4 * i + 2]} << 16U | std::uint32_t{bytes[4 * i + 3]} << 24U;
  }
}

class ReadMemory {
public:
  struct Beat {
    std::uint64_t addr = 0;
    bool last = false;
    std::uint32_t resp = 0;
  };

  /// `stall`: probability that a channel does not move in a cycle.
  ReadMemory(std::uint32_t bus_bytes, std::uint64_t seed, double stall)
      : bus_bytes_(bus_bytes), random_(seed), stall_(stall) {}

  void write32(std::uint64_t addr, std::uint32_t value) {
    for (std::uint32_t i = 0; i < 4; ++i)
      bytes_[addr + i] = static_cast<std::uint8_t>(value >> (8 * i));
  }
  /// The beat that holds `addr` is answered with `resp` (2: SLVERR, 3: DECERR).
  void fail(std::uint64_t addr, std::uint32_t resp) { errors_[addr / bus_bytes_ * bus_bytes_] = resp; }

  /// One cycle: drives the model's ar_ready_i and r_*_i. Call before eval().
  template <class Model> void drive(Model &model) {
    model.ar_ready_i = moves();
    model.r_valid_i = !beats_.empty() && moves();
    model.r_last_i = 0;
    model.r_resp_i = 0;
    if (!model.r_valid_i) return;
    const Beat &b = beats_.front();
    std::vector<std::uint8_t> data(bus_bytes_);
    for (std::uint32_t i = 0; i < bus_bytes_; ++i) {
      const auto found = bytes_.find(b.addr + i);
      data[i] = found == bytes_.end() ? static_cast<std::uint8_t>(0xA5) : found->second;
    }
    set_bytes(model.r_data_i, data);
    model.r_last_i = b.last;
    model.r_resp_i = b.resp;
  }

  /// The end of that cycle: takes what was offered. Call after eval(), before the clock edge.
  template <class Model> void take(const Model &model) {
    if (pending_) {
      EXPECT_TRUE(model.ar_valid_o) << "ARVALID fell before ARREADY";
      EXPECT_EQ(model.ar_addr_o, pending_->first) << "ARADDR changed before ARREADY";
      EXPECT_EQ(model.ar_len_o, pending_->second) << "ARLEN changed before ARREADY";
      pending_.reset();
    }
    if (model.r_valid_i) beats_.pop_front();
    if (!model.ar_valid_o) return;
    if (model.ar_ready_i)
      accept(model.ar_addr_o, model.ar_len_o);
    else
      pending_ = std::pair(std::uint64_t{model.ar_addr_o}, std::uint32_t{model.ar_len_o});
  }

  bool idle() const { return beats_.empty() && !pending_; }
  std::uint64_t bursts() const { return bursts_; }
  std::uint64_t beats() const { return beats_asked_; }
  std::uint64_t lowest() const { return lowest_; }
  std::uint64_t highest() const { return highest_; } ///< first byte behind all that was asked for

private:
  bool moves() { return std::uniform_real_distribution<double>(0, 1)(random_) >= stall_; }

  void accept(std::uint64_t addr, std::uint32_t len) {
    const std::uint64_t bytes = std::uint64_t{bus_bytes_} * (len + 1);
    EXPECT_EQ(addr % bus_bytes_, 0U) << "burst does not begin at a beat";
    EXPECT_LE(addr % 4096 + bytes, 4096U) << "burst crosses a page";
    for (std::uint32_t i = 0; i <= len; ++i) {
      const std::uint64_t at = addr + std::uint64_t{i} * bus_bytes_;
      const auto error = errors_.find(at);
      beats_.push_back({at, i == len, error == errors_.end() ? 0 : error->second});
    }
    ++bursts_;
    beats_asked_ += len + 1;
    lowest_ = std::min(lowest_, addr);
    highest_ = std::max(highest_, addr + bytes);
  }

  std::uint32_t bus_bytes_;
  std::mt19937_64 random_;
  double stall_;
  std::map<std::uint64_t, std::uint8_t> bytes_;
  std::map<std::uint64_t, std::uint32_t> errors_;
  std::deque<Beat> beats_;
  std::optional<std::pair<std::uint64_t, std::uint32_t>> pending_;
  std::uint64_t bursts_ = 0, beats_asked_ = 0, lowest_ = ~std::uint64_t{0}, highest_ = 0;
};

} // namespace gradweave::test
