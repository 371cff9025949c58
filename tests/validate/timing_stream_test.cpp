// The streams that the gate runs are themselves tested: legal, free of deadlocks, broken where they should be, varied.
#include "app/validate/corpus/parts/standing.hpp"
#include "app/validate/corpus/profile.hpp"
#include "app/validate/corpus/timing_stream.hpp"
#include "runtime/run/lookup.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace gradweave::test {
namespace {

using corpus::Profile;

constexpr std::uint64_t kDramBytes = 1U << 20U;

std::vector<isa::Command> stream_of(const Machine &npu, std::uint64_t seed, double share_of_errors) {
  corpus::TimingStreamOptions options;
  options.seed = seed;
  options.dram_bytes = kDramBytes;
  options.share_of_errors = share_of_errors;
  return corpus::make_timing_stream(npu, options).commands;
}

class TimingStreams : public testing::TestWithParam<const char *> {
protected:
  Machine npu_ = load_machine(std::string("configs/") + GetParam() + ".toml");
};

TEST_P(TimingStreams, AreLegalAndEnd) {
  const isa::Limits limits{npu_.lanes(), npu_.spm_rows(), npu_.cores, npu_.semaphores, 0, kDramBytes, npu_.vectors()};
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::vector<isa::Command> stream = stream_of(npu_, seed, 0);
    for (std::size_t i = 0; i < stream.size(); ++i)
      ASSERT_EQ(isa::check_command(stream[i], limits), isa::ErrorCode::NONE) << "seed " << seed << " command " << i;
    const timing::RunResult result = timing::run(npu_, stream);
    ASSERT_TRUE(result.ok()) << "seed " << seed << ": " << isa::kErrorNames[static_cast<std::size_t>(result.error)]
                             << " at command " << result.error_index;
  }
}

TEST_P(TimingStreams, EndInEveryErrorTheyCanEarn) {
  std::map<isa::ErrorCode, int> ends;
  for (std::uint64_t seed = 0; seed < 300; ++seed)
    ++ends[timing::run(npu_, stream_of(npu_, seed, 1)).error];
  using isa::ErrorCode;
  for (const ErrorCode error : {ErrorCode::ILLEGAL_OPCODE, ErrorCode::ILLEGAL_FIELD, ErrorCode::SPM_RANGE,
                                ErrorCode::DRAM_RANGE, ErrorCode::DRAM_ALIGN, ErrorCode::WATCHDOG})
    EXPECT_GE(ends[error], 10) << isa::kErrorNames[static_cast<std::size_t>(error)];
  if (npu_.vectors() != 0) {
    EXPECT_GE(ends[ErrorCode::VECTOR_FAULT], 10);
  }
  EXPECT_LT(ends[ErrorCode::NONE], 30);
}

/// What the gate relies on being exercised.
class SeenInStreams {
public:
  explicit SeenInStreams(const Machine &npu) : npu_(npu) {
    for (std::uint32_t core = 0; core < npu_.cores; ++core) {
      note(fmt::format("GEMM on core {}", core), false);
      note(fmt::format("ADD on core {}", core), false);
    }
  }

  void begin() { in_a_row_ = 0, last_engine_ = 255; }

  void add(const isa::Decoded &d) {
    in_a_row_ = d.engine() == last_engine_ ? in_a_row_ + 1 : 1;
    last_engine_ = d.engine();
    note("queue overrun", in_a_row_ > npu_.queue_depth);
    syncs(d.sync);
    std::visit([&](const auto &op) { command(op); }, d.op);
  }

  /// How often each has happened, but what this NPU cannot have.
  std::map<std::string, int> possible() const {
    std::map<std::string, int> seen = times_;
    if (npu_.outstanding > 100) seen.erase("more bursts than may be in flight"); // a distant memory answers so few
    if (npu_.rows == npu_.lanes() || npu_.spm_banks < 3) seen.erase("A across panels with a bank between");
    if (npu_.queue_depth > 30) seen.erase("queue overrun");
    return seen;
  }

private:
  void note(const std::string &what, bool happened) { times_[what] += happened ? 1 : 0; }
  std::uint32_t bank(const isa::SpmTile &t) const { return t.row / npu_.bank_rows(); }

  void syncs(const isa::Sync &sync) {
    std::size_t waits = 0;
    for (const isa::Wait &w : sync.waits)
      waits += w.semaphore != isa::kNoSemaphore ? 1 : 0;
    note("no wait", waits == 0);
    note("three waits", waits == 3);
    note("three posts", sync.posts[2] != isa::kNoSemaphore);
    note("two posts of a semaphore", sync.posts[0] != isa::kNoSemaphore && sync.posts[0] == sync.posts[1]);
  }

  void command(const isa::SyncCommand &sync) {
    note("SYNC on load", sync.engine == 0);
    note("SYNC on store", sync.engine == 1);
    note("SYNC on compute", sync.engine >= 2 && !isa::is_vector_engine(sync.engine));
    if (npu_.vectors() != 0) note("SYNC on a vector unit", isa::is_vector_engine(sync.engine));
  }

  void command(const isa::ProgramCommand &) { note("PROGRAM", true); }
  void command(const isa::TileCommand &) { note("TILE", true); }
  void command(const isa::VectorCommand &v) {
    const std::uint32_t group = npu_.lanes() * 4 * npu_.vector_groups;
    note(fmt::format("VECTOR on unit {}", v.unit), true);
    note("VECTOR of a group and an element", v.elements == group + 1);
    note("VECTOR of whole groups", v.elements % group == 0);
    note("VECTOR of a strip", v.elements <= npu_.lanes());
    note("VECTOR behind a command of its unit", in_a_row_ > 1);
  }

  void command(const isa::ConvCommand &v) {
    note(v.weights ? "WGRAD" : "CONV", true);
    note("taps", v.image.taps() > 1);
    note("taps of one channel", v.image.taps() > 1 && v.product.k == 1);
    note("stride", v.image.stride > 1);
    note("image and weights in a bank", bank(v.product.a) == bank(v.product.b));
  }

  void command(const isa::AddCommand &add) {
    note("ADD of an element", add.m == 1 && add.n == 1);
    note("ADD of several chunks", add.n > npu_.cols);
    note("ADD behind a command of its core", in_a_row_ > 1);
    note(fmt::format("ADD on core {}", add.core), true);
  }

  void command(const isa::DmaCommand &dma) {
    const std::uint64_t row = std::uint64_t{dma.cols} * (dma.fp32 ? 4 : 2);
    note(dma.store ? "STORE" : "LOAD", true);
    note("an element", dma.rows == 1 && dma.cols == 1);
    note("rows of an element", dma.rows > 10 && dma.cols == 1);
    note("more bursts than may be in flight", dma.rows > npu_.outstanding);
    note("row across pages", dma.dram_addr / 4096 != (dma.dram_addr + row - 1) / 4096);
    note("pitch of a page", dma.rows > 1 && dma.pitch == 4096);
    note("pitch of zero", dma.rows > 1 && dma.pitch == 0);
    note("long transfer", dma.rows * row > 512);
  }

  void command(const isa::GemmCommand &g) {
    const std::uint32_t k = g.k;
    note(fmt::format("GEMM on core {}", g.core), true);
    note("K of one", k == 1);
    note("K of a few", k > 1 && k < 6);
    note("K longer than the shadow chain", k > 2 * npu_.rows + 5);
    note("a block", g.m <= npu_.rows && g.n <= npu_.cols);
    note("many blocks", g.m > npu_.rows && g.n > npu_.cols);
    note("A and B in a bank", bank(g.a) == bank(g.b));
    note("A, B and initial values in a bank", g.acc && bank(g.a) == bank(g.b) && bank(g.a) == bank(g.cin));
    const bool crosses = npu_.rows < npu_.lanes() && !g.a_col && g.m > npu_.lanes();
    note("A across panels with a bank between", crosses && g.a.pstride >= 2 * npu_.bank_rows());
    note("accumulation in place", g.acc && g.cin.row == g.cout.row);
  }

  const Machine &npu_;
  std::map<std::string, int> times_;
  std::size_t in_a_row_ = 0;
  std::uint8_t last_engine_ = 255;
};

TEST_P(TimingStreams, CrowdTheHardware) {
  SeenInStreams seen(npu_);
  for (std::uint64_t seed = 0; seed < 300 * npu_.cores; ++seed) { // more engines, fewer streams of a kind for each
    seen.begin();
    for (const isa::Command &command : stream_of(npu_, seed, 0))
      seen.add(*isa::decode(command));
  }
  for (const auto &[what, times] : seen.possible())
    EXPECT_GE(times, 10) << what;
}

INSTANTIATE_TEST_SUITE_P(Npus, TimingStreams,
                         testing::Values("test8", "test6x10", "test13x7", "test5x2", "test4x8", "test8x3", "test2x2",
                                         "test8c2", "test8c4", "test8c8", "test6x10c3", "test8p2", "test8v2",
                                         "test6x10v1", "test8c2v8"));

TEST(TimingStream, OverflowsASemaphore) {
  const Machine npu = load_machine("configs/test8.toml");
  corpus::TimingStreamOptions options;
  options.dram_bytes = kDramBytes;
  options.share_of_overflows = 1;
  EXPECT_EQ(timing::run(npu, corpus::make_timing_stream(npu, options).commands).error, isa::ErrorCode::SEM_OVERFLOW);
}

TEST(Profile, NamesAreChecked) {
  EXPECT_EQ(corpus::parse_profile("timing"), Profile::kTiming);
  EXPECT_THROW(corpus::parse_profile("fast"), std::invalid_argument);
}

TEST(Profile, BothTakesTurns) {
  const Machine npu = load_machine("configs/test8.toml");
  const auto commands = [&](Profile profile, std::uint64_t seed) {
    return corpus::make_stream(npu, profile, seed, 20).commands;
  };
  EXPECT_EQ(commands(Profile::kBoth, 4), commands(Profile::kData, 4));
  EXPECT_EQ(commands(Profile::kBoth, 5), commands(Profile::kTiming, 5));
  EXPECT_NE(commands(Profile::kTiming, 5), commands(Profile::kTiming, 6));
}

/// Seeds in reports mean the same streams for everybody: update the value when the generator changes.
TEST(Profile, StreamsAreTheSameWithEveryCompiler) {
  const Machine npu = load_machine("configs/test6x10.toml");
  std::uint64_t hash = 0;
  for (const isa::Command &c : corpus::make_stream(npu, Profile::kTiming, 7, 200).commands)
    for (const std::uint32_t w : c.words)
      hash = (hash ^ w) * 0x100000001b3U;
  EXPECT_EQ(hash, 16389878019575989683U);
}

TEST(StandingCorpus, IsLargeEnough) {
  std::uint64_t streams = 0;
  std::set<std::string> npus;
  for (const corpus::StandingStreams &s : corpus::standing_corpus("full").streams) {
    streams += s.count;
    npus.insert(s.npu);
    EXPECT_NO_THROW(load_machine(runtime::find_npu(s.npu)));
  }
  EXPECT_GE(streams, 10'000U);
  EXPECT_GE(npus.size(), 6U);
  EXPECT_THROW(corpus::standing_corpus("some"), std::invalid_argument);
}

/// No stream of the quick corpus is in the full one, nor one NPU's in another's.
TEST(StandingCorpus, SeedsDoNotOverlap) {
  std::map<std::uint64_t, std::uint64_t> ranges;
  for (const char *name : {"quick", "full"})
    for (const corpus::StandingStreams &s : corpus::standing_corpus(name).streams)
      EXPECT_TRUE(ranges.emplace(s.seed, s.seed + s.count).second);
  std::uint64_t end = 0;
  for (const auto &[first, last] : ranges) {
    EXPECT_LE(end, first);
    end = last;
  }
}

} // namespace
} // namespace gradweave::test
