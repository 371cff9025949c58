// Steps of training on a system of devices, each tensor compared with the golden one.
#pragma once

#include "device/system_devices.hpp"
#include "train/step_executor.hpp"
#include "train/system/system_step.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gradweave::runtime::train {

/// What a device did in a plan's time.
struct DeviceUse {
  std::string name;
  std::uint64_t streams = 0;
  std::uint64_t stream_ps = 0;             ///< its NPU ran, or was told to
  std::uint64_t process_ps = 0;            ///< its processor did
  std::uint64_t transfer_ps = 0;           ///< its memory took part in a transfer, and both stood still
  std::uint64_t link_ps = 0, flash_ps = 0; ///< of both directions of its link; of all channels
};
std::vector<DeviceUse> uses_of(const SystemPlan &plan, const SystemTimes &times);

/// Executes the golden step beside the plan of a system. The devices' results are what the plan brings: products from
/// where they were computed, tensors that cross links as they arrive, rows of tables as they come from flash. A
/// processor's look-ups and updates are executed as the host's operators are, on what is in its device's memory: of a
/// table no row but those of the blocks that were read. A step ends with what flash holds then, all of it.
class SystemExecutor final : public StepExecutor {
public:
  /// References must outlive this, but for `caches`. Throws as SystemStep and make_rtl_system().
  SystemExecutor(const SystemNetwork &network, const SystemConfig &system, const compiler::CompileOptions &options,
                 SystemCaches &caches, const SystemOptions &system_options = {});

  bool has_device() const override { return true; }
  double compile_seconds() const override { return compile_seconds_; }
  /// Besides results, the time of every command of the plan and of every stream is compared with the timing model's,
  /// unless links or buses stall at random.
  StepResult compared(const std::vector<std::vector<Fed>> &batches, const std::vector<float> &constants, Living &living,
                      Living &device_living) override;

  const SystemStep &planned() const { return *planned_; }

private:
  class Host;
  void fill_tables(const Living &living);
  const SystemPlan &system_plan() const { return planned_->plan(); }
  const SystemTimes &times() const { return planned_->times(); }
  void check_times(const SystemOutcome &outcome, StepResult &result) const;
  void count(StepResult &result) const;

  std::unique_ptr<SystemStep> planned_;
  std::unique_ptr<SystemDevices> devices_;
  bool stalls_;
  bool filled_ = false; ///< flash, with the tables that the first step begins with
  double compile_seconds_ = 0;
};

} // namespace gradweave::runtime::train
