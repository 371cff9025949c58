#include "runtime/record/estimate.hpp"

#include "compiler/back/vector_layer.hpp"
#include "compiler/cost/bounds.hpp"
#include "compiler/lower/layout.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace gradweave::runtime {
namespace {

/// CPU seconds of a simulated cycle: control logic, and each PE of the array.
constexpr double kSecondsPerCycle = 0.7e-6;
constexpr double kSecondsPerPe = 1.0e-9;
/// Of a cycle on the models: the functional one computes the same products with less around them, the timing model only
/// looks at commands.
constexpr double kFunctionalShare = 0.6;
constexpr double kTimingShare = 0.01;

constexpr double kCyclesPerBound = 1.1;
/// The search for a plan simulates a number of plans on the timing model: CPU seconds for a cycle of the result.
constexpr double kCompileSeconds = 0.05;
constexpr double kCompileSecondsPerCycle = 0.4e-6;

double share(Backend backend) {
  switch (backend) {
  case Backend::kRtl:
    return 1;
  case Backend::kFunctional:
    return kFunctionalShare;
  case Backend::kTiming:
    return kTimingShare;
  }
  return 1;
}

/// Cycles that the job will take, nearly; 0 if the layer cannot be compiled.
double cycles_of(const JobSpec &spec) {
  try {
    if (spec.layer().vector) // without a search, so that its stream is there at once
      return static_cast<double>(
          compiler::compile_vector_layer(spec.layer(), spec.compile.pass, spec.npu).predicted_cycles);
    const compiler::Layout layout = compiler::make_layout(spec.layers, spec.compile.pass, spec.npu);
    return kCyclesPerBound *
           static_cast<double>(compiler::lower_bounds(spec.layers, spec.compile.pass, layout, spec.npu).run_cycles);
  } catch (const compiler::CompileError &) {
    return 0;
  }
}

/// Jobs that share a compilation.
auto shape_of(const JobSpec &spec) {
  const compiler::Layer &l = spec.layer();
  return std::tuple(l.m, l.k, l.n, l.groups, l.dx, spec.layers.size(), spec.compile.schedule);
}

} // namespace

SimulationSpeed built_in_speed(const NpuConfig &npu, Backend backend) {
  const double pes = static_cast<double>(npu.rows) * npu.cols * npu.cores;
  return {1 / (share(backend) * (kSecondsPerCycle + kSecondsPerPe * pes)), "built-in figure"};
}

std::uint64_t Estimate::cycles() const {
  std::uint64_t sum = 0;
  for (const JobEstimate &job : jobs)
    sum += job.cycles;
  return sum;
}

double Estimate::cpu_seconds() const {
  double sum = 0;
  for (const JobEstimate &job : jobs)
    sum += job.seconds();
  return sum;
}

double Estimate::wall_seconds(unsigned workers) const {
  double longest = 0; // a job does not spread over processors
  for (const JobEstimate &job : jobs)
    longest = std::max(longest, job.seconds());
  return std::max(longest, cpu_seconds() / std::max(1U, workers));
}

Estimate estimate(const std::vector<JobSpec> &jobs, SimulationSpeed speed) {
  Estimate all;
  all.speed = std::move(speed);
  std::set<decltype(shape_of(jobs.front()))> compiled;
  for (const JobSpec &spec : jobs) {
    JobEstimate job;
    const double cycles = cycles_of(spec);
    job.cycles = static_cast<std::uint64_t>(cycles);
    job.run_seconds = cycles / all.speed.cycles_per_second;
    if (compiled.insert(shape_of(spec)).second && !spec.layer().vector)
      job.compile_seconds = kCompileSeconds + kCompileSecondsPerCycle * cycles;
    all.jobs.push_back(job);
  }
  return all;
}

} // namespace gradweave::runtime
