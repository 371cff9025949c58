// The timing backend: timing::run() as a device. Addresses are handed out and checked, data are not kept.
#include "device/device.hpp"

#include "sw_models/timing/npu_timing.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
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
  std::uint64_t now() const override { return now_; }

protected:
  void do_copy_in(std::uint64_t /*addr*/, const void * /*data*/, std::size_t /*bytes*/) override {}
  void do_copy_out(std::uint64_t /*addr*/, void * /*data*/, std::size_t /*bytes*/) override {}

  void do_submit(std::uint64_t addr, const std::vector<isa::Command> &stream) override {
    run_.stream_addr = addr;
    run_.ring = {};
    stream_ = stream;
    result_ = {};
    npu_.reset();
    now_ = 0;
  }

  /// Throws DeviceError for a watchdog that legal work may trip: the model finds that out at the end only.
  void do_open(std::uint64_t addr, std::uint32_t places) override {
    const std::uint32_t watchdog = run_.watchdog.value_or(timing::usual_watchdog(config()));
    if (watchdog != 0 && watchdog <= timing::longest_silence(config()))
      throw DeviceError(
          fmt::format("open(): a watchdog of {} cycles, which legal work may trip; the timing model needs "
                      "more than {} to follow a ring, or use the RTL",
                      watchdog, timing::longest_silence(config())));
    run_.stream_addr = addr;
    run_.ring = {places, 0, {}};
    stream_.clear();
    result_ = {};
    npu_ = std::make_unique<timing::NpuTiming>(config(), nullptr, 0, run_, timing::kNever, progress_);
    npu_->begin();
    taken_ = 0;
    now_ = HostLatency::kOpen;
    npu_->play_until(now_);
  }

  std::uint64_t do_append(const std::vector<isa::Command> &commands, std::uint32_t all) override {
    stream_.insert(stream_.end(), commands.begin(), commands.end());
    npu_->move_stream(stream_.data());
    return write({timing::HostWrite::Kind::kTail, now_ + HostLatency::kWrite, all});
  }
  std::uint64_t do_close() override { return write({timing::HostWrite::Kind::kClose, now_ + HostLatency::kWrite, 0}); }

  bool do_advance(std::uint64_t cycle) override {
    bool goes_on = true;
    if (npu_->marks().size() == taken_) goes_on = npu_->play_until(cycle, taken_ + 1);
    const bool marked = npu_->marks().size() > taken_;
    now_ = std::max(now_, marked || !goes_on ? npu_->end() : cycle);
    return marked || npu_->play_until(now_);
  }

  std::optional<timing::Mark> do_take_mark() override {
    if (npu_->marks().size() == taken_) return std::nullopt;
    write({timing::HostWrite::Kind::kTakeMark, now_ + HostLatency::kTake, 0});
    return npu_->marks()[taken_++];
  }

  /// The whole stream takes a moment: there is no progress to report.
  RunStatus do_wait(const std::function<void(std::uint64_t, std::uint64_t)> & /*progress*/) override {
    if (npu_ != nullptr) npu_->play_until(timing::kNever);
    // What was played ahead of an error is counted to its cycle by run() only.
    result_ = npu_ != nullptr && npu_->ok() ? npu_->finish() : timing::run(config(), stream_, run_);
    return {result_.error, result_.error_index, result_.error_word};
  }

  Counters do_read_counters() override {
    Counters counters(config().cores, config().vectors());
    if (!result_.counters.empty()) counters.values = result_.counters;
    return counters;
  }

  void do_reset() override { // nothing else is kept between runs
    result_.counters.clear();
    npu_.reset();
    now_ = 0;
  }

private:
  std::uint64_t write(const timing::HostWrite &write) {
    npu_->play_until(write.cycle);
    npu_->write(write);
    run_.ring.host.push_back(write);
    now_ = write.cycle + HostLatency::kAnswer;
    npu_->play_until(now_);
    return write.cycle;
  }

  timing::RunOptions run_;
  std::vector<isa::Command> stream_;
  timing::RunResult result_;

  // A run with a ring
  timing::ProgressLog progress_{false};
  std::unique_ptr<timing::NpuTiming> npu_;
  std::size_t taken_ = 0; ///< marks
  std::uint64_t now_ = 0;
};

} // namespace

std::unique_ptr<Device> make_timing_device(const Machine &config, const DeviceOptions &options) {
  return std::make_unique<TimingDevice>(config, options);
}

} // namespace gradweave
