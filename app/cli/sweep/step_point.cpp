#include "app/cli/sweep/step_point.hpp"

#include "app/report/summary.hpp"
#include "app/request/settings.hpp"
#include "app/session/training_session.hpp"
#include "base/key/fingerprint.hpp"
#include "graph/ir/error.hpp"
#include "graph/text/print.hpp"
#include "runtime/record/job_key.hpp"
#include "runtime/run/lookup.hpp"
#include "sw_models/energy/energy.hpp"

#include <stdexcept>

namespace gradweave::cli {
namespace {

using sweep::Result;

/// Of compiling and timing a step: a guess from its elements, enough to begin with the longest ones.
constexpr double kStepSeconds = 0.5, kSecondsAnElement = 1e-7;

TrainRequest timed_step(const WorkArguments &a) {
  if (!a.layers.empty() || a.pass != WorkArguments().pass)
    throw std::invalid_argument("step: a step has all layers and both passes; leave out --layers and --pass");
  TrainRequest request = step_request(a);
  request.command = "simulate";
  request.backend = "timing";
  return request;
}

Machine machine_of(const TrainRequest &request) {
  return load_machine(runtime::find_npu(request.npu), parse_settings(request.set).machine);
}

Result no_step(const std::string &problem) {
  Result result;
  result.outcome = sweep::Outcome::kInfeasible;
  result.problem = problem;
  return result;
}

Result run_step(const TrainRequest &request) {
  const Machine npu = machine_of(request);
  TrainingSession session(request, load_forward(request), {});
  session.prepare(&npu);
  const runtime::train::TrainingOutcome outcome = session.run({});
  if (!outcome.ok())
    throw std::runtime_error(outcome.last.failures.empty() ? "the step failed" : outcome.last.failures.front());
  const runtime::train::ProductTotals &step = outcome.last.products;
  Result result;
  result["cycles"] = static_cast<double>(step.cycles);
  result["macs"] = static_cast<double>(outcome.last.shares.device_multiply_adds);
  result["dram_read_bytes"] = static_cast<double>(step.read_bytes);
  result["dram_write_bytes"] = static_cast<double>(step.write_bytes);
  add_machine(npu, step.accesses, result);
  return result;
}

} // namespace

sweep::Work step_work(const WorkArguments &arguments, const std::string &name) {
  const TrainRequest request = timed_step(arguments);
  const Machine npu = machine_of(request);
  const graph::Graph forward = load_forward(request);
  double elements = 0;
  for (const graph::Tensor &tensor : forward.tensors)
    elements += static_cast<double>(tensor.shape.elements());
  // Of the program, too: what plans a step is more than the compiler of layers, whose version other keys have.
  const std::string key = Fingerprint()
                              .add("step", graph::print_graph(forward), request.schedule, request.convolution,
                                   fingerprint(npu), fingerprint(npu.energy), npu.clock_ghz, runtime::build_key({}))
                              .hex();
  return {key, name, kStepSeconds + kSecondsAnElement * elements, [request] {
            try {
              return run_step(request);
            } catch (const compiler::CompilerDefect &) {
              throw;
            } catch (const compiler::CompileError &error) {
              return no_step(error.what());
            } catch (const std::invalid_argument &error) {
              return no_step(error.what());
            }
          }};
}

void add_machine(const Machine &npu, const AccessCounts &accesses, Result &result) {
  const auto cycles = static_cast<std::uint64_t>(result["cycles"]);
  result["milliseconds"] = result["cycles"] / (npu.clock_ghz * 1e6);
  result["energy_mj"] = energy_of(accesses, cycles, npu).total() * 1e-9;
  result["edp_mj_ms"] = result["energy_mj"] * result["milliseconds"];
  result["mean_watts"] = result["energy_mj"] / result["milliseconds"];
  result["array_use"] = runtime::utilisation(static_cast<std::uint64_t>(result["macs"]), cycles, npu);
  result["pes"] = static_cast<double>(npu.rows) * npu.cols * npu.cores;
  result["scratchpad_bytes"] = static_cast<double>(npu.spm_bytes);
  result["bandwidth_gb_s"] = npu.memory.bandwidth_gb_s;
  result["clock_ghz"] = npu.clock_ghz;
}

} // namespace gradweave::cli
