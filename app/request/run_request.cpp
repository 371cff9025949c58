#include "app/request/run_request.hpp"

#include "app/request/repeat_command.hpp"
#include "app/request/settings.hpp"
#include "base/file/output_file.hpp"
#include "base/process/parallel.hpp"
#include "runtime/run/lookup.hpp"
#include "runtime/run/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <thread>

namespace gradweave::cli {
namespace {

using runtime::RunOptions;

std::string reproduce(const CosimRequest &a) {
  Reproduction command(a.program, "cosim", a.from_make);
  add_work(command, a.work);
  command.add("DATA", "--data", a.data);
  command.add("SEED", "--seed", std::to_string(a.seed));
  if (a.backend != "rtl") command.add("BACKEND", "--backend", a.backend);
  if (a.stall_probability > 0) {
    command.add("", "--stall-probability", fmt::format("{}", a.stall_probability));
    command.add("", "--stress-seed", std::to_string(a.stress_seed));
  }
  if (a.trace) command.add("TRACE", "--trace", "fst");
  if (!a.trace_file.empty()) command.add("", "--trace-file", a.trace_file);
  if (a.trace_from != 0) command.add("", "--trace-from", std::to_string(a.trace_from));
  if (a.trace_to != ~std::uint64_t{0}) command.add("", "--trace-to", std::to_string(a.trace_to));
  if (!a.times.empty()) command.add("TIMES", "--times", a.times);
  if (!a.timeline.empty()) command.add("TIMELINE", "--timeline", a.timeline);
  return command.text();
}

std::string reproduce(const SimulateRequest &a) {
  Reproduction command(a.program, "simulate", a.from_make);
  if (a.stream.empty()) {
    add_work(command, a.work);
  } else {
    command.add_word(a.stream);
    command.add("NPU", "--npu", a.work.npu);
    command.add_each("SET", "--set", a.work.set);
  }
  if (!a.times.empty()) command.add("TIMES", "--times", a.times);
  if (!a.timeline.empty()) command.add("TIMELINE", "--timeline", a.timeline);
  return command.text();
}

void add_trace(const CosimRequest &a, RunOptions &options) {
  if (!a.trace && a.trace_file.empty()) return;
  if (options.backend != runtime::Backend::kRtl)
    throw std::invalid_argument(
        fmt::format("--trace: the {} backend has no signals to trace; use --backend rtl or leave --trace out",
                    to_string(options.backend)));
  if (a.trace_from > a.trace_to)
    throw std::invalid_argument(fmt::format("--trace-from {} is after --trace-to {}", a.trace_from, a.trace_to));
  options.trace = {a.trace_file, a.trace_from, a.trace_to};
  if (!a.trace_file.empty()) {
    if (options.layers.size() * options.schedules.size() != 1)
      throw std::invalid_argument(
          fmt::format("--trace-file holds one simulation, but {} are asked for; pick one layer with "
                      "--layers, or use --trace-dir",
                      options.layers.size() * options.schedules.size()));
    const OutputFile probe(a.trace_file);
    return;
  }
  make_output_directory(a.trace_dir, "--trace-dir");
  options.trace_dir = a.trace_dir;
}

/// Sees that the times of commands can be written to `path`, as `option` asks.
void check_times_output(const RunOptions &options, const std::string &option, const std::string &path) {
  if (path.empty()) return;
  if (!has_time(options.backend))
    throw std::invalid_argument(
        fmt::format("{}: the {} backend has no time; use --backend rtl or timing", option, to_string(options.backend)));
  if (names_directory(path))
    make_output_directory(path, option + " directory");
  else if (options.compares())
    throw std::invalid_argument(fmt::format("{0} {1}: a file holds one schedule, but {2} are asked for; name a "
                                            "directory, as {1}/, or pick one with --schedule",
                                            option, path, options.schedules.size()));
  else
    const OutputFile probe(path);
}

void add_times(const RunRequest &a, RunOptions &options) {
  check_times_output(options, "--times", a.times);
  check_times_output(options, "--timeline", a.timeline);
  options.times = a.times;
  options.timeline = a.timeline;
}

/// Layers of a network on an NPU.
RunOptions options_of(const RunRequest &request, const Work &work) {
  RunOptions options;
  options.model = request.work.model;
  options.npu = request.work.npu;
  options.network = work.network;
  options.config = work.npu;
  options.layers = layer_by_layer(work).layers;
  options.schedules = parse_schedules(request.work.schedule);
  options.compile = work.compile;
  options.quiet = request.quiet;
  return options;
}

/// What runs on the timing model have in common.
RunOptions timed(const SimulateRequest &request, RunOptions options) {
  options.backend = runtime::Backend::kTiming;
  options.quiet = request.quiet;
  options.jobs = request.jobs != 0 ? request.jobs : usable_cores();
  options.reproduce = reproduce(request);
  add_times(request, options);
  return options;
}

} // namespace

RunOptions simulate_options(const SimulateRequest &request, const Work &work) {
  return timed(request, options_of(request, work));
}

RunOptions stream_options(const SimulateRequest &request) {
  RunOptions options;
  options.npu = request.work.npu;
  options.stream = request.stream;
  options.config = load_machine(runtime::find_npu(request.work.npu), parse_settings(request.work.set).machine);
  options.layers = {runtime::stream_layer(request.stream)};
  options.network.name = options.layers.front().name;
  options.network.layers = options.layers;
  options.schedules = {compiler::Schedule::kSequential}; // that of the stream is unknown; this only counts it once
  return timed(request, std::move(options));
}

RunOptions cosim_options(const CosimRequest &request, const Work &work) {
  RunOptions options = options_of(request, work);
  options.backend = runtime::parse_backend(request.backend);
  options.data = runtime::parse_data_kind(request.data);
  options.seed = request.seed;
  options.jobs = request.jobs != 0 ? request.jobs : std::max(1U, std::thread::hardware_concurrency());
  if (request.stall_probability > 0 && options.backend != runtime::Backend::kRtl)
    throw std::invalid_argument(fmt::format(
        "--stall-probability: the {} backend has no random stalls; use --backend rtl", to_string(options.backend)));
  options.stress = {request.stress_seed, request.stall_probability};
  add_trace(request, options);
  add_times(request, options);
  options.reproduce = reproduce(request);
  return options;
}

} // namespace gradweave::cli
