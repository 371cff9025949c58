// Waits and posts of commands on regions of the scratchpad: enough, legal, and no more than needed.
#include "base/random/dice.hpp"
#include "compiler/items/ordered_commands.hpp"
#include "compiler/verify/verify_sync.hpp"
#include "sw_models/config/machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gradweave::compiler {
namespace {

using Op = OrderedCommands::Op;
using Ranges = std::vector<RegionRange>;

constexpr std::uint64_t kOrderSeed = 7;

Op load() { return isa::DmaCommand{false, false, 0, 0, 1, 1, {}}; }
Op store() { return isa::DmaCommand{true, false, 0, 0, 1, 1, {}}; }
Op gemm() {
  isa::GemmCommand g;
  g.m = g.n = g.k = 1;
  return g;
}
Op run() { return isa::VectorCommand{0, 0, 1, 1}; }

std::size_t waits_of(const isa::Command &command) {
  const isa::Decoded decoded = *isa::decode(command);
  return static_cast<std::size_t>(std::count_if(decoded.sync.waits.begin(), decoded.sync.waits.end(),
                                                [](const isa::Wait &w) { return w.semaphore != isa::kNoSemaphore; }));
}

bool is_sync(const isa::Command &command) {
  return command.get(isa::field::OPCODE) == static_cast<std::uint32_t>(isa::Opcode::SYNC);
}

/// Empty, or what is no legal order; all semaphores are zero in the end.
std::string problem_of(const std::vector<isa::Command> &stream) {
  SyncReplay sync(load_machine("configs/small.toml"));
  for (const isa::Command &command : stream)
    if (std::string problem = sync.step(*isa::decode(command)); !problem.empty()) return problem;
  return sync.finish();
}

TEST(OrderedCommands, WaitForWhatTheyRead) {
  OrderedCommands commands(3);
  commands.add(load(), {}, {{0, 1}});
  commands.add(gemm(), {{0, 1}}, {{1, 1}});
  commands.add(gemm(), {{0, 1}}, {{2, 1}}); // knows by the first
  commands.add(store(), {{1, 2}});
  const auto stream = commands.encoded(5);
  ASSERT_EQ(stream.size(), 4U);
  EXPECT_EQ(waits_of(stream[0]), 0U);
  EXPECT_EQ(waits_of(stream[1]), 1U);
  EXPECT_EQ(waits_of(stream[2]), 0U);
  EXPECT_EQ(waits_of(stream[3]), 1U);
  EXPECT_EQ(problem_of(stream), "");
}

TEST(OrderedCommands, WaitForReadersOfWhatTheyReplace) {
  OrderedCommands commands(2);
  commands.add(load(), {}, {{0, 1}});
  commands.add(gemm(), {{0, 1}}, {{1, 1}});
  commands.add(load(), {}, {{0, 1}});
  const auto stream = commands.encoded(0);
  EXPECT_EQ(waits_of(stream[2]), 1U);
  EXPECT_EQ(problem_of(stream), "");
}

TEST(OrderedCommands, AProductWaitsForAnOperandOfItsCore) {
  OrderedCommands commands(2);
  commands.add(gemm(), {}, {{0, 1}});
  commands.add(gemm(), {{0, 1}}, {{1, 1}});
  EXPECT_EQ(waits_of(commands.encoded(0)[1]), 1U);
}

TEST(OrderedCommands, ASyncTakesTheFourthWaitAndPost) {
  OrderedCommands commands(8);
  commands.add(load(), {}, {{0, 1}});
  commands.add(run(), {}, {{1, 1}});
  commands.add(store(), {{2, 1}});
  commands.add(gemm(), {}, {{3, 1}});
  commands.add(gemm(), {{0, 1}, {1, 1}, {3, 1}}, {{2, 1}});
  commands.add(load(), {}, {{2, 1}}); // four wait for the product before
  commands.add(store(), {{2, 1}});
  const auto stream = commands.encoded(0);
  EXPECT_EQ(std::count_if(stream.begin(), stream.end(), is_sync), 1);
  EXPECT_EQ(problem_of(stream), "");

  OrderedCommands posts(4);
  posts.add(gemm(), {{0, 1}}, {{1, 1}});
  posts.add(store(), {{1, 1}});
  posts.add(run(), {{1, 1}}, {{2, 1}});
  posts.add(gemm(), {{1, 1}}, {{3, 1}});
  posts.add(load(), {}, {{0, 1}});
  const auto posting = posts.encoded(0);
  EXPECT_EQ(std::count_if(posting.begin(), posting.end(), is_sync), 1);
  EXPECT_EQ(problem_of(posting), "");
}

/// Each command is complete before any that it must not meet starts, whatever the timing.
TEST(OrderedCommands, RandomAccessesAreOrdered) {
  constexpr std::size_t kRegions = 6;
  struct Access {
    Ranges reads, writes;
    std::size_t engine = 0;
    std::uint32_t position = 0;
  };
  const auto meet = [](const Ranges &a, const Ranges &b) {
    return std::any_of(a.begin(), a.end(), [&](const RegionRange &x) {
      return std::any_of(b.begin(), b.end(), [&](const RegionRange &y) {
        return x.first < y.first + y.count && y.first < x.first + x.count;
      });
    });
  };
  for (std::uint64_t seed = kOrderSeed; seed < kOrderSeed + 100; ++seed) {
    Dice dice(seed);
    OrderedCommands commands(kRegions);
    std::vector<Access> accesses;
    for (int i = 0; i < 60; ++i) {
      const std::size_t kind = dice.below(4);
      const auto draw = [&] {
        const std::size_t first = dice.below(kRegions);
        return Ranges{{first, 1 + dice.below(std::min<std::size_t>(2, kRegions - first))}};
      };
      Access access;
      if (kind != 0) access.reads = draw();
      if (kind != 1) access.writes = draw();
      commands.add(kind == 0 ? load() : kind == 1 ? store() : kind == 2 ? gemm() : run(), access.reads, access.writes);
      accesses.push_back(access);
    }
    SyncReplay sync(load_machine("configs/small.toml"));
    std::size_t at = 0;
    for (const isa::Command &command : commands.encoded(3)) {
      ASSERT_EQ(sync.step(*isa::decode(command)), "") << "seed " << seed;
      if (is_sync(command)) continue;
      Access &now = accesses[at++];
      now.engine = sync.engine();
      now.position = sync.position();
      for (std::size_t i = 0; i + 1 < at; ++i) {
        const Access &before = accesses[i];
        const bool operand = meet(before.writes, now.reads) && now.engine == 2;
        if (before.engine == now.engine && !operand) continue;
        if (meet(before.writes, now.reads) || meet(before.writes, now.writes) || meet(before.reads, now.writes)) {
          ASSERT_TRUE(sync.complete(before.engine, before.position)) << "seed " << seed << ", " << i << ", " << at - 1;
        }
      }
    }
    ASSERT_EQ(sync.finish(), "") << "seed " << seed;
  }
}

} // namespace
} // namespace gradweave::compiler
