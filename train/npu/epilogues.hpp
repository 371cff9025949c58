// Operators on a product's result while its tiles are in the scratchpad: which there may be, and the stream with them.
#pragma once

#include "compiler/epilogue/add_epilogues.hpp"
#include "compiler/ir/compiled.hpp"
#include "train/npu/plan/order/same_elements.hpp"
#include "train/npu/plan/order/step_order.hpp"
#include "train/npu/plan/step_memory.hpp"

#include <cstddef>
#include <functional>
#include <set>
#include <vector>

namespace gradweave::runtime::train {

/// The operators that may be run on a product's result, tile by tile: local to its elements
/// (compiler/epilogue/matrix_stages.hpp), all they read besides being there before the product, and none that writes
/// over what another epilogue of the pass reads.
class EpilogueFinder {
public:
  /// References must outlive this.
  /// `apart`: as of order_step().
  EpilogueFinder(const graph::Graph &graph, const ProductPlan &products, const Views &views,
                 const std::vector<compiler::ItemGroup> &groups, const std::set<graph::OpId> &apart = {});

  /// Of a pass, those that no pass has taken: one for each of its results that has such. Any first ones of an
  /// epilogue's operators may be taken, too.
  std::vector<PassEpilogue> behind(std::size_t pass) const;
  /// Of a pass of dX and dW, the sums over the rows of its operands that no pass has taken: chains that nobody reads
  /// before the pass.
  std::vector<PassEpilogue> sums_of(std::size_t pass) const;
  /// Passes take in their order.
  void take(std::size_t pass, const std::vector<PassEpilogue> &epilogues);

private:
  std::vector<graph::OpId> ops_behind(const ProductPass &pass, const PlacedTensor &result,
                                      const std::vector<PassEpilogue> &others) const;
  std::set<graph::OpId> readers_of(graph::TensorId tensor) const;
  bool can_follow(const graph::Op &op, const ProductPass &pass, const std::vector<graph::TensorId> &given) const;
  bool is_local(const graph::Op &op, const std::vector<graph::TensorId> &given) const;
  bool leaves_alone(const graph::Op &op, const std::vector<PassEpilogue> &others) const;

  const graph::Graph &graph_;
  const ProductPlan &products_;
  graph::Consumers consumers_;
  std::vector<graph::TensorId> same_;               ///< of each tensor: what has its elements in their order
  std::vector<std::vector<graph::TensorId>> alike_; ///< of each tensor that is `same_` of any: all of which it is
  std::vector<graph::TensorId> strided_;            ///< tensors that do not lie row-major
  std::vector<bool> free_;                          ///< operators that are no epilogue's yet
  std::vector<graph::OpId> at_;                     ///< of each op: the one with which it runs
};

/// Which tensors of the graph are asked for in memory, beside those that somebody reads there.
using Keeps = std::function<bool(graph::TensorId)>;

/// What a step's sections have to know of an epilogue.
struct EpilogueJobs {
  compiler::Epilogue epilogue; ///< but for the addresses; of a sum, its result is the operand
  bool is_sum = false;
  compiler::Tensor as{};               ///< the result, in the layer
  std::vector<graph::TensorId> inside; ///< tensors that never reach memory
};
EpilogueJobs epilogue_jobs(const graph::Graph &graph, const graph::Consumers &consumers, const ProductPass &pass,
                           const PassEpilogue &epilogue, const Views &views, const Keeps &keeps);

/// The commands of a compiled pass, on the tensors of the graph (place_product()), with its epilogues. Empty if these
/// do not fit, or one writes over an operand before the product has read it. `room`: what the pass was compiled
/// without. Throws InPlaceConflict.
std::vector<isa::Command> with_epilogues(const std::vector<isa::Command> &commands, const compiler::Compiled &compiled,
                                         const std::vector<EpilogueJobs> &epilogues, const StepMemory &memory,
                                         const compiler::EpilogueRoom &room, const NpuConfig &npu);

} // namespace gradweave::runtime::train
