#include "app/cli/run/step_options.hpp"

#include "graph/passes/loss.hpp"

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

void add_loss_option(CLI::App &command, std::string &loss) {
  command.add_option("--loss", loss,
                     "Loss of a network that has none, on its first output, one of " + graph::loss_names() +
                         "; default for .onnx: cross_entropy, of classes along the last dimension");
}

void add_operators_options(CLI::App &command, std::string &operators, bool &keep_all) {
  command
      .add_option("--operators", operators,
                  "What runs the operators that are no products: npu (its vector unit: the whole step is one stream, "
                  "and the host only waits) or host; default: npu if it has a vector unit")
      ->check(CLI::IsMember({"host", "npu"}));
  command.add_flag(
      "--keep-all", keep_all,
      "Of a step that the NPU runs alone: write the tensors that would stay in the scratchpad, too, and let "
      "no tensor make room for another, so that each is compared. Where the host runs operators that is so anyway");
}

void add_sparse_option(CLI::App &command, bool &sparse_embeddings) {
  command.add_flag("--sparse-embeddings", sparse_embeddings,
                   "Update only rows of embeddings that the batch looks up; else all rows decay");
}

void add_tensor_options(CLI::App &command, TensorArguments &a) {
  command.add_option("--weights", a.weights,
                     "Begin with the parameters of this .safetensors, .npz or .npy file: all of the network, by name");
  command.add_option(
      "--input", a.input,
      "Inputs of this file of tensors, by name, in the place of drawn data; a batch behind the other along "
      "the first dimension");
  command.add_option("--target", a.target, "The same for what the loss compares with (labels)");
  command.add_option("--dump", a.dump,
                     "Tensors of the last step to write, separated by commas: weights (after it), gradients, outputs, "
                     "all, or names");
  command.add_option("--dump-to", a.dump_to, "File for them: .safetensors, .npz, or .npy for one");
}

} // namespace gradweave::cli
