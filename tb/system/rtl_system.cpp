#include "tb/system/rtl_system.hpp"

#include "sw_models/timing/silence.hpp"
#include "tb/bus/kernel_scope.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gradweave::tb {

namespace {

class RtlSystem final : public SystemDevices {
public:
  RtlSystem(const SystemConfig &system, const SystemFaults &faults, const std::vector<RtlNpu> &npus)
      : system_(system), simulation_(std::make_shared<Simulation>()) {
    std::vector<std::uint64_t> watchdogs;
    for (const RtlNpu &npu : npus) {
      devices_.push_back(std::make_unique<RtlDevice>(simulation_, npu.config, npu.options,
                                                     std::unique_ptr<NpuModel>(npu.make_model(npu.config))));
      watchdogs.push_back(npu.options.watchdog_cycles.value_or(timing::usual_watchdog(npu.config)));
    }
    std::vector<DeviceMemory *> memories;
    std::vector<Board *> boards;
    for (const auto &device : devices_) {
      boards.push_back(&device->board());
      memories.push_back(&device->board().memory);
    }
    wires_ = &simulation_->add_module([&] { return std::make_unique<Wires>("wires", system, faults, memories); });
    sequencer_ = &simulation_->add_module(
        [&] { return std::make_unique<Sequencer>("sequencer", boards, watchdogs, *wires_, faults); });
    simulation_->elaborate();
    for (const auto &device : devices_)
      device->power_up();
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
      if (sc_core::sc_pending_activity())
        sc_core::sc_start();
      else
        sequencer_->fail_idle();
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

  const SystemConfig &system_;
  std::shared_ptr<Simulation> simulation_;
  std::vector<std::unique_ptr<RtlDevice>> devices_;
  Wires *wires_ = nullptr;
  Sequencer *sequencer_ = nullptr;
  bool failed_ = false;
};

} // namespace

std::unique_ptr<SystemDevices> make_rtl_system(const SystemConfig &system, const SystemFaults &faults,
                                               const std::vector<RtlNpu> &npus) {
  return std::make_unique<RtlSystem>(system, faults, npus);
}

} // namespace gradweave::tb
