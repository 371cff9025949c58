// What runs of layers work on: networks, NPUs and schedules by the words that users have for them.
#pragma once

#include "app/request/work_arguments.hpp"
#include "compiler/compiler.hpp"
#include "graph/frontend/load_network.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gradweave::cli {

struct Work {
  compiler::Network network;
  Machine npu;
  std::vector<compiler::Layer> layers;
  compiler::CompileOptions compile; ///< but for the schedule, of which there may be several
  bool images = false;              ///< convolutions may read their images

  /// What the layers are to be compiled with under a schedule.
  compiler::CompileOptions compile_as(compiler::Schedule schedule) const {
    compiler::CompileOptions options = compile;
    options.schedule = schedule;
    return options;
  }
};

/// Throws ConfigError for files, std::invalid_argument for the rest.
Work resolve(const WorkArguments &arguments);
/// The network of it, as its file and --set say, and the rest when that has been read before.
compiler::Network resolve_network(const WorkArguments &arguments);
Work resolve(const WorkArguments &arguments, compiler::Network network);
/// The same with a machine that has been read before, too.
Work resolve(const WorkArguments &arguments, compiler::Network network, Machine npu);

/// The work for who compiles layer by layer: depthwise convolutions that the NPU's vector unit computes sooner are that
/// unit's (compiler::choose_vector_layers()), if convolutions may read images.
Work layer_by_layer(Work work);

/// Likewise for who compiles all layers into one stream (compiler::choose_vector_layers_of_step()).
Work in_one_stream(Work work);

/// Builds the Verilated NPU that a run needs if it is not there; throws std::runtime_error with the remedy if it cannot
/// be built from here. `argument`: the NPU as the user gave it.
void require_rtl(const Machine &npu, const std::string &argument);

/// A schedule's name, or all; throws std::invalid_argument listing what there is.
std::vector<compiler::Schedule> parse_schedules(const std::string &text);

/// `text` as one word of a POSIX shell, for commands that repeat a run.
std::string shell_word(const std::string &text);

/// The plans that earlier runs of this version of the tool found; null if there is no place for them.
std::unique_ptr<compiler::PlanStore> plan_store(const WorkArguments &arguments);

} // namespace gradweave::cli
