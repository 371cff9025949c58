// The functional backend: FunctionalNpu with device memory of its own.
#include "device/device.hpp"

#include "sw_models/functional/functional.hpp"
#include "sw_models/memory/memory.hpp"

namespace gradweave {
namespace {

/// Commands between two calls of the progress function.
constexpr std::uint32_t kProgressInterval = 64;

void refuse_bus_and_waveform(const DeviceOptions &options) {
  if (!options.faults.empty())
    throw DeviceError("faults: the functional model has no bus; leave them out, or use the RTL");
  if (!options.trace.file.empty())
    throw DeviceError("trace.file: the functional model has no signals for a waveform; leave it empty, or use the RTL");
}

class FunctionalDevice final : public Device {
public:
  FunctionalDevice(const Machine &config, const DeviceOptions &options)
      : Device(config, options), memory_(config.memory.size_bytes), npu_(config, memory_) {
    refuse_bus_and_waveform(options);
  }

  const std::vector<timing::CommandTimes> &command_times() const override { return no_times_; }
  std::uint64_t now() const override { return 0; }

protected:
  void do_copy_in(std::uint64_t addr, const void *data, std::size_t bytes) override {
    memory_.write(addr, data, bytes);
  }
  void do_copy_out(std::uint64_t addr, void *data, std::size_t bytes) override { memory_.read(addr, data, bytes); }

  void do_submit(std::uint64_t addr, const std::vector<isa::Command> &stream) override {
    npu_.start(addr, static_cast<std::uint32_t>(stream.size()));
    commands_ = stream.size();
    started_ = true;
  }

  void do_open(std::uint64_t addr, std::uint32_t places) override {
    npu_.open(addr, places);
    commands_ = 0;
    taken_ = 0;
    started_ = true;
  }
  std::uint64_t do_append(const std::vector<isa::Command> & /*commands*/, std::uint32_t all) override {
    commands_ = all;
    npu_.raise(all);
    npu_.run();
    return 0;
  }
  std::uint64_t do_close() override {
    npu_.close();
    return 0;
  }
  bool do_advance(std::uint64_t /*cycle*/) override {
    return taken_ < npu_.marks().size() || (!npu_.status().done && npu_.status().error == isa::ErrorCode::NONE);
  }
  std::optional<timing::Mark> do_take_mark() override {
    if (taken_ == npu_.marks().size()) return std::nullopt;
    return timing::Mark{npu_.marks()[taken_++], 0};
  }

  RunStatus do_wait(const std::function<void(std::uint64_t, std::uint64_t)> &progress) override {
    FunctionalNpu::Status status = npu_.status();
    while (!status.done && status.error == isa::ErrorCode::NONE) {
      status = npu_.step();
      if (progress && npu_.next_index() % kProgressInterval == 0) progress(npu_.next_index(), commands_);
    }
    return {status.error, status.error_index, status.error_word};
  }

  Counters do_read_counters() override {
    Counters counters(config().cores, config().vectors());
    if (started_) counters.values = npu_.counters();
    return counters;
  }

  void do_reset() override { started_ = false; } // the next start clears all else that a stream leaves behind

private:
  DeviceMemory memory_;
  FunctionalNpu npu_;
  std::uint64_t commands_ = 0;
  std::size_t taken_ = 0; ///< marks
  bool started_ = false;  ///< since the last reset
  const std::vector<timing::CommandTimes> no_times_;
};

} // namespace

std::unique_ptr<Device> make_functional_device(const Machine &config, const DeviceOptions &options) {
  return std::make_unique<FunctionalDevice>(config, options);
}

} // namespace gradweave
