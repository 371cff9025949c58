#include "runtime/record/run_options.hpp"

#include "base/file/output_file.hpp"
#include "compiler/schedule/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace gradweave::runtime {

std::string job_file(const std::string &directory, const JobSpec &spec, std::string_view extension) {
  const std::string name = file_name_part(fmt::format("{}-{}-{}-{}-{}", spec.network, spec.npu.name, spec.layer().index,
                                                      spec.layer().name, compiler::to_string(spec.compile.schedule)));
  return (std::filesystem::path(directory) / (name + std::string(extension))).string();
}

namespace {

/// In the sketches of all jobs of a run together: some 400 kB of JSON, so that a page of them stays below a megabyte.
constexpr std::size_t kSketchBars = 30'000;

std::string trace_path(const RunOptions &options, const JobSpec &spec) {
  if (!options.trace.file.empty() || options.trace_dir.empty()) return options.trace.file;
  return job_file(options.trace_dir, spec, ".fst");
}

std::string times_path(const RunOptions &options, const JobSpec &spec) {
  return names_directory(options.times) ? job_file(options.times, spec, ".csv") : options.times;
}

std::string timeline_path(const RunOptions &options, const JobSpec &spec) {
  return names_directory(options.timeline) ? job_file(options.timeline, spec, ".json") : options.timeline;
}

} // namespace

std::vector<JobSpec> job_specs(const RunOptions &options) {
  std::vector<JobSpec> specs;
  for (const compiler::Layer &layer : options.layers)
    for (const compiler::Schedule schedule : options.schedules) {
      JobSpec spec;
      spec.network = options.network.name;
      spec.layers = compiler::compiled_as(layer, schedule, options.config);
      spec.npu = options.config;
      spec.compile = options.compile;
      spec.compile.schedule = schedule;
      spec.backend = options.backend;
      spec.data = options.data;
      spec.seed = options.seed;
      spec.device.stress = options.stress;
      spec.device.trace = options.trace;
      spec.device.trace.file = trace_path(options, spec);
      spec.times_file = times_path(options, spec);
      spec.timeline_file = timeline_path(options, spec);
      if (options.sketch)
        spec.sketch_bars = std::max<std::size_t>(1, kSketchBars / (options.layers.size() * options.schedules.size()));
      specs.push_back(std::move(spec));
    }
  return specs;
}

} // namespace gradweave::runtime
