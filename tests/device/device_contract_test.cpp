// The contract of device/device.hpp on every backend: what is allowed works alike, what is not throws DeviceError with
// the same words and leaves the device as it was.
#include "device/device.hpp"

#include "isa/assembler.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace gradweave {
namespace {

struct BackendCase {
  const char *name;
  std::unique_ptr<Device> (*make)(const Machine &, const DeviceOptions &);
  bool keeps_data;
};
std::ostream &operator<<(std::ostream &os, const BackendCase &backend) { return os << backend.name; }

const BackendCase kBackends[] = {
    {"functional", make_functional_device, true},
    {"timing", make_timing_device, false},
#ifdef GW_HAS_TEST8
    {"rtl", make_rtl_device, true},
#endif
};

constexpr std::uint64_t kSize = 1 << 16;

class DeviceContract : public testing::TestWithParam<BackendCase> {
protected:
  static Machine config() {
    Machine npu = load_machine("configs/test8.toml");
    npu.memory.size_bytes = kSize;
    return npu;
  }
  Device &make(const DeviceOptions &options = {}) {
    device_ = GetParam().make(config(), options);
    return *device_;
  }
  /// Message of the DeviceError that `body` throws.
  static std::string refusal(const std::function<void()> &body) {
    try {
      body();
    } catch (const DeviceError &error) {
      return error.what();
    }
    return "no error";
  }

  const std::vector<isa::Command> good_ = isa::assemble("SYNC engine=load post=1\nSYNC engine=store wait=1:1\n");
  const std::vector<isa::Command> bad_ = [this] {
    std::vector<isa::Command> stream = good_;
    stream[1].words[0] = 0xff;
    return stream;
  }();

private:
  std::unique_ptr<Device> device_;
};

INSTANTIATE_TEST_SUITE_P(All, DeviceContract, testing::ValuesIn(kBackends),
                         [](const auto &p) { return std::string(p.param.name); });

TEST_P(DeviceContract, AllocatesAlignedUntilFull) {
  Device &d = make();
  EXPECT_EQ(d.allocate(10, 1), 0U);
  EXPECT_EQ(d.allocate(10, 64), 64U);
  EXPECT_EQ(d.allocate(10), 4096U);
  EXPECT_EQ(
      refusal([&] { d.allocate(kSize, 64); }),
      "allocate(): 65536 bytes of device memory are wanted, but only 61376 of 65536 are free; raise size_bytes in "
      "the configuration's [memory]");
  EXPECT_NE(refusal([&] { d.allocate(~std::uint64_t{0}, 1); }).find("18446744073709551615 bytes"), std::string::npos);
  EXPECT_NE(refusal([&] { d.allocate(1, std::uint64_t{1} << 63U); }).find("only 0 of 65536"), std::string::npos);
  EXPECT_EQ(d.allocate(kSize - 4096 - 64, 64), 4096U + 64U); // what was refused has taken nothing
  EXPECT_NE(refusal([&] { d.allocate(1, 1); }).find("only 0 of 65536"), std::string::npos);
}

TEST_P(DeviceContract, AllocatesNothingThatHasNoPlace) {
  Device &d = make();
  EXPECT_EQ(refusal([&] { d.allocate(0); }), "allocate(): 0 bytes of device memory have no address; ask for 1 or more");
  for (const std::uint64_t alignment : {0U, 3U, 6U, 4097U})
    EXPECT_EQ(refusal([&] { d.allocate(8, alignment); }),
              "allocate(): an alignment of " + std::to_string(alignment) + " is no power of two");
  EXPECT_EQ(d.allocate(1, 1), 0U);
}

TEST_P(DeviceContract, CopiesOnlyInsideItsMemory) {
  Device &d = make();
  std::uint32_t value = 0x12345678, back = 0;
  d.copy_in(kSize - 4, &value, 4);
  d.copy_out(kSize - 4, &back, 4);
  if (GetParam().keeps_data) {
    EXPECT_EQ(back, value);
  }
  d.copy_in(kSize, nullptr, 0);
  d.copy_out(kSize, nullptr, 0);
  EXPECT_EQ(refusal([&] { d.copy_in(kSize - 3, &value, 4); }),
            "4 bytes at address 0xfffd are not inside the device memory of 65536 bytes");
  EXPECT_NE(refusal([&] { d.copy_out(~std::uint64_t{0}, &back, 2); }).find("0xffffffffffffffff"), std::string::npos);
  EXPECT_NE(refusal([&] { d.copy_in(kSize + 1, nullptr, 0); }).find("not inside"), std::string::npos);
  EXPECT_EQ(refusal([&] { d.copy_in(0, nullptr, 4); }), "copy_in(): 4 bytes of a null pointer");
  EXPECT_EQ(refusal([&] { d.copy_out(0, nullptr, 4); }), "copy_out(): 4 bytes of a null pointer");
}

TEST_P(DeviceContract, OneStreamAtATime) {
  Device &d = make();
  std::uint32_t value = 0;
  d.submit(good_);
  EXPECT_EQ(refusal([&] { d.submit(good_); }), "submit(): a stream is running; wait() for it first, or reset()");
  EXPECT_NE(refusal([&] { d.read_counters(); }).find("read_counters(): a stream is running"), std::string::npos);
  EXPECT_NE(refusal([&] { d.copy_in(0, &value, 4); }).find("copy_in(): a stream is running"), std::string::npos);
  EXPECT_NE(refusal([&] { d.copy_out(0, &value, 4); }).find("copy_out(): a stream is running"), std::string::npos);
  EXPECT_EQ(d.allocate(8), 4096U); // the stream has the first page
  EXPECT_TRUE(d.wait().ok());
  d.submit(good_);
  EXPECT_TRUE(d.wait().ok());
}

TEST_P(DeviceContract, WaitsOnlyForWhatWasSubmitted) {
  Device &d = make();
  const std::string nothing = "wait(): no stream is running; submit() one first";
  EXPECT_EQ(refusal([&] { d.wait(); }), nothing);
  d.submit(good_);
  EXPECT_TRUE(d.wait().ok());
  EXPECT_EQ(refusal([&] { d.wait(); }), nothing);
  d.submit(bad_);
  EXPECT_EQ(d.wait().error, isa::ErrorCode::ILLEGAL_OPCODE);
  EXPECT_EQ(refusal([&] { d.wait(); }), nothing);
}

TEST_P(DeviceContract, AnErrorIsLeftByAResetOnly) {
  Device &d = make();
  d.submit(bad_);
  const RunStatus status = d.wait();
  EXPECT_EQ(status.error, isa::ErrorCode::ILLEGAL_OPCODE);
  EXPECT_EQ(status.error_index, 1U);
  EXPECT_EQ(refusal([&] { d.submit(good_); }), "submit(): the last stream stopped with an error; reset() first");
  d.read_counters(); // of what was done
  d.reset();
  d.submit(good_);
  EXPECT_TRUE(d.wait().ok());
}

TEST_P(DeviceContract, ResetAbandonsAStream) {
  Device &d = make();
  for (int i = 0; i < 2; ++i) {
    d.submit(bad_);
    d.reset();
    d.reset();
    EXPECT_NE(refusal([&] { d.wait(); }).find("no stream is running"), std::string::npos);
    d.submit(good_);
    EXPECT_TRUE(d.wait().ok());
  }
}

TEST_P(DeviceContract, AnEmptyStreamIsABadStart) {
  Device &d = make();
  d.submit({});
  const RunStatus status = d.wait();
  EXPECT_EQ(status.error, isa::ErrorCode::BAD_START);
  EXPECT_EQ(status.error_index, 0U);
  EXPECT_TRUE(d.command_times().empty());
  d.reset();
  d.submit(good_);
  EXPECT_TRUE(d.wait().ok());
}

TEST_P(DeviceContract, AStreamNeedsRoomOnce) {
  Device &d = make();
  d.submit({good_[0]});
  EXPECT_TRUE(d.wait().ok());
  d.allocate(kSize - 4096, 64);
  EXPECT_NE(refusal([&] { d.submit(good_); }).find("128 bytes of device memory are wanted, but only 0 of"),
            std::string::npos); // it would begin at the next page
  EXPECT_NE(refusal([&] { d.wait(); }).find("no stream is running"), std::string::npos);
  d.submit({good_[0]});
  EXPECT_TRUE(d.wait().ok());
}

TEST_P(DeviceContract, CountersAreThoseOfTheLastRun) {
  Device &d = make();
  const auto all_zero = [&] {
    for (const std::uint64_t value : d.read_counters().values)
      if (value != 0) return false;
    return true;
  };
  EXPECT_TRUE(all_zero());
  EXPECT_TRUE(d.command_times().empty());
  d.submit(good_);
  d.wait();
  EXPECT_EQ(d.read_counters()[isa::Counter::FETCH_BEATS], 2 * sizeof(isa::Command) / config().bus_bytes);
  d.reset();
  EXPECT_TRUE(all_zero());
}

TEST_P(DeviceContract, CountersOfCoresThatAreNotThere) {
  const Counters counters = make().read_counters();
  EXPECT_EQ(counters.of_core(isa::Counter::BLOCKS, 0), 0U);
  EXPECT_NE(refusal([&] { counters.of_core(isa::Counter::BLOCKS, 1); }).find("of core 1: the NPU has"),
            std::string::npos);
  EXPECT_NE(refusal([&] { counters.of_core(isa::Counter::CYCLES, 7); }).find("CYCLES of core 7: this counter is not"),
            std::string::npos);
  EXPECT_NE(refusal([&] { counters[static_cast<isa::Counter>(4000)]; }).find("counter 4000"), std::string::npos);
  const Counters three(3);
  EXPECT_EQ(three.of_core(isa::Counter::BLOCKS, 2), 0U);
  EXPECT_NE(refusal([&] { three.of_core(isa::Counter::BLOCKS, 3); }).find("3 cores"), std::string::npos);
}

TEST_P(DeviceContract, RefusesOptionsOutOfRange) {
  const auto refused = [&](const std::function<void(DeviceOptions &)> &change) {
    DeviceOptions options;
    change(options);
    return refusal([&] { make(options); });
  };
  for (const double p : {1.0, 1.5, -0.1, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_EQ(refused([&](auto &o) { o.stress.stall_probability = p; }).rfind("stress.stall_probability = ", 0), 0U);
  for (const std::uint32_t offset : {1U, 100U, 4096U, 8192U})
    EXPECT_EQ(refused([&](auto &o) { o.stream_offset = offset; }),
              "stream_offset = " + std::to_string(offset) +
                  ": it must be a multiple of 64, the bytes of a command, below 4096");
  EXPECT_EQ(refused([&](auto &o) {
              o.faults = {{}, {}};
            }),
            "faults[0]: 0 bytes at address 0x0 are no range of addresses");
  EXPECT_NE(refused([&](auto &o) {
              o.faults = {{BusFault::Kind::kHang, false, ~std::uint64_t{0}, 2}};
            }).find("faults[0]: 2 bytes at address 0xffffffffffffffff"),
            std::string::npos);
  EXPECT_EQ(refused([&](auto &o) {
              o.trace = {"x.fst", 7, 6};
            }),
            "trace: cycles 7 to 6 are none; the first must not be behind the last");
}

TEST_P(DeviceContract, PutsTheStreamWhereTheOptionsSay) {
  DeviceOptions options;
  options.stream_offset = 4096 - 64;
  Device &d = make(options);
  d.submit(good_);
  EXPECT_TRUE(d.wait().ok());
  EXPECT_EQ(d.allocate(8, 64), options.stream_offset + 2 * sizeof(isa::Command));
  std::vector<isa::Command> there(good_.size());
  d.copy_out(options.stream_offset, there.data(), there.size() * sizeof(isa::Command));
  if (GetParam().keeps_data) {
    EXPECT_EQ(there[1].words, good_[1].words);
  }
}

TEST(FunctionalDeviceContract, AnExceptionOutOfWaitIsTheEnd) {
  const std::unique_ptr<Device> device = make_functional_device(load_machine("configs/test8.toml"));
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += "SYNC engine=load\n";
  device->submit(isa::assemble(text));
  EXPECT_THROW(device->wait([](std::uint64_t, std::uint64_t) { throw std::runtime_error("interrupted"); }),
               std::runtime_error);
  std::uint32_t value = 0;
  device->copy_out(0, &value, 4);
  for (const std::function<void()> &use :
       std::vector<std::function<void()>>{[&] { device->reset(); }, [&] { device->wait(); },
                                          [&] { device->submit({}); }, [&] { device->read_counters(); }})
    EXPECT_THROW(use(), DeviceError);
}

TEST(FunctionalDeviceContract, RefusesWhatItDoesNotHave) {
  const Machine npu = load_machine("configs/test8.toml");
  DeviceOptions faults, trace, stress;
  faults.faults = {{BusFault::Kind::kHang, false, 0, 8}};
  trace.trace.file = "x.fst";
  stress.stress.stall_probability = 0.5; // back-pressure makes no difference without time
  EXPECT_THROW(make_functional_device(npu, faults), DeviceError);
  EXPECT_THROW(make_functional_device(npu, trace), DeviceError);
  EXPECT_NO_THROW(make_functional_device(npu, stress));
}

#ifdef GW_HAS_TEST8
TEST(RtlDeviceContract, ASecondDeviceWorksBesideTheFirst) {
  const Machine npu = load_machine("configs/test8.toml");
  const std::vector<isa::Command> stream = isa::assemble("SYNC engine=load\n");
  const std::unique_ptr<Device> first = make_rtl_device(npu), second = make_rtl_device(npu);
  first->submit(stream);
  second->submit(stream);
  EXPECT_TRUE(first->wait().ok());
  EXPECT_TRUE(second->wait().ok());
}
#endif

} // namespace
} // namespace gradweave
