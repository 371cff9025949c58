// What `gradweave train` is asked for.
#pragma once

#include "app/cli/run/commands.hpp"
#include "app/session/training_session.hpp"

#include <string>

namespace gradweave::cli {

struct TrainArguments : TrainRequest {
  std::string loss_plot, json, html;
  bool dry_run = false; ///< check arguments, files and outputs, run nothing
};

/// Trains as asked for. Returns the exit code; throws what run_program() knows.
int train(const TrainArguments &arguments, const SignalGuard &signals);

} // namespace gradweave::cli
