// All registered schedulers, whichever there are: golden bits, alone and together, from several threads at once.
#include "compiler/compiler.hpp"
#include "compiler/verify/verify.hpp"
#include "tests/compiler/image_layer.hpp"
#include "tests/compiler/step_run.hpp"

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

namespace gradweave::compiler {
namespace {

CompileOptions options_for(const Scheduler &scheduler, Pass pass) {
  CompileOptions options;
  options.schedule = scheduler.name();
  options.pass = pass;
  options.plans = 10;
  return options;
}

std::vector<Layer> layers() {
  Layer grouped = make_layer(20, 9, 8);
  grouped.groups = 3;
  return {make_layer(17, 33, 29), make_layer(40, 12, 20, false), grouped};
}

/// Three layers of which each reads the one before.
std::vector<Layer> network() {
  std::vector<Layer> all{make_layer(20, 30, 40, false), make_layer(20, 40, 25), make_layer(20, 25, 40)};
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i].name = fmt::format("l{}", i);
  all[1].input = "l0";
  all[2].input = "l1";
  return all;
}

class EveryScheduler : public testing::TestWithParam<const Scheduler *> {};

TEST_P(EveryScheduler, HasANameAndAWordForHelp) {
  EXPECT_EQ(&scheduler_of(GetParam()->name()), GetParam());
  EXPECT_EQ(parse_schedule(to_string(GetParam()->name())), GetParam()->name());
  EXPECT_GT(GetParam()->summary().size(), 10U);
  std::set<std::string_view> names;
  for (const Scheduler *scheduler : schedulers())
    EXPECT_TRUE(names.insert(scheduler->name().name()).second) << "two have one name";
}

TEST_P(EveryScheduler, GivesGoldenBitsOfALayer) {
  std::uint64_t seed = 1;
  for (const char *npu : {"test8", "test6x10c3"})
    for (const Layer &layer : layers()) {
      SCOPED_TRACE(fmt::format("{} on {}, seed {}", layer.name, npu, seed));
      const Compiled compiled = compile({layer}, load_config(npu), options_for(*GetParam(), Pass::kBoth));
      EXPECT_EQ(compiled.requested, GetParam()->name());
      EXPECT_GE(compiled.predicted_cycles, compiled.bounds.run_cycles);
      expect_golden(compiled, load_config(npu), seed++);
    }
}

TEST_P(EveryScheduler, GivesGoldenBitsOfALayerThatIsCutOrSaysThatItCutsNone) {
  std::uint64_t seed = 1;
  for (const char *npu : {"test8", "test6x10c3"})
    for (const Layer &layer : layers()) {
      CompileOptions options = options_for(*GetParam(), Pass::kBoth);
      options.partition = Partition::kWeightSharing;
      SCOPED_TRACE(fmt::format("{} on {}, seed {}", layer.name, npu, seed));
      try {
        expect_golden(compile({layer}, load_config(npu), options), load_config(npu), seed++);
      } catch (const CompileError &error) {
        EXPECT_NE(std::string(error.what()).find("leave the partition out"), std::string::npos) << error.what();
      }
    }
}

TEST_P(EveryScheduler, GivesGoldenBitsOfSeveralLayersOrSaysThatItPlansOneAtATime) {
  for (const Pass pass : {Pass::kForward, Pass::kBackward, Pass::kBoth}) {
    try {
      const Compiled compiled = compile(network(), load_config("test8"), options_for(*GetParam(), pass));
      EXPECT_EQ(compiled.layers.size(), 3U);
      EXPECT_EQ(compiled.tilings.size(), 3U);
      expect_golden(compiled, load_config("test8"), 7);
    } catch (const CompileError &error) {
      EXPECT_NE(std::string(error.what()).find("one layer at a time"), std::string::npos) << error.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schedulers, EveryScheduler, testing::ValuesIn(schedulers()),
                         [](const auto &of) { return std::string(of.param->name().name()); });

/// Lets two threads go on only when both have come.
class Meeting {
public:
  void come() {
    std::unique_lock<std::mutex> lock(mutex_);
    ++there_;
    all_.notify_all();
    if (!all_.wait_for(lock, std::chrono::minutes(5), [&] { return there_ >= 2; }))
      throw std::runtime_error("the other thread does not compile at the same time");
  }

private:
  std::mutex mutex_;
  std::condition_variable all_;
  int there_ = 0;
};

/// Rows for its largest tiles are there, but not side by side: smaller ones are taken.
TEST(Compile, InOrderTakesTilesThatFindAPlace) {
  Convolution conv;
  conv.batch = 3;
  conv.height = 7;
  conv.width = 10;
  conv.channels = 21;
  conv.out_channels = 18;
  conv.kernel_height = 5;
  conv.kernel_width = 4;
  conv.pad_bottom = 4;
  conv.pad_left = 2;
  Layer layer = image_layer(conv);
  layer.channel_blocks = true;
  const Machine npu = load_config("test8c2");
  for (const Sharing sharing : {Sharing::kParts, Sharing::kTurns})
    for (const Reduction reduction : {Reduction::kChain, Reduction::kAdd}) {
      CompileOptions options;
      options.schedule = Schedule("in_order");
      options.pass = Pass::kBoth;
      options.partition = Partition::kWeightSharing;
      options.sharing = sharing;
      options.reduction = reduction;
      EXPECT_GT(compile({layer}, npu, options).predicted_cycles, 0U);
    }
}

/// The tile of an image that both passes load has guard rows for both, and so more than for either.
TEST(Compile, PhasesThatFitOneByOneArePlannedTogetherWhereTheyDoNotFitSo) {
  const Layer layer = image_layer({11, 8, 7, 2, 3, 11, 2, 1, 1, 5, 5, 0, 0, 1, 1, 1});
  for (const char *schedule : {"loop_order", "list", "flexer"}) {
    CompileOptions options;
    options.schedule = Schedule(schedule);
    options.pass = Pass::kBoth;
    options.plans = 5;
    options.flexer_policy.metric = flexer::Metric::kLatency;
    EXPECT_GT(compile({layer}, load_config("test6x10"), options).predicted_cycles, 0U) << schedule;
  }
}

TEST(Compile, TwoThreadsCompileTwoLayersAtOnce) {
  const Machine npu = load_config("test8");
  const std::vector<Layer> both{make_layer(30, 40, 50), make_layer(31, 41, 51)};
  CompileCache cache;
  Meeting meeting;
  std::vector<Compiled> found(2);
  const auto work = [&](std::size_t i) {
    CompileOptions options;
    options.plans = 10;
    bool first = true;
    options.progress = [&](std::uint64_t, std::uint64_t) {
      if (std::exchange(first, false)) meeting.come();
    };
    found[i] = compile({both[i]}, npu, options, cache);
  };
  std::thread other(work, 1);
  EXPECT_NO_THROW(work(0));
  other.join();
  for (std::size_t i = 0; i < both.size(); ++i) {
    CompileOptions options;
    options.plans = 10;
    const Compiled alone = compile({both[i]}, npu, options);
    ASSERT_EQ(found[i].stream.size(), alone.stream.size());
    for (std::size_t c = 0; c < alone.stream.size(); ++c)
      EXPECT_EQ(found[i].stream[c].words, alone.stream[c].words);
  }
}

TEST(Compile, NothingStaysBehindButInTheCache) {
  const Machine npu = load_config("test8");
  std::uint64_t tried = 0;
  CompileOptions options;
  options.plans = 10;
  options.progress = [&](std::uint64_t, std::uint64_t) { ++tried; };
  CompileCache cache;
  compile({make_layer(30, 40, 50)}, npu, options, cache);
  const std::uint64_t once = std::exchange(tried, 0);
  EXPECT_GT(once, 0U);
  Layer other = make_layer(30, 40, 50);
  other.name = "another of this shape";
  EXPECT_EQ(compile({other}, npu, options, cache).layer().name, other.name);
  EXPECT_EQ(tried, 0U) << "the cache knows the shape";
  compile({make_layer(30, 40, 50)}, npu, options);
  EXPECT_EQ(tried, once) << "another compilation does not";
}

TEST(Compile, AsksForLayers) {
  EXPECT_THROW(compile({}, load_config("test8"), CompileOptions{}), std::invalid_argument);
  EXPECT_THROW(scheduler_of(Schedule("nobody")), std::invalid_argument);
}

} // namespace
} // namespace gradweave::compiler
