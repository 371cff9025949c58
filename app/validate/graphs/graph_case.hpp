// A random graph with what it is trained on: NPU, memory timing, optimizer, micro-batches.
#pragma once

#include "app/session/training_session.hpp"
#include "app/validate/graphs/choices.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace gradweave::graphs {

struct GraphCase {
  graph::Graph network;
  cli::TrainRequest request; ///< as `gradweave train` takes it, but for the model, which is `network`
};

struct CaseOptions {
  std::string npu;                    ///< empty: one of several, with other parameters and memory timings
  std::string backend = "functional"; ///< on the RTL an NPU keeps its parameters, and has one step
  std::uint32_t most = 8;             ///< operators before the losses
};

/// Draws until the network's training step can be made; nothing: it never could, as bytes are used up.
std::optional<GraphCase> draw_case(Choices &choices, const CaseOptions &options, const std::string &name);
/// That of a seed.
GraphCase draw_case(std::uint64_t seed, const CaseOptions &options);

/// The machine of a case.
Machine machine_of(const GraphCase &graph_case);
/// The command that repeats a case whose network stands in `file`.
std::string command_of(const GraphCase &graph_case, const std::string &file);

} // namespace gradweave::graphs
