// Plans on disk: found again, and harmless whatever has become of them.
#include "runtime/run/plan_cache.hpp"

#include "base/file/journal.hpp"
#include "compiler/back/compile_plan.hpp"
#include "compiler/compiler.hpp"
#include "runtime/job/job.hpp"
#include "tests/support/scratch_directory.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <thread>
#include <unistd.h>

namespace gradweave::runtime {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class PlanCacheTest : public ::testing::Test {
protected:
  fs::path plans() const { return directory_ / "below" / "plans"; }
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    std::error_code none;
    for (const auto &entry : fs::directory_iterator(plans(), none))
      all.push_back(entry.path());
    return all;
  }

  /// A layer compiled by a process of its own, with what the directory holds.
  compiler::Compiled compile(const std::string &version = "1") const {
    PlanCache kept(plans(), version);
    compiler::CompileCache cache;
    cache.plans.store = &kept;
    compiler::CompileOptions options;
    options.pass = compiler::Pass::kBackward;
    options.plans = 20;
    searched_ = false;
    options.progress = [this](std::uint64_t, std::uint64_t) { searched_ = true; };
    return compiler::compile({layer_}, npu_, options, cache);
  }

  /// The only file's entry, changed by `edit` and with a checksum that fits.
  void edit(const std::function<void(Json &)> &edit) const {
    const fs::path file = files().at(0);
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    const auto entry = Journal::parse_line(line);
    ASSERT_TRUE(entry);
    Json value = Json::parse(entry->second);
    edit(value);
    std::ofstream(file) << Journal::line(entry->first, value.dump());
  }

  const test::ScratchDirectory scratch_;
  const fs::path directory_ = scratch_.path();
  Machine npu_ = load_machine("configs/test8.toml");
  compiler::Layer layer_{"fc", 40, 30, 20, true, 0};
  mutable bool searched_ = false;
};

TEST_F(PlanCacheTest, ASecondProcessFindsThePlans) {
  const auto first = compile();
  EXPECT_TRUE(searched_);
  ASSERT_EQ(files().size(), 1U);
  const auto second = compile();
  EXPECT_FALSE(searched_);
  EXPECT_EQ(second.stream, first.stream);
  EXPECT_EQ(second.predicted_cycles, first.predicted_cycles);
}

TEST_F(PlanCacheTest, AnotherVersionOfTheToolSearchesAgain) {
  compile("1");
  compile("2");
  EXPECT_TRUE(searched_);
  EXPECT_EQ(files().size(), 2U);
}

TEST_F(PlanCacheTest, AnotherNpuSearchesAgain) {
  compile();
  npu_.memory.latency_cycles += 1;
  compile();
  EXPECT_TRUE(searched_);
}

TEST_F(PlanCacheTest, DamageIsToldAndMadeGood) {
  const auto first = compile();
  const fs::path file = files().at(0);
  std::string whole;
  {
    std::ifstream in(file);
    whole.assign(std::istreambuf_iterator<char>(in), {});
  }
  std::string flipped = whole;
  flipped[whole.size() / 2] ^= 1;
  for (const std::string &text : {std::string(), whole.substr(0, whole.size() / 2), flipped, std::string("[]\n"),
                                  std::string(100'000, '['), std::string(2U << 20U, ' ')}) {
    std::ofstream(file, std::ios::trunc) << text;
    ::testing::internal::CaptureStderr();
    const auto again = compile();
    const std::string told = ::testing::internal::GetCapturedStderr();
    EXPECT_TRUE(searched_);
    EXPECT_EQ(again.stream, first.stream);
    EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << told;
    EXPECT_NE(told.find(file.string()), std::string::npos) << told;
    compile();
    EXPECT_FALSE(searched_); // it was kept again
  }
}

TEST_F(PlanCacheTest, AnEntryOfAnotherKeyIsForeign) {
  compile();
  const fs::path mine = files().at(0);
  layer_.m = 41;
  compile();
  std::vector<fs::path> both = files();
  const fs::path theirs = both.at(0) == mine ? both.at(1) : both.at(0);
  fs::copy_file(theirs, mine, fs::copy_options::overwrite_existing);
  layer_.m = 40;
  ::testing::internal::CaptureStderr();
  compile();
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("another compilation"), std::string::npos);
  EXPECT_TRUE(searched_);
}

/// Each breaks a plan in a way that its checksum does not show.
TEST_F(PlanCacheTest, PlansThatAreWrongAreNotTaken) {
  const std::vector<std::function<void(Json &)>> faults{
      [](Json &v) { v["plans"][0]["tile"][0] = 0; },
      [](Json &v) { v["plans"][0]["tile"][1] = 4'000'000'000U; },
      [](Json &v) { v["plans"][0]["tile"][2] = -1; },
      [](Json &v) { v["plans"][0]["tile"][0] = 1; }, // a plan, but of other cycles
      [](Json &v) { v["plans"][0]["kind"] = 200; },
      [](Json &v) { v["plans"][0]["layer"] = 7; },
      [](Json &v) { v["plans"][0]["parts"][1] = 0; },
      [](Json &v) { v["plans"][0]["parts"][2] = 9; },
      [](Json &v) {
        v["plans"][0]["loops"] = {0, 0, 0};
      },
      [](Json &v) {
        v["plans"][0]["loops"] = {0, 1, 9};
      },
      [](Json &v) {
        v["plans"][0]["split"][0] = {0, 0};
      },
      [](Json &v) {
        v["plans"][0]["split"][2] = {4'000'000'000U, 4'000'000'000U};
      },
      [](Json &v) { v["plans"][0]["window"] = 0; },
      [](Json &v) { v["plans"][0]["reach"] = 3; },
      [](Json &v) { v["plans"][0]["starts_empty"] = true; },
      [](Json &v) { v["plans"][0]["woven"] = 2; },
      [](Json &v) { v["plans"][0]["policy"][0] = -1; },
      [](Json &v) { v["plans"][0]["policy"][0] = nullptr; },
      [](Json &v) { v["plans"].erase(0); },
      [](Json &v) { v["plans"].push_back(v["plans"][0]); },
      [](Json &v) { v["plans"] = 3; },
      [](Json &v) { v["cycles"] = v["cycles"].get<std::uint64_t>() - 1; },
      [](Json &v) { v.erase("tuning"); },
  };
  const auto first = compile();
  for (std::size_t i = 0; i < faults.size(); ++i) {
    edit(faults[i]);
    ::testing::internal::CaptureStderr();
    const auto again = compile();
    const std::string told = ::testing::internal::GetCapturedStderr();
    EXPECT_TRUE(searched_) << i;
    EXPECT_EQ(again.stream, first.stream) << i;
    EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << i << ": " << told;
  }
}

/// Hears what a search found, and under which key.
class Listener final : public compiler::PlanStore {
public:
  std::optional<compiler::FoundPlans> find(const std::string & /*key*/) override { return std::nullopt; }
  void reject(const std::string & /*key*/) override {}
  void keep(const std::string &key, const compiler::FoundPlans &found) override {
    key_ = key;
    found_ = found;
  }
  std::string key_;
  compiler::FoundPlans found_;
};

/// A plan that fits and takes the cycles that it says is taken, whoever wrote it, and gives the bits that all plans do.
TEST_F(PlanCacheTest, AnotherPlanOfTheLayerGivesTheSameBits) {
  const compiler::Compiled first = compile();
  Listener listener;
  compiler::CompileCache cache;
  cache.plans.store = &listener;
  compiler::CompileOptions options;
  options.pass = compiler::Pass::kBackward;
  options.plans = 20;
  compiler::compile({layer_}, npu_, options, cache);
  compiler::FoundPlans other = listener.found_;
  other.plans[0].tile = {5, 9, 7};
  other.cycles = compiler::compile_plans({layer_}, options.pass, other.plans, npu_).predicted_cycles;
  PlanCache(plans(), "1").keep(listener.key_, other);

  const compiler::Compiled second = compile();
  EXPECT_FALSE(searched_);
  EXPECT_NE(second.stream, first.stream);
  JobSpec spec;
  spec.layers = {layer_};
  spec.npu = npu_;
  spec.compile.pass = options.pass;
  spec.backend = Backend::kFunctional;
  const JobResult one = run_job(spec, first, JobEvents{}), two = run_job(spec, second, JobEvents{});
  EXPECT_EQ(one.outcome, Outcome::kPass);
  EXPECT_EQ(two.outcome, Outcome::kPass);
  ASSERT_EQ(one.outputs.size(), two.outputs.size());
  for (std::size_t i = 0; i < one.outputs.size(); ++i)
    EXPECT_EQ(one.outputs[i].hash, two.outputs[i].hash);
}

TEST_F(PlanCacheTest, ADirectoryThatCannotBeWrittenCostsALine) {
  fs::create_directories(plans().parent_path());
  std::ofstream(plans()) << "a file";
  ::testing::internal::CaptureStderr();
  EXPECT_FALSE(compile().stream.empty());
  const std::string told = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << told;
}

TEST_F(PlanCacheTest, TheOldestGoIfThereAreTooMany) {
  PlanCache small(plans(), "1", 4000);
  compiler::FoundPlans found;
  found.plans.resize(2);
  for (int i = 0; i < 200; ++i)
    small.keep(std::to_string(i), found);
  EXPECT_TRUE(small.find("199"));
  EXPECT_FALSE(small.find("0"));
  EXPECT_LT(files().size(), 100U);
}

TEST_F(PlanCacheTest, ProcessesAndThreadsShareADirectory) {
  compiler::FoundPlans found;
  found.plans.resize(1);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      PlanCache own(plans(), "1"); // as another process would
      for (int i = 0; i < 50; ++i) {
        compiler::FoundPlans mine = found;
        mine.cycles = t;
        own.keep("shared", mine);
        const auto seen = own.find("shared");
        EXPECT_TRUE(seen && seen->cycles < 4);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(files().size(), 1U); // and no temporary one
}

TEST(PlanCacheDirectory, OptionThenVariablesThenHome) {
  const std::array<const char *, 3> names{"GRADWEAVE_PLAN_CACHE", "XDG_CACHE_HOME", "HOME"};
  std::array<std::optional<std::string>, 3> before;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (const char *value = std::getenv(names[i])) before[i] = value;
  ::setenv("HOME", "/h", 1);
  ::unsetenv("XDG_CACHE_HOME");
  ::unsetenv("GRADWEAVE_PLAN_CACHE");
  EXPECT_EQ(plan_cache_directory(""), "/h/.cache/gradweave");
  ::setenv("XDG_CACHE_HOME", "/x", 1);
  EXPECT_EQ(plan_cache_directory(""), "/x/gradweave");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(plan_cache_directory(""), "/h/.cache/gradweave");
  ::setenv("GRADWEAVE_PLAN_CACHE", "/v", 1);
  EXPECT_EQ(plan_cache_directory(""), "/v");
  EXPECT_EQ(plan_cache_directory("/o"), "/o");
  EXPECT_EQ(plan_cache_directory("off"), "");
  ::setenv("GRADWEAVE_PLAN_CACHE", "off", 1);
  EXPECT_EQ(plan_cache_directory(""), "");
  for (std::size_t i = 0; i < names.size(); ++i)
    before[i] ? ::setenv(names[i], before[i]->c_str(), 1) : ::unsetenv(names[i]);
}

} // namespace
} // namespace gradweave::runtime
