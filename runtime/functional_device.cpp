// The functional backend: FunctionalNpu with device memory of its own.
#include "runtime/address_space.hpp"
#include "runtime/device.hpp"

#include "sw_models/functional.hpp"
#include "sw_models/memory.hpp"

namespace gradweave {
namespace {

/// Commands between two calls of the progress function.
constexpr std::uint32_t kProgressInterval = 64;

class FunctionalDevice final : public Device {
public:
  explicit FunctionalDevice(const NpuConfig &config)
      : config_(config), memory_(config.dram.size_bytes), addresses_(config.dram.size_bytes), npu_(config, memory_) {}

  const NpuConfig &config() const override { return config_; }

  std::uint64_t allocate(std::uint64_t bytes, std::uint64_t alignment) override {
    return addresses_.allocate(bytes, alignment);
  }

  void copy_in(std::uint64_t addr, const void *data, std::size_t bytes) override { memory_.write(addr, data, bytes); }
  void copy_out(std::uint64_t addr, void *data, std::size_t bytes) override { memory_.read(addr, data, bytes); }

  void submit(const std::vector<isa::Command> &stream) override {
    const std::size_t bytes = stream.size() * sizeof(isa::Command);
    if (bytes > stream_bytes_) {
      stream_addr_ = allocate(bytes, 4096);
      stream_bytes_ = bytes;
    }
    if (bytes != 0) memory_.write(stream_addr_, stream.data(), bytes);
    npu_.start(stream_addr_, static_cast<std::uint32_t>(stream.size()));
    commands_ = stream.size();
  }

  RunStatus wait(const std::function<void(std::uint64_t, std::uint64_t)> &progress) override {
    FunctionalNpu::Status status = npu_.status();
    while (!status.done && status.error == isa::ErrorCode::NONE) {
      status = npu_.step();
      if (progress && npu_.next_index() % kProgressInterval == 0) progress(npu_.next_index(), commands_);
    }
    return {status.error, status.error_index};
  }

  Counters read_counters() override {
    Counters counters(config_.cores);
    counters.values = npu_.counters();
    return counters;
  }

  const std::vector<timing::CommandTimes> &command_times() const override { return no_times_; }

  void reset() override {} // submit() clears all that an error leaves behind

private:
  NpuConfig config_;
  DeviceMemory memory_;
  runtime::AddressSpace addresses_;
  FunctionalNpu npu_;
  std::uint64_t stream_addr_ = 0, stream_bytes_ = 0; ///< reused by the next stream that is not longer
  std::uint64_t commands_ = 0;
  const std::vector<timing::CommandTimes> no_times_;
};

} // namespace

std::unique_ptr<Device> make_functional_device(const NpuConfig &config, const DeviceOptions & /*options*/) {
  return std::make_unique<FunctionalDevice>(config); // bus behaviour and waveforms do not exist without a bus
}

} // namespace gradweave
