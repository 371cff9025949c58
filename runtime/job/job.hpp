// A job: layers under one schedule, in one stream, run on one device and checked.
#pragma once

#include "compiler/compiler.hpp"
#include "compiler/paper/policy.hpp"
#include "device/backend.hpp"
#include "runtime/data/data.hpp"
#include "trace/timeline/sketch.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::runtime {

struct JobSpec {
  std::string network;                 ///< name, part of the key of the data
  std::vector<compiler::Layer> layers; ///< mostly one; several share a stream
  Machine npu;
  compiler::CompileOptions compile;
  /// The layer, which must be the only one, as igo_micro23 describes it under this policy, without a search; of
  /// `compile` then count schedule, pass, and how the layer is cut.
  std::optional<compiler::paper::Policy> paper = {};
  Backend backend = Backend::kRtl;
  DataKind data = DataKind::kNormal;
  std::uint64_t seed = 1;
  DeviceOptions device;
  std::string times_file;      ///< where the caller puts the times of commands; empty: nowhere
  std::string timeline_file;   ///< where it draws them; empty: nowhere
  std::size_t sketch_bars = 0; ///< how many bars a sketch of them may have; 0: there is none

  /// The only layer, or the first one.
  const compiler::Layer &layer() const { return layers.front(); }
  /// The layers that results are of: one that is compiled as two (compiler::split_products()) is one.
  std::vector<compiler::Layer> told() const;
  /// What messages call the layers: "layer fc1", "3 layers from fc1".
  std::string title() const;
};

/// How a job ended, in rising order of what a run's exit code reports first. From kUnavailable on there is no point in
/// running other jobs.
enum class Outcome {
  kPass,
  kMismatch,    ///< a result bit or a counter is wrong, or the compiler found a defect of its own
  kDevice,      ///< the NPU stopped with an error, or the simulation failed
  kUnavailable, ///< the backend cannot be used for this NPU
  kOutput,      ///< an output cannot be written
  kBadInput     ///< the layer cannot be compiled for this NPU
};
std::string_view to_string(Outcome outcome);
/// The inverse; throws std::invalid_argument for another name.
Outcome parse_outcome(std::string_view name);

/// What a run that ended so says at its end: PASS, FAIL, or NOT RUN if no device ran anything.
std::string_view verdict(Outcome outcome);

/// Check of one result tensor, all elements.
struct OutputCheck {
  compiler::Tensor tensor{};
  std::uint32_t layer = 0; ///< index among the job's
  std::uint64_t elements = 0;
  std::uint64_t mismatches = 0;
  std::uint64_t finite = 0; ///< expected values that are neither infinite nor NaN
  std::uint64_t hash = 0;   ///< of what the device produced: hash_tensor()
  std::uint32_t block = 0;  ///< channels that the reduction takes at a time (N25): other bits than with another
  std::uint64_t direct = 0; ///< elements compared with the convolution computed directly; 0 if the layer is none
};

struct JobResult {
  JobResult() = default;
  /// What is known of a job before it has begun.
  explicit JobResult(const JobSpec &spec);

  std::vector<compiler::Layer> layers; ///< of the job
  compiler::Schedule requested = compiler::Schedule::kSequential;
  compiler::Schedule chosen = compiler::Schedule::kSequential;
  std::vector<std::string> tilings; ///< of each layer
  std::uint64_t commands = 0;
  std::uint64_t macs = 0;             ///< multiply-adds of the layer's products, padding not counted
  std::uint64_t compute_cycles = 0;   ///< block formula: what the array needs if it never waits
  std::uint64_t predicted_cycles = 0; ///< by the compiler's timing model
  compiler::Bounds bounds;
  compiler::Tuning tuning;
  std::vector<compiler::LayerTraffic> traffic; ///< of each layer, planned; checked against the counters
  Counters counters;
  AccessCounts accesses;                    ///< of the stream, checked against the counters; zero if it did not end
  double compile_seconds = 0;               ///< wall-clock time
  double wall_seconds = 0, cpu_seconds = 0; ///< of the device's run alone
  double process_seconds = 0;               ///< CPU time of the process that filled, ran and checked it
  std::vector<OutputCheck> outputs;         ///< none if the backend has no data
  Outcome outcome = Outcome::kPass;
  std::vector<std::string> failures;      ///< what went wrong, for people; empty exactly if outcome is kPass
  std::string trace;                      ///< waveform file; empty: none
  std::string times_file;                 ///< timing trace of the commands; empty: none
  std::string timeline_file;              ///< drawing of the same; empty: none
  std::optional<timeline::Sketch> sketch; ///< of the commands' times, if it was asked for
  std::string kept_since; ///< when an earlier run, whose result this is, ended it (UTC); empty: this run did

  /// The only layer, or the first one.
  const compiler::Layer &layer() const { return layers.front(); }
  std::uint64_t cycles() const { return counters[isa::Counter::CYCLES]; }
  /// Of all results together: compared with the golden model, and found to differ.
  std::uint64_t elements() const;
  std::uint64_t mismatches() const;
};

/// Gets the times of all commands of the stream and the run's CYCLES, also if the NPU stopped with an error.
using TimesFunction =
    std::function<void(const compiler::Compiled &, const std::vector<timing::CommandTimes> &, std::uint64_t cycles)>;

struct JobEvents {
  ProgressFunction progress; ///< may be empty
  TimesFunction times;       ///< may be empty; not called if the backend has no time
};

/// Compiles, runs and checks: fills the inputs with seeded data, runs the stream, and compares every element of every
/// result with the golden model, which computes what one layer takes from another in the same order. A tensor that
/// layers share, as dX and dY or as Y and X, has the same bits for both: nothing happens to it in between. Does not
/// throw for what can go wrong with a layer, a device or an output that the events write (OutputError): that is in the
/// result.
JobResult run_job(const JobSpec &spec, const JobEvents &events, compiler::CompileCache &cache);
/// The same with nothing known from jobs before.
JobResult run_job(const JobSpec &spec, const JobEvents &events = {});
/// The same with a stream that was compiled before; `spec.compile` is only reported.
JobResult run_job(const JobSpec &spec, const compiler::Compiled &compiled, const JobEvents &events);

} // namespace gradweave::runtime
