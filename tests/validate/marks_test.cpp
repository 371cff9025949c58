// MARKs in random streams: not more than the log holds, and the stream otherwise as it was.
#include "app/validate/corpus/parts/marks.hpp"
#include "app/validate/corpus/profile.hpp"
#include "app/validate/corpus/random_stream.hpp"
#include "app/validate/corpus/timing_stream.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gradweave::test {
namespace {

using Stream = std::vector<isa::Command>;

Stream timing_stream(const Machine &npu, std::uint64_t seed, double share_of_errors) {
  corpus::TimingStreamOptions options;
  options.seed = seed;
  options.dram_bytes = 1U << 20U;
  options.share_of_errors = share_of_errors;
  return corpus::make_timing_stream(npu, options).commands;
}

/// The stream that MARKs came into: SYNCs again, or gone if they were not in it.
void expect_otherwise_equal(const Stream &with, const Stream &before) {
  std::size_t at = 0;
  for (isa::Command command : with) {
    const bool was = at < before.size() && command.words == before[at].words;
    if (!was) {
      ASSERT_TRUE(isa::is_mark(command)) << "command " << at;
      isa::Decoded decoded = *isa::decode(command);
      std::get<isa::SyncCommand>(decoded.op).mark = false;
      if (at == before.size() || isa::encode(decoded).words != before[at].words) {
        const isa::Sync &sync = decoded.sync;
        EXPECT_TRUE(std::all_of(sync.waits.begin(), sync.waits.end(),
                                [](const isa::Wait &w) { return w.semaphore == isa::kNoSemaphore; }));
        EXPECT_TRUE(std::all_of(sync.posts.begin(), sync.posts.end(),
                                [](std::uint8_t post) { return post == isa::kNoSemaphore; }));
        continue; // one that came
      }
    }
    ++at;
  }
  EXPECT_EQ(at, before.size());
}

TEST(AddMarks, LeavesTheStreamOtherwiseAsItWas) {
  const Machine npu = load_machine("configs/test8.toml");
  int none = 0, some = 0, full = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    const Stream before = timing_stream(npu, seed, 0.5);
    Stream with = before;
    corpus::add_marks(with, seed);
    const auto marks = std::count_if(with.begin(), with.end(), isa::is_mark);
    EXPECT_LE(marks, corpus::kMostMarks);
    none += marks == 0;
    some += marks > 0;
    full += marks == corpus::kMostMarks;
    expect_otherwise_equal(with, before);
  }
  EXPECT_GT(none, 20);
  EXPECT_GT(some, 80);
  EXPECT_GT(full, 5);
}

/// A SYNC that the NPU refuses is refused with MARKs around it, too. Of a deadlock and an illegal command, either may
/// come first.
TEST(AddMarks, LeavesErrorsAlone) {
  const Machine npu = load_machine("configs/test6x10.toml");
  int errors = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Stream before = timing_stream(npu, seed, 1);
    Stream with = before;
    corpus::add_marks(with, seed);
    const isa::ErrorCode error = timing::run(npu, before).error;
    const isa::ErrorCode then = timing::run(npu, with).error;
    if (then == isa::ErrorCode::WATCHDOG || error == isa::ErrorCode::WATCHDOG) {
      EXPECT_EQ(then == isa::ErrorCode::NONE, error == isa::ErrorCode::NONE) << "seed " << seed;
    } else {
      EXPECT_EQ(then, error) << "seed " << seed;
    }
    errors += error != isa::ErrorCode::NONE;
  }
  EXPECT_GT(errors, 200);
}

TEST(DrawRing, IsAQuarterOfBothProfiles) {
  for (const std::uint64_t parity : {0, 1}) {
    int rings = 0;
    for (std::uint64_t seed = parity; seed < 2000; seed += 2)
      rings += corpus::draw_ring(seed);
    EXPECT_NEAR(rings, 250, 50);
  }
}

} // namespace
} // namespace gradweave::test
