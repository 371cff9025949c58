// Operators on a product's result while its tiles are in the scratchpad: which there may be, and the stream with them.
#pragma once

#include "compiler/epilogue/add_epilogues.hpp"
#include "compiler/ir/compiled.hpp"
#include "train/npu/plan/same_elements.hpp"
#include "train/npu/plan/step_memory.hpp"
#include "train/npu/plan/step_order.hpp"

#include <functional>
#include <vector>

namespace gradweave::runtime::train {

/// The operators that may be run on each product's result, tile by tile: local to its elements
/// (compiler/epilogue/matrix_stages.hpp), all they read besides being there before the product. Each is of the first
/// product that it can follow. None that writes over what the pass, or another of its epilogues, reads.
Epilogues find_epilogues(const graph::Graph &graph, const ProductPlan &products, const Views &views);

/// Which tensors of the graph are asked for in memory, beside those that somebody reads there.
using Keeps = std::function<bool(graph::TensorId)>;

/// What a step's sections have to know of an epilogue.
struct EpilogueJobs {
  compiler::Epilogue epilogue; ///< but for the addresses
  compiler::Tensor as{};       ///< the result, in the layer
  std::vector<graph::TensorId> inside; ///< tensors that never reach memory
};
EpilogueJobs epilogue_jobs(const graph::Graph &graph, const ProductPass &pass, const PassEpilogue &epilogue,
                           const Views &views, const Keeps &keeps);

/// The commands of a compiled pass, on the tensors of the graph (place_product()), with its epilogues. Empty if these
/// do not fit. `room`: what the pass was compiled without.
std::vector<isa::Command> with_epilogues(const std::vector<isa::Command> &commands, const compiler::Compiled &compiled,
                                         const std::vector<EpilogueJobs> &epilogues, const StepMemory &memory,
                                         const compiler::EpilogueRoom &room, const NpuConfig &npu);

} // namespace gradweave::runtime::train
