// What execution of an operator sees of an op: values, shapes, attributes, threads.
#pragma once

#include "base/process/parallel.hpp"
#include "graph/golden/arithmetic.hpp"
#include "graph/golden/line_walk.hpp"
#include "graph/ir/operator.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::graph {

/// A tensor's elements, row-major. A bf16 one holds values that are bf16's, widened.
template <class A> struct Buffer {
  std::vector<typename A::Value> real;
  std::vector<std::int32_t> index; ///< of an int32 tensor, whose `real` is empty
};

/// An op and its tensors, without their values.
class KernelOp {
public:
  KernelOp(const Graph &graph, const Op &op) : graph_(graph), op_(op) {}

  std::size_t inputs() const { return op_.inputs.size(); }
  std::size_t outputs() const { return op_.outputs.size(); }
  bool has_in(std::size_t i) const { return i < op_.inputs.size() && op_.inputs[i] != kNone; }
  bool has_out(std::size_t o) const { return o < op_.outputs.size() && op_.outputs[o] != kNone; }
  const Tensor &in_tensor(std::size_t i) const { return graph_.tensors[op_.inputs[i]]; }
  const Tensor &out_tensor(std::size_t o) const { return graph_.tensors[op_.outputs[o]]; }
  const Shape &in_shape(std::size_t i) const { return in_tensor(i).shape; }
  const Shape &out_shape(std::size_t o) const { return out_tensor(o).shape; }
  const Attributes &attributes() const { return op_.attributes; }
  const Graph &graph() const { return graph_; }
  const Op &op() const { return op_; }

private:
  const Graph &graph_;
  const Op &op_;
};

template <class A> class Kernel : public KernelOp {
public:
  using Value = typename A::Value;

  Kernel(const Graph &graph, const Op &op, std::vector<const Buffer<A> *> inputs, std::vector<Buffer<A> *> outputs,
         unsigned threads)
      : KernelOp(graph, op), inputs_(std::move(inputs)), outputs_(std::move(outputs)), threads_(threads) {}

  const Value *in(std::size_t i) const { return inputs_[i]->real.data(); }
  const std::int32_t *index_in(std::size_t i) const { return inputs_[i]->index.data(); }
  /// Results are complete in the precision of the arithmetic; whoever called rounds them to the edge's type.
  Value *out(std::size_t o) const { return outputs_[o]->real.data(); }
  std::int32_t *index_out(std::size_t o) const { return outputs_[o]->index.data(); }

  /// Values between the walks of an op (line_walk.hpp), as many as that; they are not rounded.
  WalkValue temporary(std::size_t elements) {
    temporaries_.emplace_back(elements);
    return {WalkValue::Kind::kTemporary, temporaries_.size() - 1};
  }
  const Value *read(const WalkValue &value) const {
    if (value.kind == WalkValue::Kind::kInput) return in(value.number);
    return value.kind == WalkValue::Kind::kOutput ? out(value.number) : temporaries_[value.number].data();
  }
  Value *write(const WalkValue &value) {
    return value.kind == WalkValue::Kind::kOutput ? out(value.number) : temporaries_[value.number].data();
  }

  /// An int32 tensor of the op, whose elements are index_in() and index_out().
  bool of_indices(const WalkValue &value) const {
    return value.kind == WalkValue::Kind::kInput && !is_real(in_tensor(value.number).type);
  }

  unsigned threads() const { return threads_; }

  /// Calls body(begin, end) for parts of [0, count) on all threads. No bit may depend on how it is cut. `work`:
  /// operations an index takes, so that little work stays on one thread.
  template <typename F> void parallel(std::size_t count, std::size_t work, F body) const {
    constexpr std::size_t kWorthAThread = 1U << 16U;
    const std::size_t grain = kWorthAThread / (work == 0 ? 1 : work) + 1;
    parallel_for(count, grain, threads_, body);
  }

private:
  std::vector<const Buffer<A> *> inputs_;
  std::vector<Buffer<A> *> outputs_;
  std::vector<std::vector<Value>> temporaries_;
  unsigned threads_;
};

} // namespace gradweave::graph
