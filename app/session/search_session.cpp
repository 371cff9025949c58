#include "app/session/search_session.hpp"

#include "app/report/energy/energy_report.hpp"
#include "app/request/repeat_command.hpp"
#include "compiler/cost/cost.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <stdexcept>

namespace gradweave::cli {
namespace {

using evaluation::LayerSearch;
using evaluation::NetworkSearch;

/// Whether the NPU has room for the step, which is searched as if any had.
void require_room(const SearchRequest &a, const Work &work, const NetworkSearch &s) {
  const compiler::Room room{s.step.dram_bytes, s.step.stream.size()};
  if (room.bytes() > work.npu.memory.size_bytes)
    throw ConfigError(fmt::format("{}: the step needs {} bytes of device memory together, '{}' has {}; raise "
                                  "memory.size_bytes or pick fewer layers with --layers",
                                  a.work.npu, room.bytes(), work.npu.name, work.npu.memory.size_bytes));
}

std::string reproduce(const SearchRequest &a) {
  Reproduction command(a.program, "search", false);
  add_work(command, a.work, ScheduleOption::kNone);
  command.add("", "--plans", std::to_string(a.plans));
  command.add("", "--step-plans", std::to_string(a.step_plans));
  if (a.start != "reuse") command.add("", "--start", a.start);
  if (a.weave_again) command.add_word("--weave-again");
  if (a.objective != compiler::Objective::kCycles)
    command.add("", "--objective", std::string(compiler::to_string(a.objective)));
  if (a.backend.empty()) return command.text();
  command.add("", "--check", a.backend);
  command.add("", "--data", a.data);
  command.add("", "--seed", std::to_string(a.seed));
  return command.text();
}

/// What each layer of the step loads and stores of each tensor.
nlohmann::ordered_json step_traffic(const compiler::Compiled &step) {
  nlohmann::ordered_json moved = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < step.layers.size(); ++i)
    for (std::size_t t = 0; t < compiler::kTensorCount; ++t) {
      const compiler::Traffic &traffic = step.traffic[i][t];
      if (traffic.read_bytes + traffic.write_bytes == 0) continue;
      moved.push_back({{"layer", step.layers[i].name},
                       {"tensor", std::string(compiler::to_string(static_cast<compiler::Tensor>(t)))},
                       {"read_bytes", traffic.read_bytes},
                       {"write_bytes", traffic.write_bytes}});
    }
  return moved;
}

} // namespace

std::uint64_t step_bytes(const NetworkSearch &s) { return compiler::element_bytes(s.step.traffic); }

void check_search(const SearchRequest &request) {
  if (!request.backend.empty()) runtime::parse_backend(request.backend);
  runtime::parse_data_kind(request.data);
  if (request.start != "reuse" && request.start != "placement")
    throw std::invalid_argument(fmt::format("--start: {} is none of reuse, placement", request.start));
  if (request.weave_again && (request.start != "reuse" || request.objective != compiler::Objective::kCycles))
    throw std::invalid_argument(
        "--weave-again: goes with --start reuse and --objective cycles; leave it out, or these");
}

NetworkSearch search_network(const SearchRequest &request, const Work &work,
                             const evaluation::SearchProgress &progress) {
  return evaluation::search_network(
      work.layers, work.npu, work.compile.pass,
      {request.plans, request.step_plans,
       request.start == "placement" ? compiler::StepStart::kPlacement : compiler::StepStart::kReuse, request.objective,
       request.weave_again},
      progress);
}

runtime::JobSpec step_job(const SearchRequest &a, const Work &work, const NetworkSearch &s) {
  require_room(a, work, s);
  runtime::JobSpec spec;
  spec.network = work.network.name;
  spec.layers = s.step.layers;
  spec.npu = work.npu;
  spec.compile.schedule = compiler::Schedule::kSearch;
  spec.compile.pass = work.compile.pass;
  spec.backend = runtime::parse_backend(a.backend);
  spec.data = runtime::parse_data_kind(a.data);
  spec.seed = a.seed;
  return spec;
}

nlohmann::ordered_json search_json(const SearchRequest &a, const Work &work, const NetworkSearch &s) {
  using Json = nlohmann::ordered_json;
  const std::string unit = a.objective == compiler::Objective::kCycles ? "cycles" : "cost";
  Json layers = Json::array();
  for (std::size_t i = 0; i < s.layers.size(); ++i) {
    const LayerSearch &l = s.layers[i];
    layers.push_back({{"name", l.layer.name},
                      {"m", l.layer.m},
                      {"k", l.layer.k},
                      {"n", l.layer.n},
                      {"groups", l.layer.groups},
                      {"bound_cycles", l.bound},
                      {"paper_" + unit, l.paper},
                      {"conventional_" + unit, l.conventional},
                      {"searched_" + unit, l.searched},
                      {"unit", l.layer.vector ? "vector unit" : "array"},
                      {"order", l.order},
                      {"step_plan", l.step_plan}});
  }
  Json falls = Json::array();
  for (const compiler::StepFall &fall : s.found.falls)
    falls.push_back({{"simulated", fall.simulated}, {"cost", fall.cost}});
  const auto effort = [](const compiler::SearchWork &w) {
    return Json{{"plans_tried", w.tried}, {"simulated", w.simulated}, {"bursts", w.bursts}, {"seconds", w.seconds}};
  };
  return {{"network", work.network.name},
          {"npu", work.npu.name},
          {"pass", std::string(compiler::to_string(work.compile.pass))},
          {"plans", a.plans},
          {"step_plans", a.step_plans},
          {"start", a.start},
          {"weave_again", a.weave_again},
          {"layers", std::move(layers)},
          {"objective", std::string(compiler::to_string(a.objective))},
          {"cost_unit", std::string(compiler::unit_of(a.objective))},
          {"paper_" + unit, s.sum(&LayerSearch::paper)},
          {"conventional_" + unit, s.sum(&LayerSearch::conventional)},
          {"searched_" + unit, s.sum(&LayerSearch::searched)},
          {"step_cost", s.step_cost},
          {"step_cycles", s.step.predicted_cycles},
          {"layers_bytes", s.found.apart_bytes},
          {"step_bytes", step_bytes(s)},
          {"step_traffic", step_traffic(s.step)},
          {"step_energy", report::energy_json(s.step.accesses, s.step.predicted_cycles, work.npu)},
          {"conventional_effort", effort(s.found.conventional_work)},
          {"step_effort", effort(s.found.work)},
          {"step_compute_bound_cycles", s.step.bounds.compute_cycles},
          {"step_traffic_bound_cycles", s.step.bounds.traffic_cycles},
          {"step_bound_cycles", s.step.bounds.run_cycles},
          {"step_simulated", s.found.simulated},
          {"step_falls", falls},
          {"reproduce", reproduce(a)}};
}

} // namespace gradweave::cli
