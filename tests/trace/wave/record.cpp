// gw_wave_record_NPU STREAM CONFIG OUT: runs a stream of the catalog on the Verilated NPU, with all of its signals in
// OUT.fst and what tests/trace/wave/recording.hpp tells in OUT.json. Exit codes: 0 recorded (however the stream ended),
// 2 not.
#include "tb/rtl_device.hpp"
#include "tests/trace/wave/recording.hpp"
#include "tests/trace/wave/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <set>

namespace {

using namespace gradweave;
using wave::Recording;
using wave::Scenario;

/// A broken NPU may run on for ever; no stream of the catalog takes half as long.
constexpr std::uint64_t kLastCycle = 20000;
constexpr std::uint32_t kStatusBusy = 1;

class TooLong : public std::runtime_error {
public:
  TooLong() : std::runtime_error(fmt::format("the stream has not ended by cycle {}", kLastCycle)) {}
};

class Recorder {
public:
  Recorder(const Scenario &scenario, tb::RtlDevice &device, Recording &recording)
      : scenario_(scenario), device_(device), recording_(recording) {}

  void record() {
    fill();
    if (scenario_.base != 0) device_.write_csr(isa::Csr::DRAM_BASE_LO, scenario_.base);
    if (scenario_.reset_cycle) {
      device_.submit(scenario_.commands);
      const std::uint64_t end = device_.cycle() + *scenario_.reset_cycle;
      while (device_.cycle() < end)
        device_.read_csr(isa::Csr::STATUS);
      keep_times();
      device_.reset(); // the pin, since the NPU is busy
    }
    for (int round = 0; round < (scenario_.again ? 2 : 1); ++round)
      run();
    device_.read_counters();
    device_.reset();
    device_.read_csr(isa::Csr::STATUS);
  }

private:
  /// Data decide about no time; they are there for whoever looks at the waveform.
  void fill() {
    std::mt19937_64 random(1);
    std::vector<std::uint64_t> words(wave::kDataBytes / sizeof(std::uint64_t));
    for (std::uint64_t &word : words)
      word = random();
    device_.copy_in(device_.allocate(wave::kDataBytes, wave::kDataBytes), words.data(), wave::kDataBytes);
  }

  void run() {
    if (scenario_.ring != 0)
      feed();
    else
      device_.submit(scenario_.commands);
    if (scenario_.poll) poll();
    try {
      const RunStatus status = device_.wait([this](std::uint64_t, std::uint64_t) {
        if (device_.cycle() > kLastCycle) throw TooLong();
      });
      recording_.end = isa::kErrorNames[static_cast<std::size_t>(status.error)];
      if (!status.ok()) recording_.end += fmt::format(" at command {}", status.error_index);
    } catch (...) {
      keep_times();
      throw;
    }
    keep_times();
  }

  /// As there is room in the ring.
  void feed() {
    device_.open(scenario_.ring);
    const std::vector<isa::Command> &all = scenario_.commands;
    for (auto next = all.begin(); next != all.end();) {
      if (device_.room() == 0) {
        if (device_.cycle() > kLastCycle) throw TooLong();
        if (!device_.advance(device_.now() + 100)) return; // it has stopped
        device_.take_mark();
        continue;
      }
      const std::ptrdiff_t count = std::min<std::ptrdiff_t>({2, device_.room(), all.end() - next});
      device_.append({next, next + count});
      next += count;
    }
    device_.close();
  }

  void poll() {
    refused([this] { device_.write_csr(isa::Csr::CMD_COUNT, 1); }); // not while the NPU is busy
    refused([this] { device_.read_csr(static_cast<isa::Csr>(0xffc)); });
    const std::size_t counters = isa::counter_count(device_.config().cores);
    for (std::size_t i = 0; (device_.read_csr(isa::Csr::STATUS) & kStatusBusy) != 0; i = (i + 1) % counters) {
      if (device_.cycle() > kLastCycle) throw TooLong();
      device_.read_csr(isa::Csr::RETIRED);
      device_.read_csr(static_cast<isa::Csr>(isa::counter_csr(i)));
    }
  }

  template <class Access> static void refused(const Access &access) {
    try {
      access();
    } catch (const std::runtime_error &) { // the error response, as it should be
      return;
    }
    throw std::runtime_error("the NPU accepts an access to a register that it has to refuse");
  }

  void keep_times() { recording_.runs.push_back({device_.run_cycle(), device_.command_times()}); }

  const Scenario &scenario_;
  tb::RtlDevice &device_;
  Recording &recording_;
};

/// What waveforms begin with: reads of these registers, whatever others there are.
std::vector<tb::BuiltValue> values_read(const Machine &npu) {
  const std::set<isa::Csr> registers{isa::Csr::CFG_ROWS,       isa::Csr::CFG_COLS,       isa::Csr::CFG_CORES,
                                     isa::Csr::CFG_SPM_ROWS,   isa::Csr::CFG_SPM_BANKS,  isa::Csr::CFG_BUS_BYTES,
                                     isa::Csr::CFG_SEMAPHORES, isa::Csr::CFG_QUEUE_DEPTH};
  std::vector<tb::BuiltValue> values;
  for (const tb::BuiltValue &value : tb::built_values(npu))
    if (registers.count(value.csr) != 0) values.push_back(value);
  return values;
}

void record(const std::string &stream, const std::string &config_file, const std::string &out) {
  const Scenario scenario = wave::read_scenario(stream);
  const Machine config = load_machine(config_file);
  DeviceOptions options = scenario.device;
  options.trace = {out + ".fst", 0, kLastCycle};
  Recording recording;
  recording.period = static_cast<std::uint64_t>(std::llround(1000 / config.clock_ghz)); // the waveform is in ps
  try {
    const auto simulation = std::make_shared<tb::Simulation>();
    tb::RtlDevice device(simulation, config, options, tb::make_npu_model());
    simulation->elaborate();
    device.power_up(values_read(config));
    Recorder(scenario, device, recording).record();
  } catch (const std::exception &error) {
    recording.failed = error.what();
  }
  wave::write_recording(recording, out + ".json");
}

} // namespace

int main(int argc, char *argv[]) {
  if (argc != 4) {
    fmt::print(stderr, "usage: {} STREAM CONFIG OUT\n", argv[0]);
    return 2;
  }
  try {
    record(argv[1], argv[2], argv[3]);
  } catch (const std::exception &error) {
    fmt::print(stderr, "{}: {}\n", argv[0], error.what());
    return 2;
  }
  return 0;
}
