// What `gradweave train`, and a step of it by `gradweave cosim --step`, is asked for.
#pragma once

#include "app/cli/run/commands.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace gradweave::cli {

/// Tensors of a step in files, in and out.
struct TensorArguments {
  std::string weights, input, target; ///< files of tensors; empty: none
  std::string dump, dump_to;          ///< which tensors of the last step are written, and the file
};

struct TrainArguments {
  std::string program = "gradweave"; ///< how the command was called
  std::string model = "mlp_fashion", npu = "small", schedule = "rearrange";
  std::string data = "fashion-mnist"; ///< or synthetic, or a directory
  std::string backend = "golden";     ///< or what products run on
  std::string extent = "updates", optimizer = "adamw", lr_schedule = "constant";
  std::vector<std::string> set = {};       ///< TABLE.FIELD=VALUE each
  std::string until;                       ///< the op, node or tensor that the network ends with; empty: all of it
  std::string loss;                        ///< of a network that has none; empty: cross_entropy
  std::uint32_t batch = 0, accumulate = 1; ///< batch 0: as the network says
  std::uint64_t steps = 0, epochs = 0;     ///< both 0: one epoch, or 10 steps of synthetic data
  double lr = 1e-3, momentum = 0.9, clip = 0;
  double weight_decay = -1; ///< below 0: 0.01 of AdamW, 0 of SGD
  std::uint64_t warmup = 0, seed = 1;
  bool sparse_embeddings = false, evaluate = false, quiet = false;
  TensorArguments tensors;
  std::string loss_plot, json, html;
  bool as_cosim = false, from_make = false; ///< what repeats the run
  bool dry_run = false;                     ///< check arguments, files and outputs, run nothing
};

/// Their options.
void add_tensor_options(CLI::App &command, TensorArguments &arguments);
/// --loss, of a network that has none.
void add_loss_option(CLI::App &command, std::string &loss);

/// Trains as asked for. Returns the exit code; throws what run() in main.cpp knows.
int train(const TrainArguments &arguments);

} // namespace gradweave::cli
