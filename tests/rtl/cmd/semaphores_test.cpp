// The semaphore unit against a model that takes one engine after the other.
#include GW_MODEL_HEADER

#include "isa/command.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <vector>

namespace {

using namespace gradweave;

constexpr std::uint64_t kSeed = 7;
constexpr std::size_t kEngines = GW_ENGINES;
constexpr std::uint32_t kSemaphores = GW_SEMAPHORES;
constexpr auto kLoad = static_cast<std::size_t>(isa::Engine::LOAD);
constexpr auto kStore = static_cast<std::size_t>(isa::Engine::STORE);
constexpr auto kCore0 = static_cast<std::size_t>(isa::Engine::COMPUTE0);
constexpr std::size_t kCores = kEngines - kCore0;

struct Head {
  bool valid = false;
  std::array<isa::Wait, 3> waits{};
};

struct Done {
  bool valid = false;
  std::uint32_t index = 0;
  std::array<std::uint8_t, 3> posts{isa::kNoSemaphore, isa::kNoSemaphore, isa::kNoSemaphore};
};

struct Outcome {
  std::optional<std::size_t> granted;
  std::optional<std::uint32_t> overflow;
  bool operator==(const Outcome &o) const { return granted == o.granted && overflow == o.overflow; }
};

class Reference {
public:
  /// STORE before LOAD before the cores; `first` and `second` are engines, so that a test can be wrong on purpose.
  explicit Reference(std::size_t first = kStore, std::size_t second = kLoad, bool in_turns = true)
      : first_(first), second_(second), in_turns_(in_turns) {}

  Outcome step(const std::vector<Head> &heads, const std::vector<Done> &dones) {
    Outcome out;
    std::vector<std::size_t> order{first_, second_};
    for (std::size_t i = 0; i < kCores; ++i)
      order.push_back(kCore0 + (next_ + i) % kCores);
    for (std::size_t e : order)
      if (!out.granted && heads[e].valid && satisfied(heads[e])) out.granted = e;
    if (in_turns_ && out.granted && *out.granted >= kCore0) next_ = (*out.granted - kCore0 + 1) % kCores;
    if (out.granted)
      for (const isa::Wait &w : heads[*out.granted].waits)
        if (w.semaphore != isa::kNoSemaphore) counts_[w.semaphore] -= w.count;
    for (const Done &d : dones)
      for (std::uint8_t post : d.posts)
        if (d.valid && post != isa::kNoSemaphore) {
          if (counts_[post] < 65535)
            ++counts_[post];
          else if (!out.overflow)
            out.overflow = d.index;
        }
    return out;
  }
  std::uint32_t count(std::size_t sem) const { return counts_[sem]; }

private:
  bool satisfied(const Head &h) const {
    for (const isa::Wait &w : h.waits)
      if (w.semaphore != isa::kNoSemaphore && counts_[w.semaphore] < w.count) return false;
    return true;
  }
  std::size_t first_, second_;
  bool in_turns_;
  std::size_t next_ = 0; ///< the core that is asked first
  std::array<std::uint32_t, 256> counts_{};
};

template <class Port> void set_bits(Port &port, std::size_t lsb, std::size_t width, std::uint64_t value) {
  for (std::size_t i = 0; i < width; ++i) {
    const std::uint32_t mask = 1U << ((lsb + i) % 32);
    if (((value >> i) & 1U) != 0)
      port[(lsb + i) / 32] |= mask;
    else
      port[(lsb + i) / 32] &= ~mask;
  }
}

class Unit {
public:
  Unit() {
    model_->rst_ni = 0;
    model_->req_i = 0;
    model_->done_valid_i = 0;
    clock();
    model_->rst_ni = 1;
  }
  Outcome step(const std::vector<Head> &heads, const std::vector<Done> &dones) {
    model_->req_i = 0;
    model_->done_valid_i = 0;
    for (std::size_t e = 0; e < kEngines; ++e) {
      model_->req_i |= static_cast<std::uint32_t>(heads[e].valid) << e;
      model_->done_valid_i |= static_cast<std::uint32_t>(dones[e].valid) << e;
      set_bits(model_->done_index_i, 32 * e, 32, dones[e].index);
      for (std::size_t i = 0; i < 3; ++i) {
        const isa::Wait &w = heads[e].waits[i];
        set_bits(model_->waits_i, 48 * e + 16 * i, 16, w.semaphore | std::uint32_t{w.count} << 8U);
        set_bits(model_->done_posts_i, 24 * e + 8 * i, 8, dones[e].posts[i]);
      }
    }
    model_->eval();
    Outcome out;
    for (std::size_t e = 0; e < kEngines; ++e)
      if (((model_->grant_o >> e) & 1U) != 0) out.granted = e;
    if (model_->err_valid_o) out.overflow = model_->err_index_o;
    clock();
    return out;
  }
  void clear() {
    model_->req_i = 0;
    model_->done_valid_i = 0;
    model_->clear_i = 1;
    clock();
    model_->clear_i = 0;
  }

private:
  void clock() {
    model_->clk_i = 0;
    model_->eval();
    model_->clk_i = 1;
    model_->eval();
  }
  std::unique_ptr<GW_MODEL> model_ = std::make_unique<GW_MODEL>();
};

class Traffic {
public:
  explicit Traffic(std::uint64_t seed) : random_(seed) {}
  /// Few semaphores and small counts, so that waits are met about as often as not.
  void next(std::vector<Head> &heads, std::vector<Done> &dones) {
    const std::uint32_t used = 1 + below(kSemaphores);
    for (Head &h : heads) {
      h = Head{};
      h.valid = below(4) != 0;
      const std::uint32_t first = below(used);
      for (std::uint32_t i = 0; i < 3; ++i)
        if (below(2) != 0 && (i < kSemaphores))
          h.waits[i] = {static_cast<std::uint8_t>((first + i) % kSemaphores), static_cast<std::uint8_t>(1 + below(4))};
    }
    for (Done &d : dones) {
      d = Done{};
      d.valid = below(2) != 0;
      d.index = below(0xFFFFFFFF);
      for (std::uint8_t &post : d.posts)
        if (below(2) != 0) post = static_cast<std::uint8_t>(below(used));
    }
  }
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

private:
  std::mt19937_64 random_;
};

/// Cycles until unit and reference differ, at most `cycles`.
std::uint64_t cycles_in_step(Reference reference, std::uint64_t seed, std::uint64_t cycles) {
  Unit unit;
  Traffic traffic(seed);
  std::vector<Head> heads(kEngines);
  std::vector<Done> dones(kEngines);
  for (std::uint64_t i = 0; i < cycles; ++i) {
    traffic.next(heads, dones);
    if (!(unit.step(heads, dones) == reference.step(heads, dones))) return i;
  }
  return cycles;
}

TEST(Semaphores, GrantsFollowTheModel) {
  EXPECT_EQ(cycles_in_step(Reference(), kSeed, 300000), 300000U) << "seed " << kSeed;
}

TEST(Semaphores, ComparisonSeesAWrongPriority) {
  EXPECT_LT(cycles_in_step(Reference(kLoad, kStore), kSeed, 10000), 10000U) << "seed " << kSeed;
}

TEST(Semaphores, ComparisonSeesCoresThatDoNotTakeTurns) {
  const bool differs = cycles_in_step(Reference(kStore, kLoad, false), kSeed, 10000) < 10000U;
  EXPECT_EQ(differs, kCores > 1) << "seed " << kSeed; // one core has all turns
}

/// Whatever the other engines and the other cores do, a core that could start waits for at most one start of each.
TEST(Semaphores, CoresStartInTurns) {
  Unit unit;
  Traffic traffic(kSeed);
  std::vector<Head> heads(kEngines);
  const std::vector<Done> idle(kEngines);
  std::array<std::size_t, kCores> waited{}; // starts of other cores since the core could start
  for (int i = 0; i < 20000; ++i) {
    for (std::size_t e = 0; e < kEngines; ++e)
      heads[e].valid = heads[e].valid ? e >= kCore0 || traffic.below(2) != 0 : traffic.below(4) != 0;
    const std::optional<std::size_t> granted = unit.step(heads, idle).granted;
    if (!granted || *granted < kCore0) continue;
    for (std::size_t core = 0; core < kCores; ++core) {
      if (kCore0 + core == *granted) {
        waited[core] = 0;
      } else if (heads[kCore0 + core].valid) {
        ASSERT_LT(++waited[core], kCores) << "core " << core << " cycle " << i << " seed " << kSeed;
      }
    }
    heads[*granted].valid = false;
  }
}

TEST(Semaphores, ClearGivesTheFirstCoreItsTurn) {
  Unit unit;
  std::vector<Head> heads(kEngines);
  const std::vector<Done> idle(kEngines);
  heads[kCore0].valid = true;
  EXPECT_EQ(unit.step(heads, idle).granted, std::optional<std::size_t>(kCore0));
  for (std::size_t e = kCore0; e < kEngines; ++e)
    heads[e].valid = true;
  unit.clear();
  EXPECT_EQ(unit.step(heads, idle).granted, std::optional<std::size_t>(kCore0));
}

TEST(Semaphores, OverflowNamesThePostingCommand) {
  Unit unit;
  Reference reference;
  const std::vector<Head> idle(kEngines);
  std::vector<Done> dones(kEngines);
  bool overflowed = false;
  for (std::uint32_t i = 0; i < 65536 && !overflowed; ++i) {
    for (std::size_t e = 0; e < kEngines; ++e) {
      dones[e].valid = (i + e) % 2 == 0;
      dones[e].index = static_cast<std::uint32_t>(i * kEngines + e);
      dones[e].posts = {0, static_cast<std::uint8_t>(e % kSemaphores), 0};
    }
    const Outcome want = reference.step(idle, dones);
    ASSERT_EQ(unit.step(idle, dones), want) << "cycle " << i;
    overflowed = want.overflow.has_value();
  }
  EXPECT_TRUE(overflowed);
}

TEST(Semaphores, FullCounterIsNoError) {
  for (const std::uint32_t semaphore : {0U, kSemaphores - 1}) {
    Unit unit;
    std::vector<Head> heads(kEngines);
    std::vector<Done> dones(kEngines);
    dones[0].valid = true;
    dones[0].posts[0] = static_cast<std::uint8_t>(semaphore);
    for (std::uint32_t i = 0; i < 65535; ++i)
      ASSERT_FALSE(unit.step(heads, dones).overflow) << "post " << i;
    dones[0].index = 99;
    EXPECT_EQ(unit.step(heads, dones).overflow, std::optional<std::uint32_t>(99));
    dones[0].valid = false;
    heads[2].valid = true;
    heads[2].waits[0] = {static_cast<std::uint8_t>(semaphore), 255};
    for (std::uint32_t taken = 0; taken < 65535; taken += 255) // 257 times
      ASSERT_EQ(unit.step(heads, dones).granted, std::optional<std::size_t>(2)) << taken << " taken";
    heads[2].waits[0].count = 1;
    EXPECT_FALSE(unit.step(heads, dones).granted);
  }
}

TEST(Semaphores, ClearForgetsAllPosts) {
  Unit unit;
  std::vector<Head> heads(kEngines);
  std::vector<Done> dones(kEngines);
  dones[0].valid = true;
  dones[0].posts[0] = 0;
  unit.step(heads, dones);
  dones[0].valid = false;
  heads[2].valid = true;
  heads[2].waits[0] = {0, 1};
  unit.clear();
  EXPECT_FALSE(unit.step(heads, dones).granted);
  dones[0].valid = true;
  EXPECT_FALSE(unit.step(heads, dones).granted) << "a post is there from the next cycle on";
  EXPECT_EQ(unit.step(heads, dones).granted, std::optional<std::size_t>(2));
}

} // namespace
