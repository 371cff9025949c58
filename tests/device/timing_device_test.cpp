// The timing model as a device: what it refuses, and that it keeps addresses but no data.
#include "device/device.hpp"

#include "isa/assembler.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace gradweave {
namespace {

Machine test8() { return load_machine("configs/test8.toml"); }

TEST(TimingDevice, RefusesWhatItDoesNotHave) {
  const auto refusal = [](const std::function<void(DeviceOptions &)> &change) -> std::string {
    DeviceOptions options;
    change(options);
    try {
      make_timing_device(test8(), options);
    } catch (const DeviceError &error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_NE(refusal([](auto &o) { o.stress.stall_probability = 0.1; }).find("stress.stall_probability"),
            std::string::npos);
  EXPECT_NE(refusal([](auto &o) { o.faults.emplace_back(); }).find("faults"), std::string::npos);
  EXPECT_NE(refusal([](auto &o) { o.trace.file = "x.fst"; }).find("trace.file"), std::string::npos);
  EXPECT_EQ(refusal([](auto &o) { o.stress.seed = 7; }), "nothing"); // a seed alone asks for nothing
}

TEST(TimingDevice, ChecksAddressesWithoutMemory) {
  Machine npu = test8();
  npu.memory.size_bytes = std::uint64_t{1} << 50U; // no machine has that
  const auto device = make_timing_device(npu);
  EXPECT_EQ(device->allocate(10, 64), 0U);
  EXPECT_EQ(device->allocate(10, 4096), 4096U);
  std::uint32_t value = 5;
  device->copy_in((std::uint64_t{1} << 50U) - 4, &value, sizeof value);
  device->copy_out(0, &value, sizeof value);
  EXPECT_EQ(value, 5U);
  EXPECT_THROW(device->copy_in((std::uint64_t{1} << 50U) - 3, &value, sizeof value), DeviceError);
}

const char *const kProgram = "LOAD bf16 dram=0x2000 pitch=64 rows=8 cols=8 spm=0 post=1\n"
                             "GEMM fp32 m=8 n=8 k=8 a=row:0:8:0 b=row:0:8:0 cout=16:16:0 wait=1:1 post=2\n"
                             "STORE fp32 dram=0x3000 pitch=64 rows=8 cols=8 spm=16 pstride=16 wait=2:1\n";

TEST(TimingDevice, GivesWhatTheModelGives) {
  const auto stream = isa::assemble(kProgram);
  const auto device = make_timing_device(test8());
  device->allocate(1 << 20);
  timing::RunOptions options;
  options.stream_addr = 1 << 20;
  const timing::RunResult expected = timing::run(test8(), stream, options);
  for (int round = 0; round < 2; ++round) { // nothing is left over from a run
    device->submit(stream);
    EXPECT_TRUE(device->wait().ok());
    EXPECT_EQ(device->command_times(), expected.commands);
    EXPECT_GT(device->read_counters()[isa::Counter::CYCLES], 0U);
    for (std::size_t i = 0; i < isa::kCounters.size(); ++i)
      EXPECT_EQ(device->read_counters().values[i], expected.counters[i]) << isa::kCounters[i].name;
  }
}

TEST(TimingDevice, StopsAtAnIllegalCommandAndWorksAgain) {
  const auto device = make_timing_device(test8());
  auto stream = isa::assemble(kProgram);
  stream[1].words[0] = 0xff;
  device->submit(stream);
  const RunStatus status = device->wait();
  EXPECT_EQ(status.error, isa::ErrorCode::ILLEGAL_OPCODE);
  EXPECT_EQ(status.error_index, 1U);
  EXPECT_EQ(device->command_times().size(), 3U);
  EXPECT_EQ(device->command_times()[1].issue, timing::kNever);
  device->reset();
  device->submit(isa::assemble(kProgram));
  EXPECT_TRUE(device->wait().ok());
}

TEST(TimingDevice, TakesTheWatchdogOfTheOptions) {
  DeviceOptions options;
  options.watchdog_cycles = 1000;
  const auto device = make_timing_device(test8(), options);
  device->submit(isa::assemble("SYNC engine=load wait=1:1\n")); // nobody posts
  EXPECT_EQ(device->wait().error, isa::ErrorCode::WATCHDOG);
  EXPECT_LT(device->read_counters()[isa::Counter::CYCLES], 2000U);
}

TEST(TimingDevice, AStreamNeedsRoom) {
  Machine npu = test8();
  npu.memory.size_bytes = 128;
  const auto device = make_timing_device(npu);
  EXPECT_NO_THROW(device->submit(isa::assemble("SYNC engine=load\nSYNC engine=load\n")));
  EXPECT_THROW(device->submit(isa::assemble("SYNC engine=load\nSYNC engine=load\nSYNC engine=load\n")), DeviceError);
}

} // namespace
} // namespace gradweave
