// The gate end to end on the Verilated NPU: green with the right model, red with one that is wrong by a cycle.
#include "app/validate/corpus/profile.hpp"
#include "app/validate/run.hpp"
#include "base/random/dice.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <variant>

namespace gradweave::test {
namespace {

constexpr std::uint64_t kMemory = 2U << 20U;

Machine test8() { return load_machine("configs/test8.toml"); }

/// Verdicts on a few streams of a model of another NPU.
std::vector<runtime::ValidationVerdict> validate_with(const std::function<void(Machine &)> &change,
                                                      corpus::Profile profile, std::uint64_t seed = 1) {
  Machine wrong = test8();
  change(wrong);
  const auto rtl = make_rtl_device(test8());
  const auto model = make_timing_device(wrong);
  EXPECT_EQ(rtl->allocate(kMemory), 0U);
  EXPECT_EQ(model->allocate(kMemory), 0U);
  std::vector<runtime::ValidationVerdict> verdicts;
  for (; verdicts.size() < 8; ++seed) {
    runtime::ValidationStream stream;
    stream.name = "seed " + std::to_string(seed);
    stream.commands = corpus::make_stream(test8(), profile, seed, 40).commands;
    EXPECT_LE(runtime::dram_extent(stream.commands, test8()), kMemory);
    verdicts.push_back(runtime::validate_stream(*rtl, *model, stream));
    rtl->reset();
    model->reset();
  }
  return verdicts;
}

std::size_t red(const std::vector<runtime::ValidationVerdict> &verdicts) {
  std::size_t count = 0;
  for (const runtime::ValidationVerdict &v : verdicts) {
    count += v.outcome == runtime::Outcome::kMismatch ? 1 : 0;
    EXPECT_EQ(v.outcome == runtime::Outcome::kPass, v.report.empty());
    EXPECT_GT(v.commands, 0U);
    EXPECT_GT(v.cycles, 0U);
    EXPECT_EQ(v.counters, isa::kCounters.size());
  }
  return count;
}

TEST(ValidateRtl, IsGreenWithTheRightModel) {
  for (const runtime::ValidationVerdict &v : validate_with([](Machine &) {}, corpus::Profile::kBoth))
    EXPECT_EQ(v.report, "") << v.name;
}

/// A value of the key's range, short ones as often as long ones; none that would take the test minutes.
std::uint32_t draw(const MemoryKey &key, Dice &dice) {
  const auto value = static_cast<std::uint32_t>(key.least + dice.below(std::uint64_t{2} << dice.below(11)));
  return std::min(value, key.most);
}

/// Whatever can be said of a memory that is no part of the NPU: to the cycle, burst by burst and many bursts at a time.
TEST(ValidateRtl, IsGreenWithAnyMemory) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Dice dice(seed);
    Machine npu = test8();
    npu.memory.bytes_num = dice.between(1, 40);
    npu.memory.bytes_den = dice.between(1, 3);
    for (const MemoryKey &key : memory_keys())
      npu.memory.*key.field = draw(key, dice);
    const auto rtl = make_rtl_device(npu);
    const auto model = make_timing_device(npu);
    EXPECT_EQ(rtl->allocate(kMemory), 0U);
    EXPECT_EQ(model->allocate(kMemory), 0U);
    for (const auto profile : {corpus::Profile::kTiming, corpus::Profile::kData}) { // one after the other
      runtime::ValidationStream stream;
      stream.commands = corpus::make_stream(npu, profile, seed, 40).commands;
      const runtime::ValidationVerdict verdict = runtime::validate_stream(*rtl, *model, stream);
      EXPECT_EQ(verdict.report, "");
      timing::RunOptions every_beat;
      every_beat.watchdog = static_cast<std::uint32_t>(timing::longest_silence(npu));
      if (verdict.end == isa::ErrorCode::NONE) {
        EXPECT_EQ(timing::run(npu, stream.commands, every_beat).cycles(), verdict.cycles);
      }
      rtl->reset();
      model->reset();
    }
  }
}

TEST(ValidateRtl, IsRedWithACycleOfLatencyMore) {
  const auto verdicts = validate_with([](Machine &npu) { ++npu.memory.latency_cycles; }, corpus::Profile::kData);
  EXPECT_EQ(red(verdicts), verdicts.size());
  // Everything begins with a command fetch.
  EXPECT_NE(verdicts.front().report.find("first difference in time: issue of command #0"), std::string::npos)
      << verdicts.front().report;
}

/// Through a ring: green with the right model, and red, with commands and host, with a wrong one.
TEST(ValidateRtl, TellsOfAStreamThroughARing) {
  for (const std::uint32_t more : {0, 1}) {
    Machine npu = test8();
    npu.memory.latency_cycles += more;
    const auto rtl = make_rtl_device(test8());
    const auto model = make_timing_device(npu);
    for (Device *device : {rtl.get(), model.get()})
      EXPECT_EQ(device->allocate(kMemory), 0U);
    for (std::uint64_t seed = 2; seed <= 20; seed += 2) {
      runtime::ValidationStream stream;
      stream.commands = corpus::make_stream(test8(), corpus::Profile::kData, seed, 40).commands;
      stream.host = seed;
      const runtime::ValidationVerdict v = runtime::validate_stream(*rtl, *model, stream);
      EXPECT_TRUE(v.ring);
      EXPECT_GT(v.marks, 0U);
      EXPECT_EQ(v.report.empty(), more == 0) << v.report;
      if (more != 0) {
        EXPECT_NE(v.report.find("the host of the ring went another way"), std::string::npos) << v.report;
      }
      rtl->reset();
      model->reset();
    }
  }
}

/// All VECTORs of a stream that ends well; of one that an error stops, those before.
TEST(ValidateRtl, CountsVectorsThatRan) {
  const Machine npu = load_machine("configs/test8v2.toml");
  const auto rtl = make_rtl_device(npu);
  const auto model = make_timing_device(npu);
  for (Device *device : {rtl.get(), model.get()})
    EXPECT_EQ(device->allocate(kMemory), 0U);
  std::uint64_t all = 0, stopped = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    runtime::ValidationStream stream;
    stream.commands = corpus::make_stream(npu, corpus::Profile::kBoth, seed, 40).commands;
    std::uint64_t vectors = 0;
    for (const isa::Command &command : stream.commands) {
      const auto decoded = isa::decode(command);
      vectors += decoded && std::holds_alternative<isa::VectorCommand>(decoded->op) ? 1 : 0;
    }
    const runtime::ValidationVerdict v = runtime::validate_stream(*rtl, *model, stream);
    if (v.end == isa::ErrorCode::NONE) {
      EXPECT_EQ(v.vectors, vectors) << "seed " << seed;
    }
    EXPECT_LE(v.vectors, vectors) << "seed " << seed;
    all += v.vectors;
    stopped += v.vectors < vectors ? 1 : 0;
    rtl->reset();
    model->reset();
  }
  EXPECT_GT(all, 100U);
  EXPECT_GT(stopped, 0U);
}

TEST(ValidateRtl, IsRedWithACycleOfTurnaroundMore) {
  EXPECT_GT(red(validate_with([](Machine &npu) { ++npu.memory.turnaround_cycles; }, corpus::Profile::kBoth)), 4U);
}

TEST(ValidateRtl, IsRedWithAShorterQueue) {
  EXPECT_GT(red(validate_with([](Machine &npu) { --npu.queue_depth; }, corpus::Profile::kTiming)), 2U);
}

TEST(ValidateRtl, IsRedWithOtherBanks) {
  EXPECT_GT(red(validate_with([](Machine &npu) { npu.spm_banks = 2; }, corpus::Profile::kTiming)), 2U);
}

TEST(ValidateRtl, AgreesOnAStreamWithoutCommands) {
  const auto rtl = make_rtl_device(test8());
  const auto model = make_timing_device(test8());
  const runtime::ValidationVerdict v = runtime::validate_stream(*rtl, *model, {});
  EXPECT_EQ(v.report, "");
  EXPECT_EQ(v.end, isa::ErrorCode::BAD_START);
}

/// Rows far apart in the largest memory of a configuration, at each bit of an address.
TEST(ValidateRtl, AgreesOnAMemoryOfATerabyte) {
  Machine npu = test8();
  npu.memory.size_bytes = std::uint64_t{1} << 40U;
  const auto rtl = make_rtl_device(npu);
  const auto model = make_timing_device(npu);
  runtime::ValidationStream stream;
  for (unsigned bit = 20; bit < 40; ++bit)
    for (const bool store : {false, true}) {
      isa::DmaCommand c;
      c.store = store;
      c.dram_addr = (std::uint64_t{1} << bit) - 6;
      c.rows = 3;
      c.cols = 20;
      c.pitch = bit < 32 ? 1U << bit : 0xFFFFFFFE;
      c.spm.pstride = 3;
      isa::Decoded d;
      d.op = c;
      stream.commands.push_back(isa::encode(d));
    }
  const std::uint64_t bytes = runtime::dram_extent(stream.commands, npu);
  EXPECT_GT(bytes, std::uint64_t{1} << 39U);
  for (Device *device : {rtl.get(), model.get()})
    EXPECT_EQ(device->allocate(bytes), 0U); // commands lie above, too
  const runtime::ValidationVerdict v = runtime::validate_stream(*rtl, *model, stream);
  EXPECT_EQ(v.report, "");
  EXPECT_EQ(v.end, isa::ErrorCode::NONE);
}

TEST(ValidateRtl, IsRedWithAnotherWatchdog) {
  const auto rtl = make_rtl_device(test8());
  DeviceOptions options;
  options.watchdog_cycles = 65537;
  const auto model = make_timing_device(test8(), options);
  runtime::ValidationStream stream;
  isa::Decoded d;
  d.op = isa::SyncCommand{0};
  d.sync.waits[0] = {1, 1};
  stream.commands = {isa::encode(d)};
  const runtime::ValidationVerdict v = runtime::validate_stream(*rtl, *model, stream);
  EXPECT_EQ(v.outcome, runtime::Outcome::kMismatch);
  EXPECT_EQ(v.end, isa::ErrorCode::WATCHDOG);
  EXPECT_EQ(v.commands_differ, 0U);
  EXPECT_NE(v.report.find("counter CYCLES"), std::string::npos) << v.report;
}

} // namespace
} // namespace gradweave::test
