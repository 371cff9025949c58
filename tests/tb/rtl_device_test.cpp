// RtlDevice and AxiLiteMaster against an NPU of registers only, right and broken in each way they check for.
#include "tb/rtl_device.hpp"
#include "tests/tb/fake_npu.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

namespace gradweave::tb {
namespace {

Machine config() {
  Machine c = load_machine("configs/test8.toml");
  c.memory.size_bytes = 1 << 20;
  return c;
}

class RtlDeviceTest : public testing::Test {
protected:
  RtlDevice &make(FakeNpu::Faults faults = {}, const DeviceOptions &options = {}) {
    auto model = std::make_unique<FakeNpu>(config(), faults);
    fake = model.get();
    device = std::make_unique<RtlDevice>(config(), options, std::move(model));
    return *device;
  }
  /// Message of the std::runtime_error that `body` throws, or "".
  template <class F> std::string error(F &&body) {
    try {
      body();
    } catch (const std::runtime_error &e) {
      return e.what();
    }
    return "";
  }
  static void expect_part(const std::string &message, const std::string &part) {
    EXPECT_NE(message.find(part), std::string::npos) << "message: '" << message << "'";
  }

  std::vector<isa::Command> stream = std::vector<isa::Command>(5);
  std::unique_ptr<RtlDevice> device;
  FakeNpu *fake = nullptr;
};

TEST_F(RtlDeviceTest, RunsAStreamAndLogsItsCommands) {
  RtlDevice &d = make();
  for (int i = 0; i < 3; ++i) {
    d.submit(stream);
    EXPECT_TRUE(d.wait().ok());
    ASSERT_EQ(d.command_times().size(), 5U);
    for (unsigned c = 1; c < 5; ++c)
      EXPECT_EQ(d.command_times()[c].done, d.command_times()[c - 1].done + 1);
    EXPECT_LE(d.run_cycle() + d.command_times()[4].done, d.cycle());
    EXPECT_EQ(d.read_counters()[isa::Counter::CYCLES], 15U);
  }
}

/// A lone board runs ahead of the simulated time, which follows.
TEST_F(RtlDeviceTest, SimulatedTimeIsThatOfTheCycles) {
  RtlDevice &d = make();
  sc_core::sc_simcontext *const context = d.board().clock.simcontext();
  for (int i = 0; i < 3; ++i) {
    d.submit(stream);
    EXPECT_TRUE(d.wait().ok());
    d.read_csr(isa::Csr::ID);
    EXPECT_EQ(context->time_stamp(), d.board().clock.period() * static_cast<double>(d.cycle())) << "run " << i;
  }
}

TEST_F(RtlDeviceTest, ProgramsTheRegisters) {
  DeviceOptions options;
  options.watchdog_cycles = 1234;
  RtlDevice &d = make({}, options);
  EXPECT_EQ(fake->get(isa::Csr::DRAM_SIZE_LO), 1U << 20);
  EXPECT_EQ(fake->get(isa::Csr::WATCHDOG), 1234U);
  d.submit(stream);
  EXPECT_EQ(fake->get(isa::Csr::CMD_COUNT), 5U);
  EXPECT_EQ(fake->get(isa::Csr::CMD_ADDR_LO) % 64, 0U);
}

TEST_F(RtlDeviceTest, RegisterAccessesWorkUnderBackPressure) {
  DeviceOptions options;
  options.stress = {3, 0.6};
  RtlDevice &d = make({}, options);
  for (std::uint32_t i = 0; i < 200; ++i) {
    d.write_csr(isa::Csr::CMD_COUNT, i * 0x01010101U);
    ASSERT_EQ(d.read_csr(isa::Csr::CMD_COUNT), i * 0x01010101U);
  }
}

TEST_F(RtlDeviceTest, ReportsTheErrorRegisters) {
  RtlDevice &d = make();
  fake->set(isa::Csr::ERR_CODE, static_cast<std::uint32_t>(isa::ErrorCode::SPM_RANGE));
  fake->set(isa::Csr::ERR_INDEX, 3);
  d.submit(stream);
  const RunStatus status = d.wait();
  EXPECT_EQ(status.error, isa::ErrorCode::SPM_RANGE);
  EXPECT_EQ(status.error_index, 3U);
}

TEST_F(RtlDeviceTest, ProgressIsCalledAndMayLeave) {
  DeviceOptions options;
  options.watchdog_cycles = ~0U;
  RtlDevice &d = make({}, options);
  fake->run_cycles = 1ULL << 40;
  d.submit(stream);
  EXPECT_EQ(error([&] {
              d.wait([](std::uint64_t done, std::uint64_t all) {
                EXPECT_EQ(done, 0U);
                EXPECT_EQ(all, 5U);
                throw std::runtime_error("interrupted");
              });
            }),
            "interrupted");
  EXPECT_THROW(d.reset(), DeviceError); // it is of no use any more
  EXPECT_THROW(d.read_counters(), DeviceError);
}

TEST_F(RtlDeviceTest, ResetIsSoftUnlessBusy) {
  RtlDevice &d = make();
  d.reset();
  EXPECT_EQ(fake->soft_resets, 1U);
  fake->set(isa::Csr::STATUS, 1);
  fake->set(isa::Csr::WATCHDOG, 0);
  d.reset(); // the pin: registers are programmed again
  EXPECT_EQ(fake->soft_resets, 1U);
  EXPECT_EQ(fake->get(isa::Csr::WATCHDOG), 65536U);
}

TEST_F(RtlDeviceTest, RefusesRtlOfOtherParameters) {
  for (const BuiltValue &built : built_values(config())) {
    auto model = std::make_unique<FakeNpu>(config(), FakeNpu::Faults{});
    model->set(built.csr, model->get(built.csr) + (1U << built.lsb));
    expect_part(error([&] { RtlDevice(config(), {}, std::move(model)); }),
                fmt::format("configuration 'test8' has {} = {}, but gradweave_rtl_test8 was built with {}; rebuild",
                            built.what, built.value, built.value + 1));
  }
}

/// What registers tell is compared, all of it.
TEST_F(RtlDeviceTest, KnowsEveryRegisterThatIsBuilt) {
  std::map<isa::Csr, unsigned> bits;
  for (const BuiltValue &built : built_values(config()))
    bits[built.csr] += built.bits;
  for (const isa::CsrInfo &csr : isa::kCsrs)
    EXPECT_EQ(bits[csr.csr], csr.built ? 32U : 0U) << csr.name;
}

TEST_F(RtlDeviceTest, RefusesRtlOfAnotherInstructionSet) {
  auto model = std::make_unique<FakeNpu>(config(), FakeNpu::Faults{});
  model->set(isa::Csr::ID, 0x47570000);
  expect_part(error([&] { RtlDevice(config(), {}, std::move(model)); }),
              "ID register reads 0x47570000, not 0x47570002");
}

TEST_F(RtlDeviceTest, SeesCountersThatDoNotAddUp) {
  FakeNpu::Faults faults;
  faults.cycles_missing = 1;
  RtlDevice &d = make(faults);
  d.submit(stream);
  EXPECT_TRUE(d.wait().ok());
  expect_part(error([&] { d.read_counters(); }), "load counters add up to 14, not to CYCLES = 15");
}

TEST_F(RtlDeviceTest, SeesAnNpuThatNeverEnds) {
  FakeNpu::Faults faults;
  faults.never_done = true;
  RtlDevice &d = make(faults);
  d.submit(stream);
  expect_part(error([&] { d.wait(); }), "raised no interrupt");
}

TEST_F(RtlDeviceTest, SeesRegistersThatDoNotAnswer) {
  FakeNpu::Faults faults;
  faults.silent_registers = true;
  expect_part(error([&] { make(faults); }), "does not answer the read of register 0x000 within 10000 cycles");
}

TEST_F(RtlDeviceTest, SeesRegistersThatAnswerWithAnError) {
  FakeNpu::Faults faults;
  faults.error_response = true;
  expect_part(error([&] { make(faults); }), "answers the read of register 0x000 with an error response");
}

TEST_F(RtlDeviceTest, SeesARegisterAnswerThatFalls) {
  FakeNpu::Faults faults;
  faults.rvalid_falls = true;
  DeviceOptions options;
  options.stress = {1, 0.9}; // RREADY has to be late
  expect_part(error([&] { make(faults, options); }), "channel R: VALID fell");
}

TEST_F(RtlDeviceTest, SeesEventsOfCommandsThatDoNotExist) {
  FakeNpu::Faults faults;
  faults.bad_event = true;
  RtlDevice &d = make(faults);
  d.submit(stream);
  expect_part(error([&] { d.wait(); }), "reports an event of command 5, but the stream has 5");
}

/// Where two NPUs meet, each in the middle of its stream.
class Meeting {
public:
  /// Whether the other came, too.
  bool come() {
    std::unique_lock<std::mutex> lock(mutex_);
    ++there_;
    changed_.notify_all();
    return changed_.wait_for(lock, std::chrono::seconds(20), [this] { return there_ == 2; });
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int there_ = 0;
};

class MeetingNpu final : public NpuModel {
public:
  explicit MeetingNpu(Meeting &meeting) : meeting_(meeting) {}
  void cycle(const NpuInputs &in, NpuOutputs &out) override {
    fake_.cycle(in, out);
    if (out.events.running && ++cycles_ == kMiddle) met = meeting_.come();
  }
  void open_trace(const std::string &, std::uint64_t, std::uint64_t) override {}
  void close_trace() override {}

  std::optional<bool> met;

private:
  static constexpr int kMiddle = 8; ///< behind the registers' accesses

  Meeting &meeting_;
  int cycles_ = 0;
  FakeNpu fake_{config(), {}};
};

/// Neither thread keeps the kernel while its stream runs.
TEST(RtlDevices, OfTwoThreadsRunTheirStreamsSideBySide) {
  Meeting meeting;
  const auto work = [&] {
    auto model = std::make_unique<MeetingNpu>(meeting);
    const MeetingNpu &npu = *model;
    RtlDevice device(config(), {}, std::move(model));
    device.submit(std::vector<isa::Command>(5));
    EXPECT_TRUE(device.wait().ok());
    EXPECT_TRUE(npu.met.value_or(false));
  };
  std::thread thread(work);
  work();
  thread.join();
}

/// Two devices of one simulation, the first with `faults`.
struct Neighbours {
  explicit Neighbours(const FakeNpu::Faults &faults) {
    a.emplace(simulation, config(), DeviceOptions{}, std::make_unique<FakeNpu>(config(), faults));
    b.emplace(simulation, config(), DeviceOptions{}, std::make_unique<FakeNpu>(config(), FakeNpu::Faults{}));
    simulation->elaborate();
    a->power_up();
    b->power_up();
  }
  std::shared_ptr<Simulation> simulation = std::make_shared<Simulation>();
  std::optional<RtlDevice> a, b;
};

TEST_F(RtlDeviceTest, AFailureIsForTheDeviceThatFailed) {
  FakeNpu::Faults faults;
  faults.bad_event = true;
  Neighbours n(faults);
  n.a->submit(stream);
  n.b->submit(stream);
  EXPECT_TRUE(n.b->wait().ok()); // the first fails meanwhile
  n.b->submit(stream);
  expect_part(error([&] { n.a->wait(); }), "reports an event of command 5, but the stream has 5");
  EXPECT_TRUE(n.b->wait().ok());
  n.a.reset();
  n.b->submit(stream);
  EXPECT_TRUE(n.b->wait().ok());
}

TEST_F(RtlDeviceTest, DevicesOfASimulationShareItsTime) {
  Neighbours n({});
  const std::uint64_t a = n.a->cycle(), b = n.b->cycle();
  n.a->submit(stream);
  EXPECT_TRUE(n.a->wait().ok());
  EXPECT_EQ(n.b->cycle() - b, n.a->cycle() - a);
}

TEST_F(RtlDeviceTest, ASimulationIsMadeOfWhatIsThereAtItsStart) {
  Neighbours n({});
  EXPECT_THROW(RtlDevice(n.simulation, config(), {}, std::make_unique<FakeNpu>(config(), FakeNpu::Faults{})),
               std::logic_error);
}

} // namespace
} // namespace gradweave::tb
