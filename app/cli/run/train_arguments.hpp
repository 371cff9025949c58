// What `gradweave train`, and a step of it by `gradweave cosim --step`, is asked for.
#pragma once

#include "app/cli/run/commands.hpp"
#include "app/request/run_request.hpp"
#include "app/session/training_session.hpp"

#include <string>

namespace gradweave::cli {

struct TrainArguments : TrainRequest {
  std::string loss_plot, json, html;
  bool dry_run = false; ///< check arguments, files and outputs, run nothing
};

/// One step of training instead of layers, by --step of cosim and simulate.
struct StepArguments {
  bool step = false;
  TensorArguments tensors;
  std::string operators;          ///< what runs the step's operators; empty: as the NPU can
  bool keep_all = false;          ///< its tensors all reach memory
  bool sparse_embeddings = false; ///< it updates only rows of embeddings that the batch looks up
  std::string loss;               ///< of a network that has none; empty: cross_entropy
};

/// --step of `command`, and the options that go with it.
void add_step_options(CLI::App &command, StepArguments &arguments);
/// Of a request for layers: throws std::invalid_argument if an option that only a step has is given.
void require_no_step_options(const StepArguments &arguments);
/// The step of a request, with the outputs that layers and steps have; `command` and `backend` are still to be set.
TrainArguments step_of(const RunRequest &request, const StepArguments &arguments, const std::string &json,
                       const std::string &html);

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
