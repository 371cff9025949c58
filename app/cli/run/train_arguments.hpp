// What `gradweave train`, and a step of it by `gradweave cosim --step`, is asked for.
#pragma once

#include "app/cli/run/commands.hpp"
#include "app/session/training_session.hpp"

#include <string>

namespace gradweave::cli {

struct TrainArguments : TrainRequest {
  std::string loss_plot, json, html;
  bool dry_run = false; ///< check arguments, files and outputs, run nothing
};

/// Their options.
void add_tensor_options(CLI::App &command, TensorArguments &arguments);
/// --loss, of a network that has none.
void add_loss_option(CLI::App &command, std::string &loss);
/// --sparse-embeddings.
void add_sparse_option(CLI::App &command, bool &sparse_embeddings);

/// --operators: what runs ops that are no products; --keep-all.
void add_operators_options(CLI::App &command, std::string &operators, bool &keep_all);

/// Trains as asked for. Returns the exit code; throws what run() in main.cpp knows.
int train(const TrainArguments &arguments, const SignalGuard &signals);

} // namespace gradweave::cli
