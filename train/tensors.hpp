// Parameters from files of tensors or memory, and tensors of a step for them. They lie there as in the network's own
// file (Tensor::origin): weights of an ONNX network as its initializers.
#pragma once

#include "graph/passes/training.hpp"
#include "graph/tensor_file/file_tensor.hpp"
#include "train/data/tensor_source.hpp"
#include "train/step_executor.hpp"

#include <string>
#include <vector>

namespace gradweave::runtime::train {

/// Puts the values of a file, or of memory, in the place of those of a fresh network: all parameters of `forward`, by
/// name, and, if they are there, its running averages. Throws DataError naming the source and the tensor if one is
/// missing, unknown, there twice, or of another shape or type; ConfigError if a file cannot be read.
void load_weights(const graph::Graph &forward, const graph::TrainingGraph &step, const TensorSource &source,
                  Living &living);

/// Tensors of a step that are to be written.
struct Dump {
  std::vector<graph::TensorId> watched; ///< of the step's graph, whose values a step has to keep
  bool weights = false;                 ///< parameters and running averages after the step, besides
};

/// What `what`, separated by commas, asks for: weights (after the step), gradients (of parameters), outputs (the
/// network's results and the loss), all (every tensor that a step computes), or the name of a tensor of the step's
/// graph. Throws std::invalid_argument listing what there is.
Dump parse_dump(const graph::Graph &forward, const graph::TrainingGraph &step, const std::string &what);

/// How many tensors that are.
std::size_t dumped_count(const graph::Graph &forward, const graph::TrainingGraph &step, const Dump &dump);

/// The tensors, for write_tensors(): gradients of parameters are called NAME.grad, all else by the names that they have
/// in the graph; bf16 and fp32 as they are, whole numbers as int64. `watched` in the order of `dump`.
std::vector<graph::FileTensor> dumped(const graph::Graph &forward, const graph::TrainingGraph &step, const Dump &dump,
                                      const std::vector<graph::Buffer<graph::Contract>> &watched, const Living &living);

} // namespace gradweave::runtime::train
