#include "tb/system/rtl_system.hpp"

#include "sw_models/timing/silence.hpp"
#include "tb/bus/kernel_scope.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gradweave::tb {

namespace {

constexpr double kSliceCycles = 4096; ///< of the slowest clock, simulated between two looks at whether NPUs are alive

class RtlSystem final : public SystemDevices {
public:
  RtlSystem(const SystemConfig &system, const SystemFaults &faults, const std::vector<RtlNpu> &npus)
      : system_(system), simulation_(std::make_shared<Simulation>()) {
    for (const RtlNpu &npu : npus) {
      devices_.push_back(std::make_unique<RtlDevice>(simulation_, npu.config, npu.options,
                                                     std::unique_ptr<NpuModel>(npu.make_model(npu.config))));
      watchdogs_.push_back(npu.options.watchdog_cycles.value_or(timing::usual_watchdog(npu.config)));
    }
    std::vector<DeviceMemory *> memories;
    std::vector<Board *> boards;
    for (const auto &device : devices_) {
      boards.push_back(&device->board());
      memories.push_back(&device->board().memory);
    }
    wires_ = &simulation_->add_module([&] { return std::make_unique<Wires>("wires", system, faults, memories); });
    sequencer_ =
        &simulation_->add_module([&] { return std::make_unique<Sequencer>("sequencer", boards, *wires_, faults); });
    simulation_->elaborate();
    for (const auto &device : devices_) {
      device->power_up();
      slice_ = std::max(slice_, kSliceCycles * device->board().clock.period());
    }
  }

  const SystemConfig &system() const override { return system_; }
  Device &device(std::uint32_t index) override { return *devices_.at(index); }

  void write_flash(std::uint32_t device, std::uint64_t addr, const void *data, std::size_t bytes) override {
    flash_with("write_flash", device, addr, bytes).write(addr, data, bytes);
  }
  void read_flash(std::uint32_t device, std::uint64_t addr, void *data, std::size_t bytes) override {
    flash_with("read_flash", device, addr, bytes).read(addr, data, bytes);
  }

  SystemOutcome run(const SystemPlan &plan, SystemHost &host) override {
    if (failed_) throw DeviceError("run(): an earlier plan failed; make another system");
    failed_ = true; // unless the plan ends well
    const KernelScope kernel(simulation_->context());
    sequencer_->begin(plan, host);
    while (!sequencer_->over()) {
      sc_core::sc_start(slice_);
      look_at_devices();
      if (!sequencer_->over() && !sc_core::sc_pending_activity()) sequencer_->fail_idle();
    }
    SystemOutcome outcome = sequencer_->end();
    failed_ = !outcome.ok();
    return outcome;
  }

private:
  DeviceMemory &flash_with(const char *call, std::uint32_t device, std::uint64_t addr, std::size_t bytes) {
    TlmFlash *flash = wires_->flash(device);
    if (flash == nullptr || !flash->contents.contains(addr, bytes))
      throw DeviceError(fmt::format("{}(): {} bytes at {:#x} are not inside flash of device '{}', which has {}", call,
                                    bytes, addr, system_.devices[device].name,
                                    flash == nullptr ? 0 : flash->contents.size()));
    return flash->contents;
  }

  void look_at_devices() {
    for (std::uint32_t d = 0; d < devices_.size(); ++d) {
      Board &board = devices_[d]->board();
      try {
        if (const std::exception_ptr error = board.clock.take_error()) std::rethrow_exception(error);
        board.control.check_alive(watchdogs_[d]);
      } catch (const std::exception &error) {
        sequencer_->fail_device(d, error.what());
      }
    }
  }

  const SystemConfig &system_;
  std::shared_ptr<Simulation> simulation_;
  std::vector<std::unique_ptr<RtlDevice>> devices_;
  std::vector<std::uint64_t> watchdogs_;
  Wires *wires_ = nullptr;
  Sequencer *sequencer_ = nullptr;
  sc_core::sc_time slice_;
  bool failed_ = false;
};

} // namespace

std::unique_ptr<SystemDevices> make_rtl_system(const SystemConfig &system, const SystemFaults &faults,
                                               const std::vector<RtlNpu> &npus) {
  return std::make_unique<RtlSystem>(system, faults, npus);
}

} // namespace gradweave::tb
