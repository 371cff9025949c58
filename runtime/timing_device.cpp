// The timing backend: timing::run() as a device. Addresses are handed out and checked, data are not kept.
#include "runtime/address_space.hpp"
#include "runtime/device.hpp"

#include "sw_models/timing/timing_model.hpp"

#include <stdexcept>
#include <utility>

namespace gradweave {
namespace {

void refuse(const DeviceOptions &options) {
  if (options.stress.stall_probability > 0)
    throw std::invalid_argument("stress.stall_probability: the timing model has no random back-pressure; set it to 0, "
                                "or use the RTL");
  if (!options.faults.empty())
    throw std::invalid_argument("faults: the timing model has a memory without faults; leave them out, or use the RTL");
  if (!options.trace.file.empty())
    throw std::invalid_argument("trace.file: the timing model has no signals for a waveform; leave it empty, or use "
                                "the RTL (command_times() has the times of commands)");
}

class TimingDevice final : public Device {
public:
  TimingDevice(const NpuConfig &config, const DeviceOptions &options)
      : config_(config), memory_(config.dram.size_bytes), stream_offset_(options.stream_offset) {
    run_.watchdog = options.watchdog_cycles;
  }

  const NpuConfig &config() const override { return config_; }

  std::uint64_t allocate(std::uint64_t bytes, std::uint64_t alignment) override {
    return memory_.allocate(bytes, alignment);
  }
  void copy_in(std::uint64_t addr, const void * /*data*/, std::size_t bytes) override { memory_.check(addr, bytes); }
  void copy_out(std::uint64_t addr, void * /*data*/, std::size_t bytes) override { memory_.check(addr, bytes); }

  void submit(const std::vector<isa::Command> &stream) override {
    const std::uint64_t bytes = stream.size() * sizeof(isa::Command);
    if (bytes > stream_bytes_) {
      run_.stream_addr = memory_.allocate(stream_offset_ + bytes, 4096) + stream_offset_;
      stream_bytes_ = bytes;
    }
    stream_ = stream;
    result_ = {};
  }

  /// The whole stream takes a moment: there is no progress to report.
  RunStatus wait(const std::function<void(std::uint64_t, std::uint64_t)> & /*progress*/) override {
    result_ = timing::run(config_, stream_, run_);
    return {result_.error, result_.error_index};
  }

  Counters read_counters() override {
    Counters counters(config_.cores);
    if (!result_.counters.empty()) counters.values = result_.counters;
    return counters;
  }

  const std::vector<timing::CommandTimes> &command_times() const override { return result_.commands; }

  void reset() override {} // no state is kept between runs

private:
  NpuConfig config_;
  runtime::AddressSpace memory_;
  timing::RunOptions run_;
  std::uint32_t stream_offset_;
  std::uint64_t stream_bytes_ = 0; ///< room at run_.stream_addr, reused by the next stream that is not longer
  std::vector<isa::Command> stream_;
  timing::RunResult result_;
};

} // namespace

std::unique_ptr<Device> make_timing_device(const NpuConfig &config, const DeviceOptions &options) {
  refuse(options);
  return std::make_unique<TimingDevice>(config, options);
}

} // namespace gradweave
