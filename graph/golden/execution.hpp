// Golden execution of a graph: whole tensors, op by op. It knows no tiles, no commands and no scratchpad.
#pragma once

#include "graph/golden/kernel.hpp"

#include <functional>
#include <vector>

namespace gradweave::graph {

struct ExecutionOptions {
  /// Whether results are rounded to the types of their edges. The contract rounds; fp64 that rounds tells what
  /// arithmetic in between costs.
  bool round_edges = true;
  unsigned threads = usable_cores();
  /// Which tensors outlive their last reader; nothing: results, the loss and the next values of parameters and state.
  std::function<bool(TensorId)> keep = nullptr;
};

/// The values of one run. A: Contract or Reference.
template <class A> class Execution {
public:
  using Value = typename A::Value;

  /// The graph must outlive this. Throws GraphError if it has not passed verify()'s order.
  explicit Execution(const Graph &graph, ExecutionOptions options = {});

  /// A tensor's values, rounded to its type: of an input, parameter, state, or of a tensor whose op another has run.
  /// Throws GraphError if there are not as many as elements.
  void set(TensorId tensor, std::vector<Value> values);
  void set_index(TensorId tensor, std::vector<std::int32_t> values);
  bool has(TensorId tensor) const { return present_[tensor]; }
  /// Throws GraphError if the tensor has no values, or has them no longer.
  const Buffer<A> &get(TensorId tensor) const;
  Buffer<A> take(TensorId tensor);

  /// Runs one op, whose inputs are there, and drops what nobody reads any more. Throws GraphError if a value is
  /// missing.
  void run(OpId op);
  /// Runs all ops that have not run, in order.
  void run();
  /// Marks an op as run by another, who has set its outputs.
  void done(OpId op);

private:
  void fill_constants();
  Buffer<A> make(const Tensor &tensor) const;
  void round(const Tensor &tensor, Buffer<A> &buffer) const;
  void release(OpId op);

  const Graph &graph_;
  ExecutionOptions options_;
  std::vector<Buffer<A>> buffers_;
  std::vector<bool> present_, kept_, ran_;
  std::vector<std::uint32_t> readers_; ///< of each tensor, ops still to run
};

extern template class Execution<Contract>;
extern template class Execution<Reference>;

} // namespace gradweave::graph
