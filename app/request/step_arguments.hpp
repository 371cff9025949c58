// What a step of training is asked for beside the work: by --step of cosim and simulate, and by train.
#pragma once

#include <string>

namespace gradweave::cli {

/// Tensors of a step in files, in and out.
struct TensorArguments {
  std::string weights, input, target; ///< files of tensors; empty: none
  std::string dump, dump_to;          ///< which tensors of the last step are written, and the file
};

/// One step of training instead of layers, by --step of cosim and simulate.
struct StepArguments {
  bool step = false;
  TensorArguments tensors;
  std::string operators;          ///< what runs the step's operators; empty: as the NPU can
  bool keep_all = false;          ///< its tensors all reach memory
  bool sparse_embeddings = false; ///< it updates only rows of embeddings that the batch looks up
  std::string loss;               ///< of a network that has none; empty: cross_entropy
};

} // namespace gradweave::cli
