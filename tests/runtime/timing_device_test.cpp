// The timing model as a device: what it refuses, and that it keeps addresses but no data.
#include "runtime/device.hpp"

#include "isa/assembler.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>

namespace gradweave {
namespace {

NpuConfig test8() { return load_npu_config("configs/test8.toml"); }

TEST(TimingDevice, RefusesWhatItDoesNotHave) {
  const auto refusal = [](const std::function<void(DeviceOptions &)> &change) -> std::string {
    DeviceOptions options;
    change(options);
    try {
      make_timing_device(test8(), options);
    } catch (const std::invalid_argument &error) {
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
  NpuConfig npu = test8();
  npu.dram.size_bytes = std::uint64_t{1} << 50U; // no machine has that
  const auto device = make_timing_device(npu);
  EXPECT_EQ(device->allocate(10, 64), 0U);
  EXPECT_EQ(device->allocate(10, 4096), 4096U);
  EXPECT_THROW(device->allocate(std::uint64_t{1} << 50U, 64), std::runtime_error);
  std::uint32_t value = 5;
  device->copy_in((std::uint64_t{1} << 50U) - 4, &value, sizeof value);
  device->copy_out(0, &value, sizeof value);
  EXPECT_EQ(value, 5U);
  EXPECT_THROW(device->copy_in((std::uint64_t{1} << 50U) - 3, &value, sizeof value), std::out_of_range);
  EXPECT_THROW(device->copy_out(~std::uint64_t{0}, &value, sizeof value), std::out_of_range);
}

TEST(TimingDevice, AStreamNeedsRoom) {
  NpuConfig npu = test8();
  npu.dram.size_bytes = 128;
  const auto device = make_timing_device(npu);
  EXPECT_NO_THROW(device->submit(isa::assemble("SYNC engine=load\nSYNC engine=load\n")));
  EXPECT_THROW(device->submit(isa::assemble("SYNC engine=load\nSYNC engine=load\nSYNC engine=load\n")),
               std::runtime_error);
}

} // namespace
} // namespace gradweave
