// Commands that come while the NPU runs: RTL and timing model agree to the cycle on what a host does to a ring, and the
// functional model on the bits.
#include "app/validate/corpus/profile.hpp"
#include "app/validate/corpus/random_stream.hpp"
#include "app/validate/host/random_host.hpp"
#include "device/device.hpp"
#include "isa/assembler.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

namespace gradweave::test {
namespace {

using corpus::HostRecord;
using corpus::RandomHost;

constexpr std::uint64_t kMemory = 2U << 20U;

/// Without the last ones of which nothing happened: after an error the host sees it on the RTL when the bus is quiet,
/// and may have gone on appending.
std::vector<timing::CommandTimes> known(std::vector<timing::CommandTimes> times) {
  while (!times.empty() && times.back() == timing::CommandTimes{})
    times.pop_back();
  return times;
}

class RingOn : public testing::TestWithParam<const char *> {};

TEST_P(RingOn, IsTheSameOnRtlAndModelToTheCycle) {
  const Machine npu = load_machine(fmt::format("configs/{}.toml", GetParam()));
  const auto rtl = make_rtl_device(npu);
  const auto model = make_timing_device(npu);
  for (const auto &device : {rtl.get(), model.get()})
    ASSERT_EQ(device->allocate(kMemory), 0U);
  std::uint64_t wraps = 0, full = 0, errors = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(fmt::format("{} seed {}", GetParam(), seed));
    const auto stream = corpus::make_stream(npu, corpus::Profile::kBoth, seed, 60).commands;
    if (stream.size() > 2000) continue;
    const HostRecord on_rtl = RandomHost(*rtl, stream, seed).run();
    const HostRecord on_model = RandomHost(*model, stream, seed).run();
    EXPECT_EQ(on_rtl.status.error, on_model.status.error);
    EXPECT_EQ(on_rtl.status.error_index, on_model.status.error_index);
    if (on_rtl.status.ok()) {
      EXPECT_EQ(on_rtl.times, on_model.times);
      EXPECT_EQ(on_rtl.marks, on_model.marks);
    }
    ASSERT_EQ(known(rtl->command_times()), known(model->command_times()));
    ASSERT_EQ(rtl->read_counters().values, model->read_counters().values);
    wraps += on_rtl.wraps;
    full += on_rtl.waits;
    errors += on_rtl.status.ok() ? 0 : 1;
    for (const auto &device : {rtl.get(), model.get()})
      device->reset();
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(wraps, 20U);
  EXPECT_GT(full, 5U);
  EXPECT_GT(errors, 0U);
}

/// A product from memory to memory, and a MARK; then another.
const char *const kFirst = "LOAD bf16 dram=0x2000 pitch=64 rows=20 cols=8 spm=0 post=1\n"
                           "GEMM fp32 m=8 n=8 k=20 a=row:0:8:0 b=row:0:8:0 cout=20:16:0 wait=1:1 post=2\n"
                           "STORE fp32 dram=0x3000 pitch=64 rows=8 cols=8 spm=20 pstride=16 wait=2:1\n"
                           "MARK tag=1\n";

/// Tail and closing at every phase of what was there before: before the fetch, while it is under way, while each engine
/// works, and when all is done and the mark taken.
TEST(Ring, TakesTheTailInEveryCycle) {
  const Machine npu = load_machine("configs/test8.toml");
  const auto rtl = make_rtl_device(npu);
  const auto model = make_timing_device(npu);
  const auto stream = isa::assemble(kFirst);
  for (const auto &device : {rtl.get(), model.get()})
    ASSERT_EQ(device->allocate(kMemory), 0U);
  for (std::uint64_t pause = 0; pause < 300; ++pause) {
    SCOPED_TRACE(pause);
    std::vector<std::uint64_t> ends;
    for (const auto &device : {rtl.get(), model.get()}) {
      device->open(32);
      device->append(stream);
      const std::uint64_t until = device->now() + pause;
      while (device->now() < until && device->advance(until))
        device->take_mark();
      ends.push_back(device->append(stream));
      ends.push_back(device->close());
      while (device->advance(timing::kNever))
        ends.push_back(device->take_mark()->cycle);
      EXPECT_TRUE(device->wait().ok());
      ends.push_back(device->read_counters()[isa::Counter::CYCLES]);
    }
    const std::size_t half = ends.size() / 2;
    EXPECT_EQ(std::vector(ends.begin(), ends.begin() + half), std::vector(ends.begin() + half, ends.end()));
    ASSERT_EQ(rtl->command_times(), model->command_times());
    ASSERT_EQ(rtl->read_counters().values, model->read_counters().values);
  }
}

/// A tail that asks for three fetch bursts at once, at every phase of LOADs that follow each other without a pause and
/// offer a burst a cycle: all of them go through one multiplexer.
TEST(Ring, FetchesBetweenTheBurstsOfLoads) {
  std::string loads, more;
  for (int i = 0; i < 6; ++i)
    loads += fmt::format("LOAD bf16 dram=0x2000 pitch=64 rows={} cols=8 spm=0\n", i == 0 ? 45 : 5);
  for (int i = 0; i < 15; ++i)
    more += "SYNC engine=compute0\n";
  for (const char *name : {"test8", "test6x10"}) {
    const Machine npu = load_machine(fmt::format("configs/{}.toml", name));
    const auto rtl = make_rtl_device(npu);
    const auto model = make_timing_device(npu);
    for (const auto &device : {rtl.get(), model.get()})
      ASSERT_EQ(device->allocate(kMemory), 0U);
    for (std::uint64_t pause = 0; pause < 250; ++pause) {
      SCOPED_TRACE(fmt::format("{} pause {}", name, pause));
      for (const auto &device : {rtl.get(), model.get()}) {
        device->open(32);
        device->append(isa::assemble(loads + "MARK tag=1\n")); // up to the last command of a burst
        device->advance(device->now() + pause);
        device->append(isa::assemble(more + "MARK tag=2\n"));
        device->close();
        while (device->advance(timing::kNever))
          device->take_mark();
        EXPECT_TRUE(device->wait().ok());
      }
      ASSERT_EQ(rtl->command_times(), model->command_times());
      ASSERT_EQ(rtl->read_counters().values, model->read_counters().values);
    }
  }
}

/// The model as a function of all writes of the host gives what it gave step by step.
TEST(Ring, IsTheSameWhenTheHostsWritesAreKnown) {
  const Machine npu = load_machine("configs/test8.toml");
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto model = make_timing_device(npu);
    model->allocate(kMemory);
    const auto stream = corpus::make_stream(npu, corpus::Profile::kData, seed, 60).commands;
    const HostRecord host = RandomHost(*model, stream, seed).run();
    timing::RunOptions options;
    options.stream_addr = kMemory;
    options.ring = {host.places, 0, host.writes};
    const timing::RunResult whole = timing::run(npu, host.sent, options);
    EXPECT_TRUE(whole.ok());
    EXPECT_TRUE(whole.refused.empty());
    EXPECT_EQ(whole.commands, model->command_times());
    EXPECT_EQ(whole.counters, model->read_counters().values);
    EXPECT_EQ(whole.marks, host.marks);
    options.watchdog = static_cast<std::uint32_t>(timing::longest_silence(npu)); // every beat matters
    EXPECT_EQ(timing::run(npu, host.sent, options).counters, whole.counters);
  }
}

TEST(Ring, OfAFinishedRunIsGoneAfterAReset) {
  const Machine npu = load_machine("configs/test8.toml");
  const auto stream = isa::assemble(kFirst);
  const auto rtl = make_rtl_device(npu);
  const auto model = make_timing_device(npu);
  for (const auto &device : {rtl.get(), model.get()}) {
    device->allocate(kMemory);
    for (const std::uint64_t pause : {1, 12, 30, 60, 500}) {
      device->open(32);
      device->append(stream);
      device->advance(device->now() + pause);
      device->reset(); // busy, or waiting for the host
      EXPECT_THROW(device->append(stream), DeviceError);
      device->submit(stream);
      EXPECT_TRUE(device->wait().ok());
      device->open(64);
      device->append(stream);
      device->close();
      EXPECT_TRUE(device->wait().ok());
    }
  }
  EXPECT_EQ(rtl->command_times(), model->command_times());
  EXPECT_EQ(rtl->read_counters().values, model->read_counters().values);
}

TEST(Marks, ThatARunLeavesInTheLogDoNotEndTheNextRun) {
  const Machine npu = load_machine("configs/test8.toml");
  const auto with = isa::assemble(kFirst);
  const std::vector<isa::Command> without(with.begin(), with.end() - 1);
  const auto rtl = make_rtl_device(npu);
  const auto model = make_timing_device(npu);
  for (const auto &device : {rtl.get(), model.get()})
    ASSERT_EQ(device->allocate(kMemory), 0U);
  for (const auto *stream : {&with, &without, &with, &with, &without, &without}) {
    for (const auto &device : {rtl.get(), model.get()}) {
      device->submit(*stream);
      EXPECT_TRUE(device->wait().ok());
    }
    EXPECT_EQ(rtl->command_times(), model->command_times());
    EXPECT_EQ(rtl->read_counters().values, model->read_counters().values);
  }
}

/// Whatever the host does, results are those of the commands in their order.
TEST(Ring, LeavesTheBitsAlone) {
  const Machine npu = load_machine("configs/test8.toml");
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    corpus::RandomStreamOptions options;
    options.seed = seed;
    const corpus::RandomStream stream = corpus::make_random_stream(npu, options);
    std::vector<std::vector<std::uint8_t>> images;
    for (const auto make : {make_functional_device, make_rtl_device}) {
      const auto device = make(npu, {});
      ASSERT_EQ(device->allocate(kMemory), 0U);
      device->copy_in(0, stream.dram_image.data(), stream.dram_image.size());
      EXPECT_TRUE(RandomHost(*device, stream.commands, seed).run().status.ok());
      images.emplace_back(stream.dram_image.size());
      device->copy_out(0, images.back().data(), images.back().size());
    }
    EXPECT_EQ(images[0], images[1]) << "seed " << seed;
    EXPECT_NE(images[0], stream.dram_image);
  }
}

TEST(Ring, RefusesWhatTheContractDoesNotAllow) {
  const Machine npu = load_machine("configs/test8.toml");
  for (const auto make : {make_functional_device, make_timing_device, make_rtl_device}) {
    const auto device = make(npu, {});
    const auto stream = isa::assemble(kFirst);
    const auto refusal = [&](const std::function<void()> &call) {
      try {
        call();
      } catch (const DeviceError &error) {
        return std::string(error.what());
      }
      return std::string("nothing");
    };
    EXPECT_NE(refusal([&] { device->open(0); }).find("multiple of 32"), std::string::npos);
    EXPECT_NE(refusal([&] { device->open(33); }).find("multiple of 32"), std::string::npos);
    EXPECT_NE(refusal([&] { device->append(stream); }).find("open() one first"), std::string::npos);
    device->open(32);
    EXPECT_NE(refusal([&] { device->append(std::vector<isa::Command>(33, stream[0])); }).find("33 commands for 32"),
              std::string::npos);
    EXPECT_NE(refusal([&] { device->wait(); }).find("close() it first"), std::string::npos);
    EXPECT_NE(refusal([&] { device->submit(stream); }).find("is running"), std::string::npos);
    device->append(stream);
    EXPECT_EQ(device->room(), 28U);
    while (!device->take_mark())
      device->advance(timing::kNever);
    EXPECT_EQ(device->room(), 32U);
    device->close();
    EXPECT_NE(refusal([&] { device->close(); }).find("closed"), std::string::npos);
    EXPECT_NE(refusal([&] { device->append(stream); }).find("closed"), std::string::npos);
    EXPECT_TRUE(device->wait().ok());
    EXPECT_NE(refusal([&] { device->advance(1); }).find("open() one first"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(Npus, RingOn,
                         testing::Values("test8", "test6x10", "test13x7", "test2x64c8", "test8c8", "test8p2"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace gradweave::test
