// Random streams are worth running on any NPU: none ends by an error that nobody drew, and a report of such ends
// refuses.
#include "app/validate/corpus/profile.hpp"
#include "app/validate/report.hpp"
#include "app/validate/verdict/verdict_json.hpp"
#include "sw_models/config/machine.hpp"
#include "sw_models/timing/timing_model.hpp"
#include "tests/support/npu_limits.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace gradweave::test {
namespace {

using runtime::Outcome;
using runtime::ValidationReport;
using runtime::ValidationVerdict;

/// An NPU of the corpus with another memory.
struct Variant {
  const char *name, *npu;
  std::uint64_t bytes_num, bytes_den; ///< a cycle
  std::uint32_t latency, turnaround, batch;
};

const Variant kVariants[] = {
    {"a byte a cycle, no end of a batch", "small", 1, 1, 100, 8, 1U << 30U},
    {"a byte in four cycles, several cores", "test8c4", 1, 4, 20, 8, 1U << 30U},
    {"a byte in 25 cycles", "test8", 1, 25, 20, 8, 8192},
    {"a byte in 25 cycles without latency", "test8", 1, 25, 0, 0, 1},
    {"a byte in 25 cycles, long bursts", "test2x64c8", 1, 25, 20, 8, 500},
    {"the longest latency and turnaround", "test8", 8, 1, 100'000, 10'000, 1},
    {"one burst in flight at 0.001 bytes a cycle", "test8x3", 1, 1000, 30, 31, 500},
    {"faster than the bus", "test8c8", 2000, 1, 1, 0, 1U << 30U},
};

Machine changed(const Variant &v) {
  Machine npu = load_machine(std::string("configs/") + v.npu + ".toml");
  npu.memory.bytes_num = v.bytes_num;
  npu.memory.bytes_den = v.bytes_den;
  npu.memory.latency_cycles = v.latency;
  npu.memory.turnaround_cycles = v.turnaround;
  npu.memory.batch_bytes = v.batch;
  return npu;
}

constexpr std::uint64_t kGroup = 10; ///< seeds of a watchdog

TEST(RandomMix, EndsByNoErrorThatWasNotDrawn) {
  for (const Variant &variant : kVariants) {
    const Machine npu = changed(variant);
    int short_ones = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const corpus::DrawnWatchdog watchdog = corpus::draw_watchdog(npu, seed / kGroup * kGroup);
      const corpus::DrawnStream stream = corpus::make_stream(npu, corpus::Profile::kBoth, seed, 40);
      short_ones += watchdog.may_trip ? 1 : 0;
      if (watchdog.may_trip || stream.broken) continue;
      timing::RunOptions options;
      options.watchdog = watchdog.cycles;
      ASSERT_EQ(timing::run(npu, stream.commands, options).error, isa::ErrorCode::NONE)
          << variant.name << " seed " << seed << " watchdog " << watchdog.cycles;
    }
    EXPECT_LE(short_ones, 100) << variant.name;
  }
}

/// Every configuration whose values are legal can be run: streams of both kinds at both limits of each.
TEST(RandomMix, EndsWellAtEveryLimitOfAConfiguration) {
  for (const NpuLimit &limit : npu_limits()) {
    if (limit.key == "size_bytes" && limit.value == "4096") continue; // a memory without room for a stream's data
    SCOPED_TRACE(limit.key + " = " + limit.value);
    const Machine npu = parse_machine(text_of(limit, limit.value), "f");
    const bool small = npu.spm_rows() < 100'000; // a scratchpad of GBs would have data streams of GBs
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const corpus::DrawnWatchdog watchdog = corpus::draw_watchdog(npu, seed);
      const corpus::DrawnStream stream =
          corpus::make_stream(npu, small ? corpus::Profile::kBoth : corpus::Profile::kTiming, seed, 20);
      if (watchdog.may_trip || stream.broken) continue;
      timing::RunOptions options;
      options.watchdog = watchdog.cycles;
      ASSERT_EQ(timing::run(npu, stream.commands, options).error, isa::ErrorCode::NONE) << "seed " << seed;
    }
  }
}

/// What the draw relies on. At this watchdog the model looks at all progress, beyond it at none.
TEST(RandomMix, NoSilenceIsLongerThanTheLongest) {
  for (const Variant &variant : kVariants) {
    const Machine npu = changed(variant);
    timing::RunOptions options;
    options.watchdog = static_cast<std::uint32_t>(timing::longest_silence(npu));
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const corpus::DrawnStream stream = corpus::make_stream(npu, corpus::Profile::kBoth, seed, 40);
      if (stream.broken) continue;
      ASSERT_EQ(timing::run(npu, stream.commands, options).error, isa::ErrorCode::NONE)
          << variant.name << " seed " << seed;
    }
  }
}

/// Short watchdogs are drawn, and some streams live through them, unless only bursts of one access would.
TEST(RandomMix, ShortWatchdogsTripOnlyNowAndThen) {
  const Machine npu = changed({"", "test8", 4, 1, 20, 8, 1U << 30U});
  int short_ones = 0, tripped = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const corpus::DrawnWatchdog watchdog = corpus::draw_watchdog(npu, seed / kGroup * kGroup);
    const corpus::DrawnStream stream = corpus::make_stream(npu, corpus::Profile::kBoth, seed, 40);
    if (!watchdog.may_trip || stream.broken) continue;
    ++short_ones;
    timing::RunOptions options;
    options.watchdog = watchdog.cycles;
    tripped += timing::run(npu, stream.commands, options).error == isa::ErrorCode::WATCHDOG ? 1 : 0;
  }
  EXPECT_GT(short_ones, 100);
  EXPECT_GT(tripped, short_ones / 10);
  EXPECT_LT(tripped, short_ones * 9 / 10);
}

TEST(RandomMix, StreamsSayWhetherTheyAreBroken) {
  const Machine npu = changed(kVariants[0]);
  int broken = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const corpus::DrawnStream stream = corpus::make_stream(npu, corpus::Profile::kBoth, seed, 20);
    EXPECT_EQ(stream.kind, seed % 2 == 0 ? corpus::Profile::kData : corpus::Profile::kTiming);
    EXPECT_FALSE(stream.broken && stream.kind == corpus::Profile::kData);
    broken += stream.broken ? 1 : 0;
  }
  EXPECT_GT(broken, 20); // a fifth of half of them
  EXPECT_LT(broken, 60);
}

// --- the report ------------------------------------------------------------------------------------

std::vector<ValidationVerdict> verdicts(int count, const std::string &kind, isa::ErrorCode end, bool drawn) {
  ValidationVerdict v;
  v.npu = "slow";
  v.kind = kind;
  v.end = end;
  v.error_drawn = drawn;
  v.commands = 10;
  return std::vector<ValidationVerdict>(static_cast<std::size_t>(count), v);
}

struct Printed {
  std::string text;
  Outcome outcome = Outcome::kPass;
  nlohmann::json json;
};

Printed report_on(const std::vector<std::vector<ValidationVerdict>> &parts) {
  std::FILE *file = std::tmpfile();
  ValidationReport report(file, "random streams", false);
  for (const std::vector<ValidationVerdict> &part : parts) // as they come out of another process
    report.add(runtime::verdicts_from_text(runtime::to_text(part)));
  report.end();
  Printed printed;
  printed.outcome = report.outcome();
  printed.json = nlohmann::json::parse(report.json("gradweave validate"));
  std::rewind(file);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file))
    printed.text += static_cast<char>(c);
  std::fclose(file);
  return printed;
}

using isa::ErrorCode;

TEST(SenseOfRandomStreams, IsMissedWhenTooManyEndByAnErrorNobodyDrew) {
  const Printed p =
      report_on({verdicts(59, "data", ErrorCode::NONE, false), verdicts(41, "data", ErrorCode::WATCHDOG, false),
                 verdicts(100, "timing", ErrorCode::NONE, false)});
  EXPECT_EQ(p.outcome, Outcome::kBadInput);
  for (const char *part : {"error: npu slow: 41 of 100 data streams", "(41 WATCHDOG): 41.0 %", "--watchdog"})
    EXPECT_NE(p.text.find(part), std::string::npos) << part << " is not in " << p.text;
  EXPECT_EQ(p.text.find("timing streams"), std::string::npos);
  EXPECT_EQ(p.json.at("verdict"), "FAIL");
  EXPECT_EQ(p.json.at("senseless").size(), 1U);
  EXPECT_EQ(p.json.at("totals").at("undrawn").at("data").at("streams"), 100);
  EXPECT_EQ(p.json.at("npus").at("slow").at("undrawn").at("data").at("errors").at("WATCHDOG"), 41);
}

TEST(SenseOfRandomStreams, OtherErrorsHaveAnotherRemedy) {
  const Printed p = report_on({verdicts(10, "data", ErrorCode::DRAM_RANGE, false)});
  EXPECT_EQ(p.outcome, Outcome::kBadInput);
  for (const char *part : {"10 of 10 data streams", "(10 DRAM_RANGE): 100.0 %", "size_bytes"})
    EXPECT_NE(p.text.find(part), std::string::npos) << part << " is not in " << p.text;
}

TEST(SenseOfRandomStreams, BearsAFewAndWhatWasDrawn) {
  const auto five = {verdicts(95, "data", ErrorCode::NONE, false), verdicts(5, "data", ErrorCode::WATCHDOG, false),
                     verdicts(50, "timing", ErrorCode::WATCHDOG, true), verdicts(1, "timing", ErrorCode::NONE, false)};
  const Printed p = report_on(five);
  EXPECT_EQ(p.outcome, Outcome::kPass);
  EXPECT_EQ(p.text.find("error: npu"), std::string::npos) << p.text;
  EXPECT_EQ(p.json.at("verdict"), "PASS");
  EXPECT_TRUE(p.json.at("senseless").empty());
  EXPECT_EQ(p.json.at("totals").at("ends").at("WATCHDOG"), 55);
}

TEST(SenseOfRandomStreams, IsNoMatterOfOtherStreams) {
  EXPECT_EQ(report_on({verdicts(4, "", ErrorCode::WATCHDOG, false)}).outcome, Outcome::kPass);
}

/// One in a hundred more than the most: the counts of several NPUs are not thrown together.
TEST(SenseOfRandomStreams, CountsEachNpu) {
  std::vector<ValidationVerdict> other = verdicts(1000, "data", ErrorCode::NONE, false);
  for (ValidationVerdict &v : other)
    v.npu = "fast";
  const Printed p =
      report_on({verdicts(94, "data", ErrorCode::NONE, false), other, verdicts(6, "data", ErrorCode::WATCHDOG, false)});
  EXPECT_EQ(p.outcome, Outcome::kBadInput);
  EXPECT_NE(p.text.find("npu slow: 6 of 100 data"), std::string::npos) << p.text;
}

} // namespace
} // namespace gradweave::test
