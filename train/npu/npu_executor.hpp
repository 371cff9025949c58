// Steps of training that an NPU runs alone: one stream a step, products and operators, each tensor compared with the
// golden one.
#pragma once

#include "device/backend.hpp"
#include "sw_models/timing/run.hpp"
#include "train/npu/plan/order/weight_copies.hpp"
#include "train/npu/step_stream.hpp"
#include "train/step_executor.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace gradweave::runtime::train {

/// How the step is planned.
struct NpuStepOptions {
  compiler::CompileOptions compile; ///< of products, the pass apart
  /// Every tensor reaches memory and stays there to the end of the step, so that each is compared.
  bool keep_all = false;
};

/// The step as NpuExecutors side by side run it, which is there before their base.
struct HasLastingCopies {
  std::shared_ptr<const LastingCopies> lasting;
};

/// Executes the golden step beside a device that runs all of it: the host writes inputs and constants, submits, and
/// waits. What lives from step to step stays in the device's memory, and so do bf16 copies of parameters, which whoever
/// updates one stores beside it; who hands in what lives need not know of them.
class NpuExecutor final : private HasLastingCopies, public StepExecutor {
public:
  /// References must outlive this; the device is new: nothing of its memory is allocated. Throws as StepPlan, and
  /// DeviceError.
  NpuExecutor(const graph::TrainingGraph &step, Device &device, Backend backend, const NpuStepOptions &options,
              unsigned threads = usable_cores());

  std::unique_ptr<StepExecutor> beside(Device &device, unsigned threads) const override;
  void begin_afresh() override { afresh_ = true; }

  bool has_device() const override { return true; }
  bool compares() const override { return has_data(backend_); }
  bool runs_operators() const override { return true; }
  double compile_seconds() const override { return planned_->compile_seconds(); }
  bool takes_device_living() const override { return has_data(backend_); }
  /// The first call takes what lives from `device_living`; later ones find it in the device's memory (unless
  /// begin_afresh() was called), and give it back in `device_living` all the same. All tensors of all ops are compared
  /// behind the run. With time, the cycles of each command and all counters are those of the timing model.
  StepResult compared(const std::vector<std::vector<Fed>> &batches, const std::vector<float> &constants, Living &living,
                      Living &device_living) override;

  const StepPlan &planned() const { return *planned_; }
  /// Of the last step.
  const StepStream &stream() const { return stream_; }

private:
  NpuExecutor(const NpuExecutor &other, Device &device, unsigned threads);
  /// The device's memory is new.
  void take_memory();
  StepResult run_step(const std::vector<std::vector<Fed>> &batches, const std::vector<float> &constants, Living &living,
                      Living &device_living);
  void fill(const Values &golden, const Living &device_living);
  void write(graph::TensorId id, const graph::Buffer<graph::Contract> &values);
  void make_stream(const Values &golden);
  void run(StepResult &result);
  void take_times(StepResult &result);
  void check_times(const std::vector<timing::CommandTimes> &times, const Counters &counters, StepResult &result) const;
  void compare_all(Values &golden, StepResult &result);
  bool compare_output(graph::OpId op, graph::TensorId id, const Values &golden, StepResult &result);
  /// Of an embedding's gradient only rows that the batch names reach memory: gives `got` the others of the golden one,
  /// and returns how many elements these are, which are not compared.
  std::size_t take_unnamed_rows(graph::OpId op, const graph::Buffer<graph::Contract> &golden,
                                graph::Buffer<graph::Contract> &got) const;
  graph::Buffer<graph::Contract> read(graph::TensorId id);
  void take_living(const Living &living, Living &device_living, StepResult &result);

  Device &device_;
  Backend backend_;
  std::shared_ptr<const StepPlan> planned_;
  StepStream stream_;
  std::map<graph::TensorId, std::vector<std::int32_t>> row_numbers_; ///< of StepPlan::index_tensors(), and constants
  timing::RunResult predicted_;                                      ///< of stream_, where a backend measures
  bool filled_ = false, afresh_ = false;
};

} // namespace gradweave::runtime::train
