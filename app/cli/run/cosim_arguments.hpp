// What `gradweave cosim` is asked for.
#pragma once

#include "app/cli/common/arguments.hpp"
#include "app/request/run_request.hpp"
#include "app/request/step_arguments.hpp"

#include <optional>
#include <string>

namespace gradweave::cli {

struct CosimArguments : CosimRequest, StepArguments {
  std::string json, html, accelergy; ///< files; empty: none
  bool dry_run = false;
  std::string resume = "auto", background = "no";
  bool fresh = false;
  std::optional<std::string> status; ///< tell about this run, all if empty, instead of running
  std::string stop;                  ///< end this run in the background instead of running; empty: do not
};

} // namespace gradweave::cli
