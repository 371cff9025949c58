// Command fetch against a stalling memory: every command, in order, by legal bursts; errors; stops.
#include GW_MODEL_HEADER

#include "isa/command.hpp"
#include "read_memory.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <random>
#include <vector>

namespace {

using namespace gradweave;
using test::ReadMemory;

constexpr std::uint64_t kSeed = 4711;
constexpr std::uint32_t kBus = GW_BUS_BYTES;
constexpr std::uint64_t kBase = 0x1'0000'0000, kSize = 0x1000'0000;
constexpr std::uint64_t kBurst = kBus > 512 ? kBus : 512; ///< bursts end at its multiples; the buffer holds two
constexpr std::uint64_t kPatience = 200000;               // cycles

struct Error {
  std::uint32_t code = 0, index = 0;
};

/// Words of command `index` of a stream that no other command shares.
std::uint32_t word_of(std::uint64_t stream, std::uint32_t index, std::uint32_t word) {
  return static_cast<std::uint32_t>(stream * 0x9E3779B9U + index * 16 + word);
}

class Fetch {
public:
  Fetch(std::uint64_t seed, double stall) : memory(kBus, seed, stall), random_(seed + 1), stall_(stall) {
    model_->dram_base_i = kBase;
    model_->dram_size_i = kSize;
    model_->rst_ni = 0;
    edge();
    model_->rst_ni = 1;
    clear();
  }

  void clear() {
    model_->run_i = 0;
    model_->clear_i = 1;
    edge();
    model_->clear_i = 0;
  }

  /// Places the commands of a new stream in memory and points the registers there; run() fetches it.
  void place(std::uint64_t addr, std::uint32_t count) {
    ++stream_;
    model_->cmd_addr_i = addr;
    model_->cmd_count_i = count;
    for (std::uint32_t i = 0; i < count; ++i)
      for (std::uint32_t w = 0; w < isa::kCommandWords; ++w)
        memory.write32(addr + std::uint64_t{64} * i + 4 * w, word_of(stream_, i, w));
    received = 0;
    error.reset();
  }
  void set_window(std::uint64_t base, std::uint64_t size) {
    model_->dram_base_i = base;
    model_->dram_size_i = size;
  }
  void point(std::uint64_t addr, std::uint32_t count) {
    model_->cmd_addr_i = addr;
    model_->cmd_count_i = count;
  }

  /// A cycle of a run. Commands are taken at random, or never.
  void cycle(bool run = true, bool take = true) {
    model_->run_i = run;
    model_->cmd_ready_i = take && std::uniform_real_distribution<double>(0, 1)(random_) >= stall_;
    memory.drive(*model_);
    model_->eval();
    if (run) {
      const int counts = model_->cnt_active_o + model_->cnt_dram_o + model_->cnt_blocked_o + model_->cnt_done_o;
      EXPECT_EQ(counts, 1) << "each cycle counts once";
      EXPECT_EQ(model_->cnt_active_o, model_->r_valid_i);
    }
    blocked = model_->cnt_blocked_o;
    done = model_->cnt_done_o;
    if (run && model_->err_valid_o) error = Error{model_->err_code_o, model_->err_index_o};
    if (run && model_->cmd_valid_o && model_->cmd_ready_i) {
      for (std::uint32_t w = 0; w < isa::kCommandWords; ++w)
        ASSERT_EQ(model_->cmd_o[w], word_of(stream_, received, w)) << "command " << received << " word " << w;
      ++received;
    }
    memory.take(*model_);
    quiet = model_->quiet_o;
    edge();
  }

  ReadMemory memory;
  std::uint32_t received = 0;
  std::optional<Error> error;
  bool blocked = false, done = false, quiet = false;

private:
  void edge() {
    model_->clk_i = 0;
    model_->eval();
    model_->clk_i = 1;
    model_->eval();
  }
  std::unique_ptr<GW_MODEL> model_ = std::make_unique<GW_MODEL>();
  std::mt19937_64 random_;
  double stall_;
  std::uint64_t stream_ = 0;
};

std::uint64_t random_addr(std::mt19937_64 &random) { return kBase + random() % 1000 * 64; }

TEST(Fetch, DeliversEveryCommandInOrder) {
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < 60; ++round) {
    const double stall = round % 3 == 0 ? 0 : round % 3 == 1 ? 0.3 : 0.9;
    const std::uint64_t addr = random_addr(random);
    const auto count = static_cast<std::uint32_t>(1 + random() % 100);
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << " round " << round);
    Fetch fetch(kSeed + static_cast<std::uint64_t>(round), stall);
    fetch.place(addr, count);
    for (std::uint64_t i = 0; i < kPatience && fetch.received < count; ++i)
      fetch.cycle();
    ASSERT_EQ(fetch.received, count);
    for (int i = 0; i < 50; ++i)
      fetch.cycle();
    EXPECT_EQ(fetch.received, count) << "more commands than the stream has";
    EXPECT_TRUE(fetch.done);
    EXPECT_TRUE(fetch.quiet);
    EXPECT_FALSE(fetch.error);
    // As few bursts as the borders allow, and no beat beside the stream.
    const std::uint64_t end = addr + std::uint64_t{64} * count;
    EXPECT_EQ(fetch.memory.bursts(), (end - 1) / kBurst - addr / kBurst + 1);
    EXPECT_EQ(fetch.memory.lowest(), addr / kBus * kBus);
    EXPECT_EQ(fetch.memory.highest(), (end + kBus - 1) / kBus * kBus);
  }
}

TEST(Fetch, AsksForNoMoreThanTheBufferHolds) {
  Fetch fetch(kSeed, 0);
  fetch.place(kBase, 100);
  for (int i = 0; i < 1000; ++i)
    fetch.cycle(true, false);
  EXPECT_EQ(fetch.memory.beats() * kBus, 2 * kBurst);
  EXPECT_TRUE(fetch.blocked);
  for (std::uint64_t i = 0; i < kPatience && fetch.received < 100; ++i)
    fetch.cycle();
  EXPECT_EQ(fetch.received, 100U);
}

TEST(Fetch, BusErrorsNameTheFirstCommandOfTheBeat) {
  std::mt19937_64 random(kSeed);
  for (std::uint32_t round = 0; round < 60; ++round) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << " round " << round);
    const std::uint64_t addr = random_addr(random);
    const auto count = static_cast<std::uint32_t>(1 + random() % 40);
    const std::uint64_t at = addr + random() % (std::uint64_t{64} * count);
    const bool decerr = round % 2 != 0;
    Fetch fetch(kSeed + round, round % 3 == 0 ? 0.4 : 0);
    fetch.place(addr, count);
    fetch.memory.fail(at, decerr ? 3 : 2);
    for (std::uint64_t i = 0; i < kPatience && !fetch.error; ++i)
      fetch.cycle();
    ASSERT_TRUE(fetch.error);
    const std::uint64_t first = std::max(at / kBus * kBus / 64 * 64, addr);
    EXPECT_EQ(fetch.error->code,
              static_cast<std::uint32_t>(decerr ? isa::ErrorCode::FETCH_DECERR : isa::ErrorCode::FETCH_SLVERR));
    EXPECT_EQ(fetch.error->index, (first - addr) / 64);
    EXPECT_LE(fetch.received, fetch.error->index);
    for (std::uint64_t i = 0; i < kPatience && !fetch.quiet; ++i)
      fetch.cycle(false);
    EXPECT_TRUE(fetch.quiet);
    EXPECT_TRUE(fetch.memory.idle());
  }
}

/// Of a stream of billions of commands the first hundred come as of any other, wherever it lies.
TEST(Fetch, CountsWithAllBitsOfLengthAndAddress) {
  constexpr std::uint32_t kHere = 100, kBad = 96; // a multiple of the commands in a beat
  for (unsigned bit = 7; bit < 32; ++bit) {
    SCOPED_TRACE(testing::Message() << "bit " << bit);
    const std::uint32_t count = (1U << bit) + 3;
    const std::uint64_t addr = (std::uint64_t{1} << (32 + bit)) - 2048; // carries into that bit
    Fetch fetch(kSeed + bit, 0);
    fetch.set_window(0, ~std::uint64_t{0});
    fetch.place(addr, kHere);
    fetch.memory.fail(addr + 64 * kBad, 2);
    fetch.point(addr, count);
    for (std::uint64_t i = 0; i < kPatience && !fetch.error; ++i)
      fetch.cycle();
    ASSERT_TRUE(fetch.error);
    EXPECT_EQ(fetch.error->index, kBad);
    EXPECT_GT(fetch.received, 32U);
    EXPECT_FALSE(fetch.done);
  }
}

TEST(Fetch, StopsAndStartsAgain) {
  std::mt19937_64 random(kSeed);
  Fetch fetch(kSeed, 0.5);
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << " round " << round);
    fetch.place(random_addr(random), 60);
    for (std::uint64_t i = random() % 300; i > 0; --i)
      fetch.cycle();
    fetch.cycle(false);
    for (std::uint64_t i = 0; i < kPatience && !fetch.quiet; ++i)
      fetch.cycle(false);
    EXPECT_TRUE(fetch.memory.idle()) << "quiet with a burst under way";
    fetch.clear();
    EXPECT_FALSE(fetch.error);
  }
  fetch.place(kBase + 64, 60);
  for (std::uint64_t i = 0; i < kPatience && fetch.received < 60; ++i)
    fetch.cycle();
  EXPECT_EQ(fetch.received, 60U);
}

TEST(Fetch, RefusesBadStreamsWithoutTouchingTheBus) {
  struct Case {
    std::uint64_t addr;
    std::uint32_t count;
    bool good;
  };
  const Case cases[] = {
      {kBase, 1, true},
      {kBase + kSize - 64, 1, true},
      {kBase, static_cast<std::uint32_t>(kSize / 64), true},
      {kBase, 0, false},
      {kBase + 32, 1, false},
      {kBase + 1, 1, false},
      {kBase - 64, 2, false},
      {0, 1, false},
      {kBase + kSize, 1, false},
      {kBase + kSize - 64, 2, false},
      {kBase, static_cast<std::uint32_t>(kSize / 64) + 1, false},
      {kBase, 0xFFFFFFFF, false},
      {~std::uint64_t{63}, 1, false},
      {~std::uint64_t{63}, 2, false},
  };
  for (const Case &c : cases) {
    SCOPED_TRACE(testing::Message() << std::hex << c.addr << " count " << c.count);
    Fetch fetch(kSeed, 0);
    fetch.point(c.addr, c.count);
    fetch.cycle(true, false);
    EXPECT_EQ(fetch.error.has_value(), !c.good) << "the first cycle of a run must tell";
    if (c.good) continue;
    EXPECT_EQ(fetch.error->code, static_cast<std::uint32_t>(isa::ErrorCode::BAD_START));
    EXPECT_EQ(fetch.error->index, 0U);
    for (int i = 0; i < 50; ++i)
      fetch.cycle(false);
    EXPECT_EQ(fetch.memory.bursts(), 0U);
    EXPECT_TRUE(fetch.quiet);
  }
}

} // namespace
