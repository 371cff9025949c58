#include "runtime/job/job.hpp"

#include "base/file/output_file.hpp"
#include "base/process/stopwatch.hpp"
#include "compiler/cost/image_choice.hpp"
#include "compiler/ir/contraction.hpp"
#include "compiler/paper/paper.hpp"
#include "runtime/data/check.hpp"
#include "runtime/data/direct_check.hpp"
#include "runtime/data/golden_tensors.hpp"
#include "runtime/job/loaded_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <numeric>

namespace gradweave::runtime {
namespace {

using compiler::Compiled;
using compiler::TensorBinding;

void fail(JobResult &result, Outcome outcome, std::string text) {
  result.outcome = std::max(result.outcome, outcome);
  result.failures.push_back(std::move(text));
}

/// A compiled job with its data on a device.
class JobRun {
public:
  JobRun(const JobSpec &spec, const Compiled &compiled, JobResult &result)
      : spec_(spec), compiled_(compiled), golden_(compiled, spec.network, spec.data, spec.seed), result_(result) {}

  void run(const JobEvents &events);

private:
  void fill(LoadedStream &loaded);
  void check_outputs(LoadedStream &loaded);
  void check_directly(const TensorBinding &binding, const HostTensor &got);
  std::string blame();
  /// What a message about a tensor, or about the job, begins with.
  std::string where(const TensorBinding &binding) const {
    return fmt::format("layer {} ({}), {}", compiled_.layers[binding.layer].name,
                       compiler::to_string(spec_.compile.schedule), compiler::to_string(binding.tensor));
  }

  const JobSpec &spec_;
  const Compiled &compiled_;
  GoldenTensors golden_;
  JobResult &result_;
};

/// Puts the inputs where the compiled layers have them.
void JobRun::fill(LoadedStream &loaded) {
  loaded.fill([&](std::size_t i) -> const HostTensor & { return golden_[i]; });
}

/// After an RTL run went wrong: the functional model runs the same commands on the same data, which tells whether the
/// commands or their execution are wrong.
std::string JobRun::blame() {
  const auto device = make_functional_device(spec_.npu);
  LoadedStream loaded(*device, compiled_.layout.tensors, compiled_.stream, compiled_.dram_bytes);
  fill(loaded);
  if (const RunStatus status = loaded.run({}); !status.ok())
    return fmt::format("the functional model stops too ({}): the compiler is at fault",
                       describe_stop(compiled_.stream, status));
  for (std::size_t i = 0; i < compiled_.layout.tensors.size(); ++i) {
    const TensorBinding &binding = compiled_.layout.tensors[i];
    if (!binding.result) continue;
    const Comparison comparison = compare(loaded.read(binding), golden_[i]);
    if (comparison.mismatches == 0) continue;
    return fmt::format(
        "the functional model's {} is wrong too, in {} elements, first ({}, {}) = {}: the compiler is at "
        "fault (or the golden model)",
        compiler::to_string(binding.tensor), comparison.mismatches, comparison.first->row, comparison.first->col,
        format_value(comparison.first->got, binding.fp32));
  }
  return "the functional model executes the same commands correctly: the RTL is at fault";
}

/// A convolution's result against the convolution itself.
void JobRun::check_directly(const TensorBinding &binding, const HostTensor &got) {
  const compiler::Layer &layer = compiled_.layers[binding.layer];
  const std::int32_t x = compiled_.layout.place(binding.layer, compiler::Tensor::kX);
  const std::uint32_t owner = // the first layer that reads the image, for whose name it has its data
      x == compiler::Layout::kNone ? binding.layer : compiled_.layout.tensors[static_cast<std::size_t>(x)].layer;
  const HostTensor image = make_image(compiled_.layers[owner], spec_.network, spec_.data, spec_.seed);
  const Comparison comparison = compare_direct(got, layer, image, golden_.operands_of(binding.layer, binding.tensor),
                                               compiled_.reductions[binding.layer]);
  result_.outputs.back().direct = comparison.elements;
  if (!comparison.first) return;
  const Mismatch &first = *comparison.first;
  fail(result_, Outcome::kMismatch,
       fmt::format("{}: {} of {} {} differ from the convolution computed directly; first at ({}, {}): got {}, "
                   "direct {}",
                   where(binding), comparison.mismatches, comparison.elements, compared_directly(got.tensor), first.row,
                   first.col, format_value(first.got, got.fp32), format_value(first.want, got.fp32)));
}

void JobRun::check_outputs(LoadedStream &loaded) {
  for (std::size_t i = 0; i < compiled_.layout.tensors.size(); ++i) {
    const TensorBinding &binding = compiled_.layout.tensors[i];
    if (!binding.result) continue;
    const HostTensor got = loaded.read(binding);
    const Comparison comparison = compare(got, golden_[i]);
    result_.outputs.push_back({binding.tensor, binding.layer, comparison.elements, comparison.mismatches,
                               comparison.finite, hash_tensor(got),
                               compiled_.reductions[binding.layer].block_of(binding.tensor)});
    // What another layer's image is computed from, no image of seeded data tells.
    // Direct convolutions round Y and dX, but not the gradient of weights.
    const bool direct =
        compiled_.layers[binding.layer].conv && (compiler::form_of(binding.tensor).groups_below || !binding.fp32);
    if (direct && golden_.reads_inputs(binding.layer, binding.tensor)) check_directly(binding, got);
    if (!comparison.first) continue;
    const Mismatch &first = *comparison.first;
    fail(result_, Outcome::kMismatch,
         fmt::format("{}: {}\n  {}", where(binding), describe_difference(comparison, binding.fp32),
                     describe_origin(compiled_, binding, first.row, first.col)));
  }
  if (result_.outcome == Outcome::kMismatch && spec_.backend == Backend::kRtl)
    result_.failures.back() += "\n  " + blame();
}

void JobRun::run(const JobEvents &events) {
  const bool data = has_data(spec_.backend);
  std::unique_ptr<Device> device;
  try {
    device = make_device(spec_.backend, spec_.npu, spec_.device);
  } catch (const std::exception &error) {
    fail(result_, Outcome::kUnavailable, error.what());
    return;
  }
  LoadedStream loaded(*device, compiled_.layout.tensors, compiled_.stream, compiled_.dram_bytes);
  if (data) fill(loaded);
  const Stopwatch stopwatch;
  const RunStatus status = loaded.run(events.progress);
  result_.cpu_seconds = stopwatch.cpu_seconds();
  result_.wall_seconds = stopwatch.wall_seconds();
  result_.counters = device->read_counters();
  if (events.times && has_time(spec_.backend)) events.times(compiled_, device->command_times(), result_.cycles());

  if (!status.ok()) {
    std::string text =
        fmt::format("{} ({}): the NPU stopped with {}", spec_.title(), compiler::to_string(spec_.compile.schedule),
                    describe_stop(compiled_.stream, status));
    if (spec_.backend == Backend::kRtl) text += "\n  " + blame();
    fail(result_, Outcome::kDevice, std::move(text));
    return;
  }
  if (data) check_outputs(loaded);
  result_.accesses = compiled_.accesses;
  for (const std::string &problem : check_counters(compiled_, spec_.npu, result_.counters, has_time(spec_.backend)))
    fail(result_, Outcome::kMismatch, fmt::format("{}: {}", spec_.title(), problem));
  if (!has_time(spec_.backend)) return;
  for (const std::string &problem : check_accesses(compiled_.accesses, spec_.npu, result_.counters))
    fail(result_, Outcome::kMismatch, fmt::format("{}: {}", spec_.title(), problem));
  const bool exact = spec_.device.stress.stall_probability == 0 && spec_.device.faults.empty();
  for (const std::string &problem : check_cycles(compiled_, result_.counters, exact))
    fail(result_, Outcome::kMismatch, fmt::format("{}: {}", spec_.title(), problem));
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

/// What is told of each of the two, of both.
void join_layers(JobResult &result) {
  result.tilings = {fmt::format("{}; {}", result.tilings.front(), result.tilings.back())};
  for (std::size_t t = 0; t < result.traffic.front().size(); ++t)
    result.traffic.front()[t] += result.traffic.back()[t];
  result.traffic.pop_back();
  for (OutputCheck &check : result.outputs)
    check.layer = 0;
}

} // namespace

std::vector<compiler::Layer> JobSpec::told() const {
  if (!compiler::are_split(layers)) return layers;
  compiler::Layer one = layers.back();
  one.products = compiler::Products::kAll;
  one.forward_image = true;
  return {one};
}

JobResult::JobResult(const JobSpec &spec)
    : layers(spec.told()), requested(spec.compile.schedule), chosen(spec.compile.schedule), tilings(layers.size()),
      traffic(layers.size()), trace(spec.device.trace.file), times_file(spec.times_file),
      timeline_file(spec.timeline_file) {}

std::uint64_t JobResult::elements() const {
  return std::accumulate(outputs.begin(), outputs.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const OutputCheck &check) { return sum + check.elements; });
}

std::uint64_t JobResult::mismatches() const {
  return std::accumulate(outputs.begin(), outputs.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const OutputCheck &check) { return sum + check.mismatches; });
}

std::string JobSpec::title() const {
  return told().size() == 1 ? fmt::format("layer {}", layer().name)
                            : fmt::format("{} layers from {}", layers.size(), layer().name);
}

namespace {

Compiled compile(const JobSpec &spec, compiler::CompileCache &cache) {
  if (!spec.paper) return compiler::compile(spec.layers, spec.npu, spec.compile, cache);
  return compiler::compile(compiler::paper::PaperScheduler(*spec.paper), spec.layers, spec.npu, spec.compile, cache);
}

} // namespace

JobResult run_job(const JobSpec &spec, const JobEvents &events, compiler::CompileCache &cache) {
  JobResult result(spec);
  const Stopwatch stopwatch;
  try {
    const Compiled compiled = compile(spec, cache);
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

JobResult run_job(const JobSpec &spec, const JobEvents &events) {
  compiler::CompileCache cache;
  return run_job(spec, events, cache);
}

JobResult run_job(const JobSpec &spec, const Compiled &compiled, const JobEvents &events) {
  JobResult result(spec);
  result.chosen = compiled.chosen;
  result.tilings = compiled.tilings;
  result.commands = compiled.stream.size();
  result.macs = compiled.useful_macs;
  result.compute_cycles = compiled.compute_cycles;
  result.predicted_cycles = compiled.predicted_cycles;
  result.bounds = compiled.bounds;
  result.tuning = compiled.tuning;
  result.traffic = compiled.traffic;
  try {
    JobRun(spec, compiled, result).run(events);
  } catch (const OutputError &error) {
    fail(result, Outcome::kOutput, error.what());
  } catch (const std::exception &error) {
    fail(result, Outcome::kDevice, fmt::format("{}: {}", spec.title(), error.what()));
  }
  if (compiler::are_split(spec.layers)) join_layers(result);
  return result;
}

} // namespace gradweave::runtime
