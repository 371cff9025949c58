#include "runtime/job.hpp"

#include "base/output_file.hpp"
#include "base/stopwatch.hpp"
#include "compiler/paper/paper.hpp"
#include "runtime/check.hpp"
#include "runtime/direct_check.hpp"
#include "runtime/golden_layer.hpp"
#include "runtime/loaded_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>

namespace gradweave::runtime {
namespace {

using compiler::CompiledLayer;
using compiler::TensorBinding;

/// Puts the inputs where the compiled layer has them.
void fill(LoadedStream &loaded, const CompiledLayer &compiled, const TensorSet &inputs) {
  loaded.fill([&](std::size_t i) -> const HostTensor & { return find_tensor(inputs, compiled.tensors[i].tensor); });
}

/// After an RTL run went wrong: the functional model runs the same commands on the same data, which tells whether the
/// commands or their execution are wrong.
std::string blame(const JobSpec &spec, const CompiledLayer &compiled, const TensorSet &inputs) {
  const auto device = make_functional_device(spec.npu);
  LoadedStream loaded(*device, compiled.tensors, compiled.stream, compiled.dram_bytes);
  fill(loaded, compiled, inputs);
  if (const RunStatus status = loaded.run({}); !status.ok())
    return fmt::format("the functional model stops too ({}): the compiler is at fault",
                       describe_stop(compiled.stream, status));
  for (const TensorBinding &binding : compiled.tensors) {
    if (binding.input) continue;
    const Comparison comparison =
        compare(loaded.read(binding), golden_result(binding.tensor, inputs, spec.layer.groups, compiled.reductions));
    if (comparison.mismatches == 0) continue;
    return fmt::format(
        "the functional model's {} is wrong too, in {} elements, first ({}, {}) = {}: the compiler is at "
        "fault (or the golden model)",
        compiler::to_string(binding.tensor), comparison.mismatches, comparison.first->row, comparison.first->col,
        format_value(comparison.first->got, binding.fp32));
  }
  return "the functional model executes the same commands correctly: the RTL is at fault";
}

void fail(JobResult &result, Outcome outcome, std::string text) {
  result.outcome = std::max(result.outcome, outcome);
  result.failures.push_back(std::move(text));
}

/// A convolution's result against the convolution itself.
void check_directly(const JobSpec &spec, const CompiledLayer &compiled, const HostTensor &got, const TensorSet &inputs,
                    JobResult &result) {
  const HostTensor image = make_image(spec.layer, spec.network, spec.data, spec.seed);
  const Comparison comparison = compare_direct(got, spec.layer, image, inputs, compiled.reductions);
  result.outputs.back().direct = comparison.elements;
  if (!comparison.first) return;
  const Mismatch &first = *comparison.first;
  fail(
      result, Outcome::kMismatch,
      fmt::format("layer {} ({}), {}: {} of {} elements{} differ from the convolution computed directly; first at ({}, "
                  "{}): got {}, direct {}",
                  spec.layer.name, compiler::to_string(spec.compile.schedule), compiler::to_string(got.tensor),
                  comparison.mismatches, comparison.elements,
                  got.tensor == compiler::Tensor::kDX ? " of the image's gradient" : "", first.row, first.col,
                  format_value(first.got, got.fp32), format_value(first.want, got.fp32)));
}

void check_outputs(const JobSpec &spec, const CompiledLayer &compiled, const TensorSet &inputs, LoadedStream &loaded,
                   JobResult &result) {
  for (const TensorBinding &binding : compiled.tensors) {
    if (binding.input) continue;
    const HostTensor got = loaded.read(binding);
    const Comparison comparison =
        compare(got, golden_result(binding.tensor, inputs, spec.layer.groups, compiled.reductions));
    result.outputs.push_back(
        {binding.tensor, comparison.elements, comparison.mismatches, comparison.finite, hash_tensor(got)});
    if (spec.layer.conv) check_directly(spec, compiled, got, inputs, result);
    if (!comparison.first) continue;
    const Mismatch &first = *comparison.first;
    fail(result, Outcome::kMismatch,
         fmt::format("layer {} ({}), {}: {} of {} elements differ; first at ({}, {}): got {}, golden {}\n  {}",
                     spec.layer.name, compiler::to_string(spec.compile.schedule), compiler::to_string(binding.tensor),
                     comparison.mismatches, comparison.elements, first.row, first.col,
                     format_value(first.got, binding.fp32), format_value(first.want, binding.fp32),
                     describe_origin(compiled, binding.tensor, first.row, first.col)));
  }
  if (result.outcome == Outcome::kMismatch && spec.backend == Backend::kRtl)
    result.failures.back() += "\n  " + blame(spec, compiled, inputs);
}

void describe_job(const JobSpec &spec, JobResult &result) {
  result.layer = spec.layer;
  result.requested = result.chosen = spec.compile.schedule;
  result.trace = spec.device.trace.file;
  result.times_file = spec.times_file;
  result.timeline_file = spec.timeline_file;
}

void run_compiled(const JobSpec &spec, const CompiledLayer &compiled, const JobEvents &events, JobResult &result) {
  const bool data = has_data(spec.backend);
  TensorSet inputs;
  for (const TensorBinding &binding : compiled.tensors)
    if (data && binding.input)
      inputs.push_back(make_input(binding.tensor, spec.layer, spec.network, spec.data, spec.seed));

  std::unique_ptr<Device> device;
  try {
    device = make_device(spec.backend, spec.npu, spec.device);
  } catch (const std::exception &error) {
    fail(result, Outcome::kUnavailable, error.what());
    return;
  }
  LoadedStream loaded(*device, compiled.tensors, compiled.stream, compiled.dram_bytes);
  if (data) fill(loaded, compiled, inputs);
  const Stopwatch stopwatch;
  const RunStatus status = loaded.run(events.progress);
  result.cpu_seconds = stopwatch.cpu_seconds();
  result.wall_seconds = stopwatch.wall_seconds();
  result.counters = device->read_counters();
  if (events.times && has_time(spec.backend)) events.times(compiled, device->command_times(), result.cycles());

  if (!status.ok()) {
    std::string text = fmt::format("layer {} ({}): the NPU stopped with {}", spec.layer.name,
                                   compiler::to_string(spec.compile.schedule), describe_stop(compiled.stream, status));
    if (spec.backend == Backend::kRtl) text += "\n  " + blame(spec, compiled, inputs);
    fail(result, Outcome::kDevice, std::move(text));
    return;
  }
  if (data) check_outputs(spec, compiled, inputs, loaded, result);
  for (const std::string &problem : check_counters(compiled, spec.npu, result.counters, has_time(spec.backend)))
    fail(result, Outcome::kMismatch, fmt::format("layer {}: {}", spec.layer.name, problem));
  if (!has_time(spec.backend)) return;
  const bool exact = spec.device.stress.stall_probability == 0 && spec.device.faults.empty();
  for (const std::string &problem : check_cycles(compiled, result.counters, exact))
    fail(result, Outcome::kMismatch, fmt::format("layer {}: {}", spec.layer.name, problem));
}

} // namespace

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
  case Outcome::kPass:
    return "pass";
  case Outcome::kMismatch:
    return "mismatch";
  case Outcome::kDevice:
    return "device_error";
  case Outcome::kUnavailable:
    return "unavailable";
  case Outcome::kOutput:
    return "output_error";
  case Outcome::kBadInput:
    return "bad_input";
  }
  return "?";
}

std::string_view verdict(Outcome outcome) {
  if (outcome == Outcome::kPass) return "PASS";
  return outcome == Outcome::kUnavailable ? "NOT RUN" : "FAIL";
}

Outcome parse_outcome(std::string_view name) {
  for (const Outcome outcome : {Outcome::kPass, Outcome::kMismatch, Outcome::kDevice, Outcome::kUnavailable,
                                Outcome::kOutput, Outcome::kBadInput})
    if (to_string(outcome) == name) return outcome;
  throw std::invalid_argument(fmt::format("unknown outcome '{}'", name));
}

namespace {

CompiledLayer compile(const JobSpec &spec) {
  if (!spec.paper) return compiler::compile_layer(spec.layer, spec.npu, spec.compile);
  compiler::paper::PaperOptions options;
  options.policy = *spec.paper;
  options.schedule = spec.compile.schedule;
  options.pass = spec.compile.pass;
  options.cut = {spec.compile.partition, std::max(spec.compile.parts, 1U), spec.compile.reduction};
  return compiler::paper::compile_paper_layer(spec.layer, spec.npu, options);
}

} // namespace

JobResult run_job(const JobSpec &spec, const JobEvents &events) {
  JobResult result;
  describe_job(spec, result);
  const Stopwatch stopwatch;
  try {
    const CompiledLayer compiled = compile(spec);
    const double seconds = stopwatch.wall_seconds();
    result = run_job(spec, compiled, events);
    result.compile_seconds = seconds;
    return result;
  } catch (const compiler::CompilerDefect &error) {
    fail(result, Outcome::kMismatch, error.what());
  } catch (const compiler::CompileError &error) {
    fail(result, Outcome::kBadInput, error.what());
  }
  return result;
}

JobResult run_job(const JobSpec &spec, const CompiledLayer &compiled, const JobEvents &events) {
  JobResult result;
  describe_job(spec, result);
  result.chosen = compiled.chosen;
  result.tiling = compiled.tiling;
  result.commands = compiled.stream.size();
  result.macs = compiled.useful_macs;
  result.compute_cycles = compiled.compute_cycles;
  result.predicted_cycles = compiled.predicted_cycles;
  result.bounds = compiled.bounds;
  result.tuning = compiled.tuning;
  result.traffic = compiled.traffic;
  try {
    run_compiled(spec, compiled, events, result);
  } catch (const OutputError &error) {
    fail(result, Outcome::kOutput, error.what());
  } catch (const std::exception &error) {
    fail(result, Outcome::kDevice, fmt::format("layer {}: {}", spec.layer.name, error.what()));
  }
  return result;
}

} // namespace gradweave::runtime
