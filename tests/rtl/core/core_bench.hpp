// A Verilated compute engine on its scratchpad, random tiles in the skewed panel layout, and the arithmetic that
// results are checked against. Compiled once per configuration: GW_MODEL is the class that Verilator made.
#pragma once

#include GW_MODEL_HEADER

#include "isa/command.hpp"
#include "tests/rtl/make_model.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace gradweave::core_test {

constexpr std::uint32_t kRows = GW_ROWS, kCols = GW_COLS, kSpmRows = GW_SPM_ROWS;
constexpr std::uint32_t kLanes = kRows > kCols ? kRows : kCols;
/// Longest side of a random tile: several panels, or blocks, if these are small.
constexpr std::uint32_t kMost = std::min(2 * kLanes + 3, kLanes + 13);

/// Repetitions of a random test: fewer where each moves many elements.
constexpr int cases(int usual) { return kLanes < 32 ? usual : std::max(1, usual / 60); }

inline float to_float(std::uint32_t bits) {
  float f = 0;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

inline std::uint32_t mac(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  float r = std::fmaf(to_float(a << 16), to_float(b << 16), to_float(c));
  std::uint32_t bits = 0;
  std::memcpy(&bits, &r, sizeof bits);
  return std::isnan(r) ? 0x7FC00000U : bits;
}

inline std::uint32_t round_bf16(std::uint32_t x) {
  if (std::isnan(to_float(x))) return 0x7FC0;
  return (x + 0x7FFF + ((x >> 16) & 1U)) >> 16;
}

inline std::uint32_t add(std::uint32_t a, std::uint32_t b) {
  const float r = to_float(a) + to_float(b);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &r, sizeof bits);
  return std::isnan(r) ? 0x7FC00000U : bits;
}

using Op = decltype(isa::Decoded::op);

class Core {
public:
  Core() {
    model_->clear_i = model_->start_valid_i = model_->head_valid_i = model_->put_i = model_->get_i = 0;
    tick();
    tick();
    model_->rst_ni = 1;
    tick();
  }
  void tick() {
    model_->clk_i = 0;
    model_->eval();
    EXPECT_EQ(model_->oldest_valid_o, model_->busy_o);
    const std::size_t oldest = done_.size();
    if (model_->done_valid_o) done_.push_back(model_->done_index_o);
    if (model_->busy_o) {
      EXPECT_EQ(model_->oldest_index_o, oldest) << "commands complete in order";
      ++busy_cycles_;
      EXPECT_EQ(__builtin_popcount(model_->counts_o), 1) << "each cycle counts once";
      add_ += (model_->counts_o >> 6) & 1U;
      active_ += (model_->counts_o >> 5) & 1U;
      bank_ += (model_->counts_o >> 4) & 1U;
    }
    model_->clk_i = 1;
    model_->eval();
  }
  void put(bool fp32, std::uint32_t row, std::uint32_t lane, std::uint32_t value) {
    access(fp32, row, lane);
    model_->data_i = value;
    model_->put_i = 1;
    tick();
    model_->put_i = 0;
  }
  std::uint32_t get(bool fp32, std::uint32_t row, std::uint32_t lane) {
    access(fp32, row, lane);
    model_->get_i = 1;
    tick();
    model_->get_i = 0;
    return fp32 ? model_->data_o : model_->data_o & 0xFFFFU;
  }
  /// Feeds the commands as fast as they are taken; returns when all are done.
  void run(const std::vector<Op> &commands) {
    std::size_t next = 0;
    done_.clear();
    for (std::uint64_t guard = 0; done_.size() < commands.size(); ++guard) {
      ASSERT_LT(guard, 2'000'000U) << "the engine hangs";
      feed(commands, next);
      tick();
    }
    model_->start_valid_i = 0;
    for (std::size_t i = 0; i < done_.size(); ++i)
      EXPECT_EQ(done_[i], i);
  }
  /// The same for so many cycles; in the last of them everything is cleared, or reset.
  void run_and_forget(const std::vector<Op> &commands, std::uint32_t cycles, bool reset) {
    std::size_t next = 0;
    done_.clear();
    for (std::uint32_t i = 1; i < cycles; ++i) {
      feed(commands, next);
      tick();
    }
    model_->start_valid_i = 0;
    auto &pin = reset ? model_->rst_ni : model_->clear_i; // one is active when low, the other when high
    pin = reset ? 0 : 1;
    tick();
    pin = reset ? 1 : 0;
    model_->eval();
    EXPECT_EQ(model_->busy_o, 0);
  }
  std::uint64_t busy_cycles_ = 0, active_ = 0, bank_ = 0, add_ = 0;

private:
  /// Offers the next command if the engine takes it in this cycle.
  void feed(const std::vector<Op> &commands, std::size_t &next) {
    model_->start_valid_i = 0;
    if (next == commands.size()) return;
    isa::Decoded d;
    d.op = commands[next];
    isa::Command c = isa::encode(d);
    std::memcpy(&model_->cmd_i, c.words.data(), sizeof c.words);
    model_->index_i = static_cast<std::uint32_t>(next);
    model_->clk_i = 0;
    model_->eval();
    if (model_->start_ready_o) {
      model_->start_valid_i = 1;
      ++next;
    }
  }
  void access(bool fp32, std::uint32_t row, std::uint32_t lane) {
    model_->fp32_i = fp32;
    model_->row_i = row;
    model_->lane_i = static_cast<isa::Lane>(lane);
  }
  std::unique_ptr<GW_MODEL> model_ = test::make_model<GW_MODEL>();
  std::vector<std::uint32_t> done_;
};

/// A tile in the scratchpad with its expected content.
struct Tile {
  isa::SpmTile at;
  bool fp32 = false;
  std::uint32_t rows = 0, cols = 0;
  std::vector<std::uint32_t> bits;

  std::uint32_t row_of(std::uint32_t i, std::uint32_t j) const {
    return at.row + j / kLanes * at.pstride + i * (fp32 ? 2 : 1);
  }
  std::uint32_t lane_of(std::uint32_t i, std::uint32_t j) const { return (at.rot + i + j) % kLanes; }
  std::uint32_t &operator()(std::uint32_t i, std::uint32_t j) { return bits[std::size_t{i} * cols + j]; }
};

/// A compute engine with tiles drawn at random in its scratchpad.
class GemmCore : public ::testing::Test {
protected:
  GemmCore() {
    const char *s = std::getenv("GW_SEED");
    std::uint64_t seed = s != nullptr ? std::strtoull(s, nullptr, 0) : 1;
    fmt::print("seed {} (GW_SEED)\n", seed);
    rng_.seed(seed);
  }
  std::uint32_t pick(std::uint32_t lo, std::uint32_t hi) {
    return lo + static_cast<std::uint32_t>(rng_() % (hi - lo + 1));
  }
  std::uint32_t random_bits(bool fp32) {
    auto r = static_cast<std::uint32_t>(rng_() >> 16);
    if (pick(0, 15) == 0) return fp32 ? r : r & 0xFFFFU; // any bits: infinities, NaN, subnormals
    std::uint32_t bits = (r & 0x807FFFFFU) | (pick(120, 134) << 23);
    return fp32 ? bits : bits >> 16;
  }
  Tile place(std::uint32_t rows, std::uint32_t cols, bool fp32) {
    Tile t;
    t.fp32 = fp32;
    t.rows = rows;
    t.cols = cols;
    std::uint32_t height = rows * (fp32 ? 2 : 1);
    t.at.pstride = height + 2 * pick(0, 2) + (!fp32 && pick(0, 1) ? 1 : 0);
    t.at.row = (top_ + pick(0, 5) + 1) / 2 * 2;
    t.at.rot = static_cast<isa::Lane>(pick(0, kLanes - 1));
    top_ = t.at.row + (cols - 1) / kLanes * t.at.pstride + height;
    t.bits.resize(std::size_t{rows} * cols);
    return t;
  }
  void fill(Tile &t) {
    for (std::uint32_t i = 0; i < t.rows; ++i)
      for (std::uint32_t j = 0; j < t.cols; ++j) {
        t(i, j) = random_bits(t.fp32);
        core_.put(t.fp32, t.row_of(i, j), t.lane_of(i, j), t(i, j));
      }
  }
  void expect(Tile &t, const std::string &what) {
    for (std::uint32_t i = 0; i < t.rows; ++i)
      for (std::uint32_t j = 0; j < t.cols; ++j) {
        std::uint32_t got = core_.get(t.fp32, t.row_of(i, j), t.lane_of(i, j));
        ASSERT_EQ(got, t(i, j)) << fmt::format("{}: element ({}, {}): rtl {:#x}, expected {:#x}", what, i, j, got,
                                               t(i, j));
      }
  }
  /// One random GEMM; expected results are left in `out`. ACC in place if `in_place`.
  isa::GemmCommand random_gemm(std::uint32_t max, Tile &out, bool in_place) {
    isa::GemmCommand g;
    g.m = pick(1, max), g.n = pick(1, max), g.k = pick(1, max);
    g.a_col = pick(0, 1) != 0, g.b_col = pick(0, 1) != 0, g.acc = pick(0, 1) != 0;
    g.out_bf16 = !in_place && pick(0, 1) != 0;
    Tile a = g.a_col ? place(g.m, g.k, false) : place(g.k, g.m, false);
    Tile b = g.b_col ? place(g.n, g.k, false) : place(g.k, g.n, false);
    fill(a);
    fill(b);
    Tile cin;
    if (g.acc) {
      cin = place(g.m, g.n, true);
      fill(cin);
      g.cin = cin.at;
    }
    out = g.acc && in_place ? cin : place(g.m, g.n, !g.out_bf16);
    g.a = a.at, g.b = b.at, g.cout = out.at;
    for (std::uint32_t i = 0; i < g.m; ++i)
      for (std::uint32_t j = 0; j < g.n; ++j) {
        std::uint32_t acc = g.acc ? cin(i, j) : 0;
        for (std::uint32_t k = 0; k < g.k; ++k)
          acc = mac(g.a_col ? a(i, k) : a(k, i), g.b_col ? b(j, k) : b(k, j), acc);
        out(i, j) = g.out_bf16 ? round_bf16(acc) : acc;
      }
    return g;
  }

  /// A random GEMM for each of `outs`, which get the expected results.
  std::vector<Op> random_gemms(std::vector<Tile> &outs) {
    std::vector<Op> commands;
    for (Tile &out : outs)
      commands.push_back(random_gemm(kLanes + 2, out, pick(0, 1) != 0));
    return commands;
  }

  /// An ADD of two filled tiles; the expected result is left in `out`. In place of A or of CIN, or elsewhere.
  isa::AddCommand random_add(Tile &a, Tile &cin, Tile &out) {
    isa::AddCommand c;
    c.m = a.rows, c.n = a.cols, c.a = a.at, c.cin = cin.at;
    c.out_bf16 = pick(0, 1) != 0;
    const std::uint32_t where = c.out_bf16 ? 2 : pick(0, 2);
    out = where == 0 ? a : where == 1 ? cin : place(c.m, c.n, !c.out_bf16);
    c.cout = out.at;
    for (std::uint32_t i = 0; i < c.m; ++i)
      for (std::uint32_t j = 0; j < c.n; ++j) {
        const std::uint32_t sum = add(a(i, j), cin(i, j));
        out(i, j) = c.out_bf16 ? round_bf16(sum) : sum;
      }
    return c;
  }

  std::mt19937_64 rng_;
  Core core_;
  std::uint32_t top_ = 0;
};

} // namespace gradweave::core_test
