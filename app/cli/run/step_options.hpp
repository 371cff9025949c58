// The options of a step of training: of cosim and simulate with --step, and of train.
#pragma once

#include "app/request/step_arguments.hpp"

#include <CLI/App.hpp>

#include <string>

namespace gradweave::cli {

/// --step of `command`, and the options that go with it.
void add_step_options(CLI::App &command, StepArguments &arguments);
/// Of a request for layers: throws std::invalid_argument if an option that only a step has is given.
void require_no_step_options(const StepArguments &arguments);

/// Their options.
void add_tensor_options(CLI::App &command, TensorArguments &arguments);
/// --loss, of a network that has none.
void add_loss_option(CLI::App &command, std::string &loss);
/// --sparse-embeddings.
void add_sparse_option(CLI::App &command, bool &sparse_embeddings);
/// --operators: what runs ops that are no products; --keep-all.
void add_operators_options(CLI::App &command, std::string &operators, bool &keep_all);

} // namespace gradweave::cli
