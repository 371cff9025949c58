#include "app/session/weave_session.hpp"

#include "app/request/repeat_command.hpp"
#include "app/request/settings.hpp"
#include "app/request/weave_jobs.hpp"
#include "base/process/parallel.hpp"
#include "runtime/record/result_json.hpp"

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace gradweave::cli {

using runtime::WovenJob;
using runtime::WovenRequest;
using runtime::WovenRun;

std::string reproduce(const WeaveRequest &a) {
  Reproduction command(a.program, "weave", false);
  command.add_each("", "--job", a.jobs);
  command.add("", "--npu", a.npu);
  command.add_each("", "--set", a.set);
  command.add("", "--policy", a.policy);
  command.add("", "--plans", std::to_string(a.plans));
  command.add("", "--changes", std::to_string(a.changes));
  if (a.search_seed != 1) command.add("", "--search-seed", std::to_string(a.search_seed));
  if (a.convolution != "image") command.add("", "--convolution", a.convolution);
  command.add("", "--backend", a.backend);
  command.add("", "--data", a.data);
  command.add("", "--seed", std::to_string(a.seed));
  return command.text();
}

WovenRequest woven_request(const WeaveRequest &a, const Machine &npu) {
  refuse_network_settings(a.set);
  WovenRequest request;
  request.npu = npu;
  request.weave.policy = compiler::parse_weave_policy(a.policy);
  request.weave.changes = a.changes;
  request.weave.seed = a.search_seed;
  request.backend = runtime::parse_backend(a.backend);
  request.data = runtime::parse_data_kind(a.data);
  request.seed = a.seed;
  request.plans = a.plans;
  request.threads = a.threads != 0 ? a.threads : usable_cores();
  request.jobs = parse_jobs(a.jobs, request.npu, a.convolution == "image");
  return request;
}

nlohmann::ordered_json woven_json(const WovenRequest &request, const WovenRun &run, const std::string &reproduce) {
  nlohmann::ordered_json jobs = nlohmann::ordered_json::array();
  for (const WovenJob &job : run.jobs)
    jobs.push_back({{"name", job.name},
                    {"pass", std::string(compiler::to_string(job.pass))},
                    {"layers", job.layers},
                    {"commands", job.commands},
                    {"array_cycles", job.array_cycles},
                    {"moved_bytes", job.moved_bytes},
                    {"alone_cycles", job.alone_cycles},
                    {"finish_cycles", job.finish_cycles},
                    {"elements", job.elements},
                    {"mismatches", job.mismatches}});
  const compiler::Bounds &bounds = run.result.bounds;
  return {{"npu", request.npu.name},
          {"policy", std::string(compiler::to_string(request.weave.policy))},
          {"backend", std::string(to_string(request.backend))},
          {"plans", request.plans},
          {"changes", run.woven.changes},
          {"seed", request.weave.seed},
          {"jobs", std::move(jobs)},
          {"cycles", run.cycles()},
          {"first_cycles", run.woven.first_cycles},
          {"alone_cycles", run.alone_cycles()},
          {"one_by_one_cycles", run.one_by_one_cycles},
          {"bound_cycles", bounds.run_cycles},
          {"compute_bound_cycles", bounds.compute_cycles},
          {"traffic_bound_cycles", bounds.traffic_cycles},
          {"stp", run.stp()},
          {"antt", run.antt()},
          {"fairness", run.fairness()},
          {"reproduce", reproduce},
          {"run", to_json(run.result)}};
}

} // namespace gradweave::cli
