#include "runtime/run/woven_run.hpp"

#include "compiler/cost/cost.hpp"
#include "compiler/ir/vector_section.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace gradweave::runtime {
namespace {

using compiler::JobPlans;
using compiler::JobSet;
using compiler::WeaveOptions;
using compiler::WeavePolicy;

class WeaveRun {
public:
  WeaveRun(const WovenRequest &request, const WovenEvents &events)
      : request_(request), events_(events), jobs_(request.jobs, request.npu) {}

  WovenRun run() {
    JobPlans plans(jobs_, request_.plans, request_.threads, progress("plans"));
    time_alone(plans);
    run_.one_by_one_cycles = weave_in_turn(jobs_, plans);
    WeaveOptions options = request_.weave;
    options.threads = request_.threads;
    options.progress = progress("orders");
    run_.woven = compiler::weave(jobs_, plans, options);
    const compiler::Compiled compiled = compiler::compile_woven(jobs_, run_.woven);
    count_products();
    run_.woven.plan.program = {};
    count_commands(compiled);
    execute(compiled);
    return std::move(run_);
  }

private:
  std::function<void(std::uint64_t, std::uint64_t)> progress(const char *what) const {
    return [this, what](std::uint64_t done, std::uint64_t all) { tell(what, done, all); };
  }
  void tell(const char *what, std::uint64_t done, std::uint64_t all) const {
    if (events_.progress) events_.progress(what, static_cast<double>(done) / static_cast<double>(all));
  }

  static std::uint64_t weave_in_turn(const JobSet &jobs, JobPlans &plans) {
    WeaveOptions options;
    options.policy = WeavePolicy::kOneByOne;
    return compiler::weave(jobs, plans, options).plan.cycles;
  }

  /// Each job by itself, with the plans of all; copies take as long as the first.
  void time_alone(const JobPlans &plans) {
    std::map<std::vector<std::size_t>, std::uint64_t> known;
    for (std::size_t j = 0; j < request_.jobs.size(); ++j) {
      tell("jobs alone", j, request_.jobs.size());
      const compiler::WeaveJob &job = request_.jobs[j];
      WovenJob mine;
      mine.name = job.name;
      mine.pass = job.pass;
      mine.layers = job.layers.size();
      const auto [at, is_new] = known.try_emplace(plans.shapes_of(j), 0);
      if (is_new) {
        JobPlans own = plans.of_job(j);
        at->second = weave_in_turn(JobSet({job}, request_.npu), own);
      }
      mine.alone_cycles = at->second;
      run_.jobs.push_back(std::move(mine));
    }
  }

  void count_products() {
    const compiler::Program &program = run_.woven.plan.program;
    for (const compiler::TileProduct &p : program.products)
      run_.jobs[jobs_.jobs().job_of(p.layer)].array_cycles +=
          p.vector ? compiler::section_of(program, p).piece(p).array_cycles
                   : compiler::product_cycles(p, jobs_.layers()[p.layer], jobs_.npu());
  }

  void count_commands(const compiler::Compiled &compiled) {
    const timing::RunResult times = timing::run(jobs_.npu(), compiled.stream);
    for (std::size_t i = 0; i < compiled.stream.size(); ++i) {
      WovenJob &job = run_.jobs[jobs_.jobs().job_of(compiled.info[i].layer)];
      ++job.commands;
      job.finish_cycles = std::max(job.finish_cycles, times.commands[i].done + 1);
    }
    for (std::size_t layer = 0; layer < compiled.traffic.size(); ++layer)
      for (const compiler::Traffic &t : compiled.traffic[layer])
        run_.jobs[jobs_.jobs().job_of(layer)].moved_bytes += t.read_bytes + t.write_bytes;
  }

  void execute(const compiler::Compiled &compiled) {
    JobSpec spec;
    spec.network = "weave";
    spec.layers = jobs_.layers();
    spec.npu = request_.npu;
    spec.backend = request_.backend;
    spec.data = request_.data;
    spec.seed = request_.seed;
    spec.device = request_.device;
    JobEvents events;
    events.progress = progress("commands");
    events.times = events_.times;
    run_.result = run_job(spec, compiled, events);
    for (const OutputCheck &check : run_.result.outputs) {
      WovenJob &job = run_.jobs[jobs_.jobs().job_of(check.layer)];
      job.elements += check.elements;
      job.mismatches += check.mismatches;
    }
  }

  const WovenRequest &request_;
  const WovenEvents &events_;
  JobSet jobs_;
  WovenRun run_;
};

} // namespace

std::uint64_t WovenRun::alone_cycles() const {
  std::uint64_t cycles = 0;
  for (const WovenJob &job : jobs)
    cycles += job.alone_cycles;
  return cycles;
}

std::uint64_t WovenRun::baseline_cycles() const { return std::min(one_by_one_cycles, alone_cycles()); }

double WovenRun::stp() const {
  double sum = 0;
  for (const WovenJob &job : jobs)
    sum += job.progress();
  return sum;
}

double WovenRun::antt() const {
  double sum = 0;
  for (const WovenJob &job : jobs)
    sum += 1 / job.progress();
  return sum / static_cast<double>(jobs.size());
}

double WovenRun::fairness() const {
  double least = jobs.front().progress(), most = least;
  for (const WovenJob &job : jobs) {
    least = std::min(least, job.progress());
    most = std::max(most, job.progress());
  }
  return least / most;
}

WovenRun run_woven(const WovenRequest &request, const WovenEvents &events) { return WeaveRun(request, events).run(); }

} // namespace gradweave::runtime
