#include "runtime/step_job.hpp"

#include "base/stopwatch.hpp"
#include "runtime/check.hpp"
#include "runtime/golden_layer.hpp"
#include "runtime/loaded_stream.hpp"

#include <fmt/format.h>

#include <exception>

namespace gradweave::runtime {
namespace {

using compiler::CompiledStep;
using compiler::Layout;
using compiler::Tensor;
using compiler::TensorBinding;

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

void fail(StepResult &result, Outcome outcome, std::string text) {
  result.outcome = std::max(result.outcome, outcome);
  result.failures.push_back(std::move(text));
}

void check_results(const CompiledStep &step, const GoldenStep &golden, LoadedStream &loaded, StepResult &result) {
  for (std::size_t i = 0; i < step.layout.tensors.size(); ++i) {
    const TensorBinding &b = step.layout.tensors[i];
    if (!b.result) continue;
    const Comparison comparison = compare(loaded.read(b), golden[i]);
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
    device = make_device(spec.backend, spec.npu, {});
  } catch (const std::exception &error) {
    fail(result, Outcome::kUnavailable, error.what());
    return result;
  }
  const GoldenStep golden(step, spec);
  LoadedStream loaded(*device, step.layout.tensors, step.stream, step.dram_bytes);
  loaded.fill([&](std::size_t i) -> const HostTensor & { return golden[i]; });
  const Stopwatch stopwatch;
  const RunStatus status = loaded.run(progress);
  result.cpu_seconds = stopwatch.cpu_seconds();
  if (!status.ok()) {
    fail(result, Outcome::kDevice, fmt::format("the NPU stopped with {}", describe_stop(step.stream, status)));
    return result;
  }
  if (has_data(spec.backend)) check_results(step, golden, loaded, result);
  if (!has_time(spec.backend)) return result;
  result.cycles = device->read_counters()[isa::Counter::CYCLES];
  if (result.cycles != step.predicted_cycles)
    fail(result, Outcome::kMismatch,
         fmt::format("{} cycles, but the timing model predicted {}", result.cycles, step.predicted_cycles));
  return result;
}

} // namespace gradweave::runtime
