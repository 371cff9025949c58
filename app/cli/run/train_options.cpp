// The options of gradweave train.
#include "app/cli/common/options.hpp"
#include "app/cli/common/report_files.hpp"
#include "app/cli/common/settings.hpp"
#include "app/cli/common/subcommands.hpp"
#include "app/cli/run/step_options.hpp"
#include "app/cli/run/train_arguments.hpp"
#include "device/backend.hpp"
#include "train/rate.hpp"

#include <fmt/format.h>

#include <memory>

namespace gradweave::cli {
namespace {

void add_network_options(CLI::App &command, TrainArguments &a) {
  command.add_option("--model", a.model, "Network: a name (gradweave models) or the path of a .graph or .onnx file")
      ->capture_default_str();
  add_until_option(command, a.until);
  add_frozen_options(command, a.frozen, a.learned);
  add_loss_option(command, a.loss);
  command
      .add_option(
          "--data", a.data,
          "fashion-mnist (Debian's package dataset-fashion-mnist), synthetic (random inputs for any network), or a "
          "directory of IDX files named as MNIST's")
      ->capture_default_str();
  add_batch_option(command, a.batch);
  command.add_option("--accumulate", a.accumulate, "Batches whose gradients make one step")
      ->check(whole_number(1U, 1U << 10U))
      ->capture_default_str();
  command.add_option("--seed", a.seed, "Seed of initial parameters, of the order of images, and of synthetic data")
      ->check(check_whole_number)
      ->capture_default_str();
}

void add_length_options(CLI::App &command, TrainArguments &a) {
  command.add_option("--steps", a.steps, "Steps; default: an epoch, or 10 of synthetic data")
      ->check(whole_number(std::uint64_t{1}, std::uint64_t{1} << 40U));
  command.add_option("--epochs", a.epochs, "Epochs, instead of steps")
      ->check(whole_number(std::uint64_t{1}, std::uint64_t{1} << 20U))
      ->excludes("--steps");
  command
      .add_option("--extent", a.extent,
                  "How far a step goes: forward (to the loss), gradients, or updates (of parameters, too)")
      ->check(CLI::IsMember({"forward", "gradients", "updates"}))
      ->capture_default_str();
}

void add_checkpoint_options(CLI::App &command, TrainArguments &a) {
  command.add_option("--checkpoint", a.checkpoint,
                     "Write parameters, moments and losses to this .safetensors file as the steps go, and when "
                     "interrupted, so that the run can go on");
  command.add_option("--checkpoint-every", a.checkpoint_every, "Steps from one writing of the checkpoint to the next")
      ->check(whole_number(std::uint64_t{1}, std::uint64_t{1} << 40U))
      ->capture_default_str();
  command.add_flag("--resume", a.resume,
                   "Go on from the --checkpoint, if the file is there: with the bits of a run that nobody stopped, "
                   "whatever --backend and --npu either part has");
}

void add_optimizer_options(CLI::App &command, TrainArguments &a) {
  command.add_option("--optimizer", a.optimizer, "adamw or sgd")->capture_default_str();
  const auto real = [&](const char *name, double &value, const char *help, double least) {
    return command.add_option(name, value, help)->check(check_finite)->check(CLI::Range(least, 1e30));
  };
  real("--lr", a.lr, "Learning rate", 0)->capture_default_str();
  command
      .add_option("--schedule-lr", a.lr_schedule,
                  "How the rate goes on behind the warm-up, one of " + runtime::train::rate_form_names() +
                      "; the last two end at 0")
      ->capture_default_str();
  command.add_option("--warmup", a.warmup, "Steps in which the rate rises to the full one")
      ->check(check_whole_number)
      ->capture_default_str();
  real("--weight-decay", a.weight_decay, "Weight decay; default: 0.01 of adamw, 0 of sgd", 0);
  real("--momentum", a.momentum, "Momentum of sgd", 0)->capture_default_str();
  real("--clip", a.clip, "Most that the norm of all gradients may be; 0: any", 0)->capture_default_str();
  add_sparse_option(command, a.sparse_embeddings);
}

void add_where_options(CLI::App &command, TrainArguments &a) {
  command
      .add_option("--backend", a.backend,
                  "What computes products: golden (the host, as all else), or one of " + runtime::backend_names() +
                      ", every tensor compared with a golden execution")
      ->capture_default_str();
  command.add_option("--npu", a.npu, "NPU of the products: a name or the path of a .toml file")->capture_default_str();
  command.add_option(
      "--system", a.system,
      "Several devices instead of one NPU, in one simulation: a name in configs/systems or the path of a "
      ".toml file; with --backend golden or rtl");
  command
      .add_option(
          "--search-partition", a.search_partition,
          "Search for the fastest partition over the system's devices on the exact timing model, instead of the "
          "file's: which layers of which images on which device, in how many micro-batches; at most N steps are "
          "timed (200 if N is left out)")
      ->expected(0, 1)
      ->default_str("200")
      ->check(whole_number(std::uint64_t{1}, std::uint64_t{1} << 20U));
  add_set_option(command, a.set, Settable::kMachineAndNetwork);
  command.add_option("--schedule", a.schedule, "Schedule of the products, as of cosim")->capture_default_str();
  add_convolution_option(command, a.convolution);
  add_operators_options(command, a.operators, a.keep_all);
  command
      .add_option("--jobs", a.jobs,
                  "Steps at a time, each on an NPU of its own that begins with what golden execution has; 1: one NPU, "
                  "step after step; default: of the RTL one a core. No result depends on it")
      ->check(whole_number(1U, 1U << 10U));
  command.add_flag("--eval", a.evaluate, "Tell the accuracy on the test images at the end");
  command.add_option("--loss-plot", a.loss_plot, "Draw the loss over the steps into this SVG file");
  add_report_options(command, a.json, a.html, "all figures");
  command.add_flag("--quiet", a.quiet, "No progress on standard error");
}

constexpr const char *kTrainFooter =
    "A step goes forward to the loss, back to the gradients, and updates the parameters. Weights, moments, gradients "
    "of\n"
    "weights and sums are fp32; activations and the operands of products bf16 (docs/numerics.md). With --backend rtl "
    "all\n"
    "products run on the Verilated NPU, and on its vector unit, if it has one, all other operators; each tensor of "
    "each\n"
    "step is compared, bit by bit.\n"
    "Examples:\n"
    "  gradweave train --model mlp_fashion --batch 64 --lr 4e-3 --schedule-lr linear --eval --loss-plot loss.svg\n"
    "  gradweave train --model lenet --batch 64 --lr 4e-3 --schedule-lr linear --steps 20 --backend rtl\n"
    "  gradweave train --model lenet --batch 32 --steps 200 --lr 4e-3 --schedule-lr linear --backend rtl "
    "--checkpoint lenet.safetensors --resume --eval\n"
    "  gradweave train --model bert_tiny --data synthetic --steps 1 --backend rtl --npu small\n"
    "  gradweave train --model lenet --batch 8 --data synthetic --steps 2 --backend rtl --system test2\n"
    "  gradweave train --model dlrm_bags --data synthetic --steps 1 --sparse-embeddings --backend rtl --system "
    "recommend\n"
    "Exit codes: 0 trained, all bits equal; 1 a bit or a counter is wrong; 2 usage; 3 bad file, network or data;\n"
    "4 NPU error or no simulation; 5 output cannot be written; 128 + signal interrupted";

} // namespace

void add_train(CLI::App &app, const Invocation &invocation, Chosen &chosen) {
  const auto arguments = std::make_shared<TrainArguments>(); // as long as the parser
  TrainArguments &a = *arguments;
  a.program = invocation.program;
  CLI::App *command = add_subcommand(app, "train");
  add_network_options(*command, a);
  add_tensor_options(*command, a.tensors);
  add_length_options(*command, a);
  add_checkpoint_options(*command, a);
  add_optimizer_options(*command, a);
  add_where_options(*command, a);
  command->footer(kTrainFooter);
  command->callback([arguments, &chosen] {
    chosen = [arguments](const SignalGuard &signals) { return train(*arguments, signals); };
  });
}

} // namespace gradweave::cli
