// What `gradweave simulate` is asked for.
#pragma once

#include "app/request/run_request.hpp"
#include "app/request/step_arguments.hpp"

#include <string>

namespace gradweave::cli {

struct SimulateArguments : SimulateRequest, StepArguments {
  std::string json, html, accelergy; ///< files; empty: none
};

} // namespace gradweave::cli
