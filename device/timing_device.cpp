// The timing backend: timing::run() as a device. Addresses are handed out and checked, data are not kept.
#include "device/device.hpp"

#include "sw_models/timing/timing_model.hpp"

#include <utility>

namespace gradweave {
namespace {

void refuse(const DeviceOptions &options) {
  if (options.stress.stall_probability > 0)
    throw DeviceError("stress.stall_probability: the timing model has no random back-pressure; set it to 0, "
                      "or use the RTL");
  if (!options.faults.empty())
    throw DeviceError("faults: the timing model has a memory without faults; leave them out, or use the RTL");
  if (!options.trace.file.empty())
    throw DeviceError("trace.file: the timing model has no signals for a waveform; leave it empty, or use "
                      "the RTL (command_times() has the times of commands)");
}

class TimingDevice final : public Device {
public:
  TimingDevice(const Machine &config, const DeviceOptions &options) : Device(config, options) {
    refuse(options);
    run_.watchdog = options.watchdog_cycles;
  }

  const std::vector<timing::CommandTimes> &command_times() const override { return result_.commands; }

protected:
  void do_copy_in(std::uint64_t /*addr*/, const void * /*data*/, std::size_t /*bytes*/) override {}
  void do_copy_out(std::uint64_t /*addr*/, void * /*data*/, std::size_t /*bytes*/) override {}

  void do_submit(std::uint64_t addr, const std::vector<isa::Command> &stream) override {
    run_.stream_addr = addr;
    stream_ = stream;
    result_ = {};
  }

  /// The whole stream takes a moment: there is no progress to report.
  RunStatus do_wait(const std::function<void(std::uint64_t, std::uint64_t)> & /*progress*/) override {
    result_ = timing::run(config(), stream_, run_);
    return {result_.error, result_.error_index};
  }

  Counters do_read_counters() override {
    Counters counters(config().cores);
    if (!result_.counters.empty()) counters.values = result_.counters;
    return counters;
  }

  void do_reset() override { result_.counters.clear(); } // nothing else is kept between runs

private:
  timing::RunOptions run_;
  std::vector<isa::Command> stream_;
  timing::RunResult result_;
};

} // namespace

std::unique_ptr<Device> make_timing_device(const Machine &config, const DeviceOptions &options) {
  return std::make_unique<TimingDevice>(config, options);
}

} // namespace gradweave
