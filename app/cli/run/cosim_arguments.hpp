// What `gradweave cosim` is asked for.
#pragma once

#include "app/cli/common/arguments.hpp"
#include "app/cli/run/train_arguments.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace gradweave::cli {

struct CosimArguments {
  std::string program = "gradweave"; ///< how the command was called
  WorkArguments work;
  std::string backend = "rtl", data = "normal", json, html;
  std::string times, timeline; ///< file, or directory if it is one or ends in '/'; empty: none
  std::uint64_t seed = 1;
  unsigned jobs = 0; ///< 0: one a core
  bool trace = false;
  std::string trace_file, trace_dir = "gradweave-trace";
  std::uint64_t trace_from = 0, trace_to = ~std::uint64_t{0};
  std::uint64_t stress_seed = 1;
  double stall_probability = 0;
  bool quiet = false, dry_run = false, from_make = false;
  std::string resume = "auto", background = "no";
  bool fresh = false;
  bool step = false; ///< one step of training instead: the products of a whole graph, and all that lies between them
  TensorArguments tensors;           ///< of that step
  std::string loss;                  ///< of that step's network, if it has none; empty: cross_entropy
  std::optional<std::string> status; ///< tell about this run, all if empty, instead of running
  std::string stop;                  ///< end this run in the background instead of running; empty: do not
};

} // namespace gradweave::cli
