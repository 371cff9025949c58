// The scratchpad alone: random accesses on all ports of all cores in every cycle, against a model of one element at a
// time.
#include GW_MODEL_HEADER

#include "isa_defs.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <type_traits>
#include <vector>

namespace {

constexpr std::uint32_t kLanes = GW_LANES, kCols = GW_COLS, kCores = GW_CORES, kBus = GW_BUS, kRows = GW_SPM_ROWS;
constexpr std::uint32_t kRowBits = gradweave::isa::field::SPM_ROW.width; ///< of a row, and of a lane
constexpr std::uint32_t kLaneBits = gradweave::isa::field::SPM_ROT.width;

/// Sets bits of a Verilated port of any width.
template <class Port> void set_bits(Port &port, std::size_t lsb, std::size_t width, std::uint64_t value) {
  for (std::size_t i = lsb; i < lsb + width; ++i) {
    const std::uint64_t bit = value >> (i - lsb) & 1U;
    if constexpr (std::is_integral_v<Port>)
      port = static_cast<Port>((port & ~(std::uint64_t{1} << i)) | bit << i);
    else
      port[i / 32] = (port[i / 32] & ~(1U << (i % 32))) | static_cast<std::uint32_t>(bit) << (i % 32);
  }
}

template <class Port> std::uint32_t word_of(const Port &port, std::size_t index) {
  if constexpr (std::is_integral_v<Port>)
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(port) >> (32 * index));
  else
    return port[index];
}

struct Access {
  bool en = false, col = false, fp32 = false;
  std::uint32_t addr = 0, step = 0, split = 0, rot = 0, first = 0, count = 0; ///< step: rows to the next panel

  /// Row and lane of element e; panels beyond the second only occur on the DMA side.
  std::uint32_t row(std::uint32_t e) const {
    return col ? addr + e : e < split ? addr : addr + (1 + (e - split) / kLanes) * step;
  }
  std::uint32_t lane(std::uint32_t e) const { return (rot + e) % kLanes; }
};

using Line = std::vector<std::uint32_t>;
/// By port a, b, c and core.
using LinePorts = std::array<std::array<std::optional<Line>, kCores>, 3>;

struct Write {
  Access access;
  std::vector<std::uint32_t> data;
};

class SpmPorts : public testing::Test {
protected:
  SpmPorts() : rows_(std::size_t{kRows} * kLanes) {
    const char *s = std::getenv("GW_SEED");
    const std::uint64_t seed = s != nullptr ? std::strtoull(s, nullptr, 0) : 1;
    fmt::print("seed {} (GW_SEED)\n", seed);
    rng_.seed(seed);
  }
  std::uint32_t pick(std::uint32_t lo, std::uint32_t hi) {
    return lo + static_cast<std::uint32_t>(rng_() % (hi - lo + 1));
  }
  std::uint16_t &element(std::uint32_t row, std::uint32_t lane) { return rows_[std::size_t{row} * kLanes + lane]; }
  std::uint32_t get(bool fp32, std::uint32_t row, std::uint32_t lane) {
    return fp32 ? element(row, lane) | std::uint32_t{element(row + 1, lane)} << 16U : element(row, lane);
  }
  void put(bool fp32, std::uint32_t row, std::uint32_t lane, std::uint32_t value) {
    element(row, lane) = static_cast<std::uint16_t>(value);
    if (fp32) element(row + 1, lane) = static_cast<std::uint16_t>(value >> 16U);
  }
  /// A row or column access of the array side that stays inside the scratchpad.
  Access array_access(bool fp32, bool may_be_col) {
    Access a;
    a.en = pick(0, 3) != 0;
    a.fp32 = fp32;
    a.col = may_be_col && pick(0, 1) != 0;
    a.rot = pick(0, kLanes - 1);
    a.split = pick(1, kLanes);
    a.step = 2 * pick(0, 8);
    a.addr = a.col ? pick(0, kRows - kLanes) : pick(0, (kRows - 20) / 2) * 2;
    if (!fp32 && !a.col) a.addr += pick(0, 1);
    a.count = pick(1, kCols);
    return a;
  }
  Access beat() {
    Access a = array_access(pick(0, 1) != 0, false);
    const std::uint32_t slots = kBus / (a.fp32 ? 4 : 2);
    a.first = pick(0, slots - 1);
    a.count = pick(1, slots - a.first);
    const std::uint32_t panels = 1 + slots / kLanes;
    a.step = 2 * pick(0, (kRows - 2 - a.addr) / panels / 2);
    return a;
  }
  /// A line_t of gw_isa_pkg: addr1, addr0, rot and jj, from the top.
  template <class En, class At> void drive_line(std::uint32_t core, const Access &a, En &en, At &at) {
    const std::size_t lsb = std::size_t{2} * (kRowBits + kLaneBits) * core;
    set_bits(en, core, 1, a.en);
    set_bits(at, lsb + 2 * kLaneBits + kRowBits, kRowBits, a.addr + a.step);
    set_bits(at, lsb + 2 * kLaneBits, kRowBits, a.addr);
    set_bits(at, lsb + kLaneBits, kLaneBits, a.rot);
    set_bits(at, lsb, kLaneBits, kLanes - a.split);
  }
  void drive_reads(std::uint32_t core, LinePorts &read) {
    const std::array<Access, 3> reads{array_access(false, true), array_access(false, true), array_access(true, false)};
    drive_line(core, reads[0], model_->a_en_i, model_->a_at_i);
    drive_line(core, reads[1], model_->b_en_i, model_->b_at_i);
    drive_line(core, reads[2], model_->c_en_i, model_->c_at_i);
    set_bits(model_->a_col_i, core, 1, reads[0].col);
    set_bits(model_->b_col_i, core, 1, reads[1].col);
    for (std::size_t port = 0; port < reads.size(); ++port)
      if (reads[port].en) read[port][core] = elements(reads[port], kLanes);
  }
  /// To few rows, so that cores often write halves of the same word.
  void drive_write(std::uint32_t core, std::vector<Write> &writes) {
    Access w = array_access(pick(0, 1) != 0, false);
    if (pick(0, 1) != 0) w.addr = w.fp32 ? 4 : 4 + pick(0, 1);
    drive_line(core, w, model_->w_en_i, model_->w_at_i);
    set_bits(model_->w_fp32_i, core, 1, w.fp32);
    set_bits(model_->w_count_i, std::size_t{kLaneBits + 1} * core, kLaneBits + 1, w.count);
    Line line;
    for (std::uint32_t e = 0; e < kCols; ++e) {
      line.push_back(static_cast<std::uint32_t>(rng_()));
      set_bits(model_->w_line_i, 32 * (std::size_t{kCols} * core + e), 32, line.back());
    }
    writes.push_back({w, line});
  }
  void drive_beats(const Access &ld, const Access &st) {
    model_->ld_en_i = ld.en, model_->ld_fp32_i = ld.fp32, model_->ld_addr_i = ld.addr, model_->ld_pstride_i = ld.step;
    model_->ld_split_i = static_cast<std::uint16_t>(ld.split), model_->ld_lane_i = static_cast<std::uint16_t>(ld.rot);
    model_->ld_first_i = static_cast<std::uint16_t>(ld.first),
    model_->ld_count_i = static_cast<std::uint16_t>(ld.count);
    model_->st_en_i = st.en, model_->st_fp32_i = st.fp32, model_->st_addr_i = st.addr, model_->st_pstride_i = st.step;
    model_->st_split_i = static_cast<std::uint16_t>(st.split), model_->st_lane_i = static_cast<std::uint16_t>(st.rot);
    model_->st_first_i = static_cast<std::uint16_t>(st.first),
    model_->st_count_i = static_cast<std::uint16_t>(st.count);
  }
  std::vector<std::uint32_t> drive_loaded(const Access &ld) {
    const std::uint32_t bits = ld.fp32 ? 32 : 16;
    std::vector<std::uint32_t> loaded;
    for (std::uint32_t e = 0; e < ld.count; ++e) {
      loaded.push_back(static_cast<std::uint32_t>(rng_()) >> (32 - bits));
      set_bits(model_->ld_data_i, std::size_t{bits} * (ld.first + e), bits, loaded.back());
    }
    return loaded;
  }
  /// What the scratchpad holds where `a` goes.
  std::vector<std::uint32_t> elements(const Access &a, std::uint32_t count) {
    std::vector<std::uint32_t> held;
    for (std::uint32_t e = 0; e < count; ++e)
      held.push_back(get(a.fp32, a.row(e), a.lane(e)));
    return held;
  }
  std::vector<std::uint32_t> stored_elements(const Access &st) {
    std::vector<std::uint32_t> got;
    for (std::uint32_t slot = st.first; slot < st.first + st.count; ++slot)
      got.push_back(st.fp32 ? word_of(model_->st_data_o, slot)
                            : word_of(model_->st_data_o, slot / 2) >> (16 * (slot % 2)) & 0xFFFFU);
    return got;
  }
  std::uint32_t line_element(std::size_t port, std::size_t at) {
    return port == 0   ? word_of(model_->a_line_o, at)
           : port == 1 ? word_of(model_->b_line_o, at)
                       : word_of(model_->c_line_o, at);
  }
  /// The first element that a line port shows and should not; empty: none.
  std::string wrong_line(const LinePorts &shown) {
    for (std::size_t port = 0; port < shown.size(); ++port)
      for (std::uint32_t core = 0; core < kCores; ++core)
        for (std::uint32_t e = 0; shown[port][core] && e < kLanes; ++e)
          if (const std::uint32_t got = line_element(port, std::size_t{kLanes} * core + e);
              got != (*shown[port][core])[e])
            return fmt::format("port {} core {} element {}: {:#x}, not {:#x}", port, core, e, got,
                               (*shown[port][core])[e]);
    return {};
  }
  void clock() {
    model_->clk_i = 0;
    model_->eval();
    model_->clk_i = 1;
    model_->eval();
  }

  std::mt19937_64 rng_;
  std::vector<std::uint16_t> rows_;
  std::unique_ptr<GW_MODEL> model_ = std::make_unique<GW_MODEL>();
};

TEST_F(SpmPorts, AllPortsInEveryCycle) {
  // What each core's line ports show; the lane memories' outputs follow a cycle earlier.
  LinePorts arriving{}, shown{};
  for (int cycle = 0; cycle < 4000; ++cycle) {
    LinePorts read{};
    std::vector<Write> writes;
    for (std::uint32_t core = 0; core < kCores; ++core) {
      drive_reads(core, read);
      drive_write(core, writes);
    }
    const Access ld = beat(), st = beat();
    drive_beats(ld, st);
    writes.push_back({ld, drive_loaded(ld)});
    const std::vector<std::uint32_t> stored = elements(st, st.count);

    clock();
    for (std::size_t port = 0; port < arriving.size(); ++port)
      for (std::uint32_t core = 0; core < kCores; ++core)
        if (arriving[port][core]) shown[port][core] = arriving[port][core];
    ASSERT_EQ(wrong_line(shown), "") << "cycle " << cycle;
    arriving = read;
    if (st.en) ASSERT_EQ(stored_elements(st), stored) << "cycle " << cycle;
    for (const Write &w : writes)
      for (std::uint32_t e = 0; w.access.en && e < w.access.count; ++e)
        put(w.access.fp32, w.access.row(e), w.access.lane(e), w.data[e]);
  }
}

} // namespace
