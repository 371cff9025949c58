// --step of cosim and simulate: one step of training instead of layers.
#include "app/cli/run/train_arguments.hpp"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace gradweave::cli {

void add_step_options(CLI::App &command, StepArguments &arguments) {
  command.add_flag(
      "--step", arguments.step,
      "One whole step of training of a .graph or .onnx file instead: products on the NPU, and all else on "
      "its vector unit, every tensor compared where there is data. With it go, as of gradweave train, --operators, "
      "--keep-all, --sparse-embeddings, --loss, --weights, --input, --target, --dump and --dump-to");
  add_operators_options(command, arguments.operators, arguments.keep_all);
  add_sparse_option(command, arguments.sparse_embeddings);
  add_tensor_options(command, arguments.tensors);
  add_loss_option(command, arguments.loss);
}

void require_no_step_options(const StepArguments &a) {
  const TensorArguments &t = a.tensors;
  using Option = std::pair<const char *, const std::string &>;
  for (const auto &[option, value] :
       {Option{"--weights", t.weights}, Option{"--input", t.input}, Option{"--target", t.target},
        Option{"--dump", t.dump}, Option{"--dump-to", t.dump_to}, Option{"--loss", a.loss}})
    if (!value.empty())
      throw std::invalid_argument(fmt::format(
          "{} {}: layers have data of a seed; a step of the whole network takes tensors: add --step", option, value));
  using Flag = std::pair<const char *, bool>;
  for (const auto &[option, given] : {Flag{"--operators", !a.operators.empty()}, Flag{"--keep-all", a.keep_all},
                                      Flag{"--sparse-embeddings", a.sparse_embeddings}})
    if (given)
      throw std::invalid_argument(fmt::format(
          "{}: layers are products alone; a step of the whole network has other operators: add --step", option));
}

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

} // namespace gradweave::cli
