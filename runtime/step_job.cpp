#include "runtime/step_job.hpp"

#include "runtime/check.hpp"
#include "runtime/golden_layer.hpp"
#include "runtime/stopwatch.hpp"

#include <fmt/format.h>

#include <exception>

namespace gradweave::runtime {
namespace {

using compiler::CompiledStep;
using compiler::Layout;
using compiler::Tensor;
using compiler::TensorBinding;

constexpr std::uint16_t kPoison = 0xffa5; ///< a NaN that no computation produces

/// Every tensor of the step, by binding: inputs seeded, all else golden.
class GoldenStep {
public:
  GoldenStep(const CompiledStep &step, const StepSpec &spec) : step_(step), tensors_(step.layout.tensors.size()) {
    for (std::size_t i = 0; i < tensors_.size(); ++i) {
      const TensorBinding &b = step.layout.tensors[i];
      if (b.input) tensors_[i] = make_input(b.tensor, step.layers[b.layer], spec.network, spec.data, spec.seed);
    }
    const auto count = static_cast<std::uint32_t>(step.layers.size());
    for (std::uint32_t i = 0; i < count; ++i)
      compute(i, Tensor::kY);
    for (std::uint32_t i = count; i-- > 0;) {
      compute(i, Tensor::kDX);
      compute(i, Tensor::kDW);
    }
  }

  const HostTensor &operator[](std::size_t binding) const { return tensors_[binding]; }

private:
  void compute(std::uint32_t layer, Tensor result) {
    const std::int32_t to = step_.layout.place(layer, result);
    if (to == Layout::kNone) return;
    TensorSet inputs;
    for (const Tensor t : {Tensor::kX, Tensor::kW, Tensor::kDY})
      if (const std::int32_t from = step_.layout.place(layer, t); from != Layout::kNone) {
        inputs.push_back(tensors_[static_cast<std::size_t>(from)]);
        inputs.back().tensor = t; // a shared tensor bears another layer's name for it
      }
    tensors_[static_cast<std::size_t>(to)] =
        golden_result(result, inputs, step_.layers[layer].groups, step_.reductions[layer]);
  }

  const CompiledStep &step_;
  std::vector<HostTensor> tensors_;
};

std::unique_ptr<Device> make_device(const StepSpec &spec) {
  if (spec.backend == Backend::kRtl) return make_rtl_device(spec.npu, {});
  return spec.backend == Backend::kTiming ? make_timing_device(spec.npu, {}) : make_functional_device(spec.npu, {});
}

void fail(StepResult &result, Outcome outcome, std::string text) {
  result.outcome = std::max(result.outcome, outcome);
  result.failures.push_back(std::move(text));
}

/// The step's memory on a device.
class StepMemory {
public:
  StepMemory(Device &device, const CompiledStep &step)
      : device_(device), step_(step), base_(device.allocate(step.dram_bytes)) {}

  std::uint64_t base() const { return base_; }

  void fill(const GoldenStep &golden) {
    const std::vector<std::uint16_t> poison(std::size_t{1} << 19U, kPoison);
    for (std::uint64_t at = 0; at < step_.dram_bytes; at += 2 * poison.size())
      device_.copy_in(base_ + at, poison.data(), std::min<std::uint64_t>(2 * poison.size(), step_.dram_bytes - at));
    for (std::size_t i = 0; i < step_.layout.tensors.size(); ++i) {
      const TensorBinding &b = step_.layout.tensors[i];
      if (!b.input) continue;
      const auto *from = static_cast<const std::uint8_t *>(golden[i].data());
      for (std::uint32_t row = 0; row < b.rows; ++row)
        device_.copy_in(address(b, row), from + row * row_bytes(b), row_bytes(b));
    }
  }

  HostTensor read(const TensorBinding &b) {
    HostTensor tensor(b.tensor, b.fp32, b.rows, b.cols);
    auto *to = static_cast<std::uint8_t *>(tensor.data());
    for (std::uint32_t row = 0; row < b.rows; ++row)
      device_.copy_out(address(b, row), to + row * row_bytes(b), row_bytes(b));
    return tensor;
  }

private:
  static std::size_t row_bytes(const TensorBinding &b) { return std::size_t{b.cols} * (b.fp32 ? 4 : 2); }
  std::uint64_t address(const TensorBinding &b, std::uint32_t row) const {
    return base_ + b.offset + std::uint64_t{row} * b.pitch;
  }
  Device &device_;
  const CompiledStep &step_;
  std::uint64_t base_;
};

void check_results(const CompiledStep &step, const GoldenStep &golden, StepMemory &memory, StepResult &result) {
  for (std::size_t i = 0; i < step.layout.tensors.size(); ++i) {
    const TensorBinding &b = step.layout.tensors[i];
    if (!b.result) continue;
    const Comparison comparison = compare(memory.read(b), golden[i]);
    result.elements += comparison.elements;
    result.mismatches += comparison.mismatches;
    if (!comparison.first) continue;
    fail(result, Outcome::kMismatch,
         fmt::format("layer {}, {}: {} of {} elements differ; first at ({}, {}): got {}, golden {}",
                     step.layers[b.layer].name, compiler::to_string(b.tensor), comparison.mismatches,
                     comparison.elements, comparison.first->row, comparison.first->col,
                     format_value(comparison.first->got, b.fp32), format_value(comparison.first->want, b.fp32)));
  }
}

} // namespace

StepResult run_step(const CompiledStep &step, const StepSpec &spec, const ProgressFunction &progress) {
  StepResult result;
  std::unique_ptr<Device> device;
  try {
    device = make_device(spec);
  } catch (const std::exception &error) {
    fail(result, Outcome::kUnavailable, error.what());
    return result;
  }
  const GoldenStep golden(step, spec);
  StepMemory memory(*device, step);
  memory.fill(golden);
  const Stopwatch stopwatch;
  device->submit(compiler::relocate(step.stream, memory.base()));
  const RunStatus status = device->wait(progress);
  result.cpu_seconds = stopwatch.cpu_seconds();
  if (!status.ok()) {
    fail(result, Outcome::kDevice, fmt::format("the NPU stopped with {}", describe_stop(step.stream, status)));
    return result;
  }
  if (has_data(spec.backend)) check_results(step, golden, memory, result);
  if (!has_time(spec.backend)) return result;
  result.cycles = device->read_counters()[isa::Counter::CYCLES];
  if (result.cycles != step.predicted_cycles)
    fail(result, Outcome::kMismatch,
         fmt::format("{} cycles, but the timing model predicted {}", result.cycles, step.predicted_cycles));
  return result;
}

} // namespace gradweave::runtime
