#include "app/cli/run/step.hpp"

#include "app/cli/run/train_arguments.hpp"

#include <stdexcept>

namespace gradweave::cli {
namespace {

/// The step of a request, with the outputs that layers and steps have; `command` and `backend` are still to be set.
TrainArguments step_of(const RunRequest &a, const StepArguments &given, const std::string &json,
                       const std::string &html) {
  if (!a.times.empty() || !a.timeline.empty() || !a.work.layers.empty())
    throw std::invalid_argument("--step: a step is run as a whole; leave out --layers, --times and --timeline");
  TrainArguments step;
  static_cast<TrainRequest &>(step) = step_request(a.work);
  step.program = a.program;
  step.operators = given.operators;
  step.keep_all = given.keep_all;
  step.sparse_embeddings = given.sparse_embeddings;
  step.loss = given.loss;
  step.tensors = given.tensors;
  step.json = json;
  step.html = html;
  step.quiet = a.quiet;
  step.from_make = a.from_make;
  return step;
}

} // namespace

int cosim_step(const CosimArguments &a, const SignalGuard &signals) {
  if (a.trace || !a.trace_file.empty() || !a.accelergy.empty())
    throw std::invalid_argument("--step: a step is compared as a whole; leave out --trace and --accelergy");
  TrainArguments step = step_of(a, a, a.json, a.html);
  step.command = "cosim";
  step.backend = a.backend;
  step.seed = a.seed;
  step.dry_run = a.dry_run;
  return train(step, signals);
}

int simulate_step(const SimulateArguments &a, const SignalGuard &signals) {
  if (!a.stream.empty() || !a.accelergy.empty())
    throw std::invalid_argument("--step: a step is that of a network; leave out the stream and --accelergy");
  TrainArguments step = step_of(a, a, a.json, a.html);
  step.command = "simulate";
  step.backend = "timing";
  return train(step, signals);
}

} // namespace gradweave::cli
