#include "app/session/serve_session.hpp"

#include "app/request/arrivals.hpp"
#include "app/request/repeat_command.hpp"
#include "app/request/settings.hpp"
#include "app/request/weave_jobs.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <stdexcept>

namespace gradweave::cli {

using runtime::ServedNetwork;
using runtime::ServeRequest;
using runtime::ServeRun;

namespace {

template <class T> void need_one_each(const char *option, const std::vector<T> &values, std::size_t jobs) {
  if (!values.empty() && values.size() != jobs)
    throw std::invalid_argument(
        fmt::format("{} has {} values for {} jobs; give one for each, or none", option, values.size(), jobs));
}

} // namespace

std::string reproduce(const ServeWords &a) {
  Reproduction command(a.program, "serve", false);
  command.add_each("", "--job", a.jobs);
  if (!a.priorities.empty()) command.add("", "--priority", fmt::format("{}", fmt::join(a.priorities, ",")));
  if (!a.deadlines.empty()) command.add("", "--deadline", fmt::format("{}", fmt::join(a.deadlines, ",")));
  if (!a.arrivals.empty()) {
    command.add("", "--arrivals", a.arrivals);
  } else {
    command.add("", "--requests", std::to_string(a.requests));
    command.add("", a.gap > 0 ? "--gap" : "--load", fmt::format("{}", a.gap > 0 ? a.gap : a.load));
    command.add("", "--arrival-seed", std::to_string(a.arrival_seed));
  }
  if (a.patience != 64) command.add("", "--patience", std::to_string(a.patience));
  command.add("", "--npu", a.npu);
  command.add_each("", "--set", a.set);
  command.add("", "--schedule", a.schedule);
  command.add("", "--plans", std::to_string(a.plans));
  if (!a.images) command.add("", "--convolution", "im2col");
  command.add("", "--backend", a.backend);
  command.add("", "--data", a.data);
  command.add("", "--seed", std::to_string(a.seed));
  return command.text();
}

ServeRequest serve_request(const ServeWords &a, const Machine &npu) {
  refuse_network_settings(a.set);
  need_one_each("--priority", a.priorities, a.jobs.size());
  need_one_each("--deadline", a.deadlines, a.jobs.size());
  ServeRequest request;
  request.npu = npu;
  request.patience = a.patience;
  request.backend = runtime::parse_backend(a.backend);
  request.data = runtime::parse_data_kind(a.data);
  request.seed = a.seed;
  request.compile.schedule = compiler::parse_schedule(a.schedule);
  request.compile.plans = a.plans;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < a.jobs.size(); ++i)
    for (compiler::WeaveJob &work : parse_job(a.jobs[i], npu, a.images)) {
      if (names.size() != i)
        throw std::invalid_argument(fmt::format("--job {}: requests are the copies here; leave them out", a.jobs[i]));
      names.push_back(work.name);
      request.jobs.push_back(
          {std::move(work), a.priorities.empty() ? 0 : a.priorities[i], a.deadlines.empty() ? 0 : a.deadlines[i]});
    }
  if (!a.arrivals.empty()) {
    request.arrivals = [known = read_arrivals(a.arrivals, names)](const auto &) { return known; };
    return request;
  }
  request.arrivals = [a](const std::vector<std::uint64_t> &alone) {
    double cycles = 0;
    for (const std::uint64_t job : alone)
      cycles += static_cast<double>(job) / static_cast<double>(alone.size());
    return draw_arrivals(a.requests, a.gap > 0 ? a.gap : cycles / a.load, alone.size(), a.arrival_seed);
  };
  return request;
}

nlohmann::ordered_json serve_json(const ServeRequest &request, const ServeRun &run, const std::string &reproduce) {
  nlohmann::ordered_json networks = nlohmann::ordered_json::array();
  for (std::size_t j = 0; j < run.networks.size(); ++j) {
    const ServedNetwork &n = run.networks[j];
    networks.push_back({{"name", n.name},
                        {"priority", run.jobs[j].priority},
                        {"deadline_cycles", run.jobs[j].deadline},
                        {"quanta", n.quanta},
                        {"commands", n.commands},
                        {"alone_cycles", n.alone_cycles},
                        {"requests", n.latencies.size()},
                        {"late", n.late},
                        {"elements", n.elements},
                        {"mismatches", n.mismatches}});
  }
  nlohmann::ordered_json requests = nlohmann::ordered_json::array();
  for (const runtime::ServedRequest &r : run.service.requests)
    requests.push_back({{"job", r.arrival.job},
                        {"arrival_cycle", r.arrival.cycle},
                        {"begin_cycle", r.begin},
                        {"finish_cycle", r.finish}});
  return {{"npu", request.npu.name},
          {"backend", std::string(to_string(request.backend))},
          {"patience", request.patience},
          {"cycles", run.counters[isa::Counter::CYCLES]},
          {"quanta", run.service.quanta},
          {"most_passed", run.service.most_passed},
          {"most_present", run.service.most_present},
          {"networks", std::move(networks)},
          {"requests", std::move(requests)},
          {"failures", run.failures},
          {"outcome", std::string(to_string(run.outcome))},
          {"reproduce", reproduce}};
}

} // namespace gradweave::cli
