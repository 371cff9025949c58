// What `gradweave cosim` is asked for.
#pragma once

#include "app/cli/common/arguments.hpp"
#include "app/cli/run/train_arguments.hpp"
#include "app/request/run_request.hpp"

#include <optional>
#include <string>

namespace gradweave::cli {

struct CosimArguments : CosimRequest {
  std::string json, html, accelergy; ///< files; empty: none
  bool dry_run = false;
  std::string resume = "auto", background = "no";
  bool fresh = false;
  bool step = false; ///< one step of training instead: the products of a whole graph, and all that lies between them
  TensorArguments tensors;           ///< of that step
  std::string operators;             ///< what runs that step's operators; empty: as the NPU can
  bool keep_all = false;             ///< its tensors all reach memory
  bool sparse_embeddings = false;    ///< it updates only rows of embeddings that the batch looks up
  std::string loss;                  ///< of that step's network, if it has none; empty: cross_entropy
  std::optional<std::string> status; ///< tell about this run, all if empty, instead of running
  std::string stop;                  ///< end this run in the background instead of running; empty: do not
};

} // namespace gradweave::cli
