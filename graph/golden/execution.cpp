#include "graph/golden/execution.hpp"

#include "graph/build/inference.hpp"

#include <fmt/format.h>

namespace gradweave::graph {
namespace {

float rounded(float value) { return fp32_from_bf16(bf16_from_fp32(value)); }

/// To nearest, ties to even, in one step: through fp32 it would be rounded twice.
double rounded_to_bf16(double value) {
  if (!std::isfinite(value) || value == 0) return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  const int last = std::max(exponent - 8, -133); // weight of the last of 8 significant bits; subnormals end at 2^-133
  const double scaled = std::nearbyint(std::ldexp(value, -last));
  const double result = std::ldexp(scaled, last);
  return std::abs(result) > 3.3895313892515355e38 ? std::copysign(HUGE_VAL, value) : result;
}

double rounded_edge(double value, ElementType type) {
  return type == ElementType::kBf16 ? rounded_to_bf16(value) : static_cast<double>(static_cast<float>(value));
}
float rounded_edge(float value, ElementType type) { return type == ElementType::kBf16 ? rounded(value) : value; }

bool lives_on(const Tensor &tensor) { return !tensor.computed() && tensor.role != Role::kConstant; }

} // namespace

template <class A>
Execution<A>::Execution(const Graph &graph, ExecutionOptions options)
    : graph_(graph), options_(std::move(options)), buffers_(graph.tensors.size()), present_(graph.tensors.size()),
      kept_(graph.tensors.size()), ran_(graph.ops.size()), readers_(graph.tensors.size()) {
  const auto consumers = graph.consumers();
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    readers_[id] = static_cast<std::uint32_t>(consumers[id].size());
    kept_[id] = lives_on(graph.tensors[id]) || (options_.keep && options_.keep(id));
  }
  for (const TensorId id : graph.results)
    kept_[id] = true;
  if (graph.loss != kNone) kept_[graph.loss] = true;
  for (const Update &update : graph.updates)
    kept_[update.next] = true;
  fill_constants();
}

template <class A> void Execution<A>::fill_constants() {
  for (TensorId id = 0; id < graph_.tensors.size(); ++id) {
    const Tensor &tensor = graph_.tensors[id];
    if (tensor.role != Role::kConstant) continue;
    Buffer<A> buffer = make(tensor);
    const auto value = [&](std::size_t i) { return tensor.values.size() == 1 ? tensor.values[0] : tensor.values[i]; };
    for (std::size_t i = 0; i < buffer.real.size(); ++i)
      buffer.real[i] = static_cast<Value>(value(i));
    for (std::size_t i = 0; i < buffer.index.size(); ++i)
      buffer.index[i] = static_cast<std::int32_t>(value(i));
    round(tensor, buffer);
    buffers_[id] = std::move(buffer);
    present_[id] = true;
  }
}

template <class A> Buffer<A> Execution<A>::make(const Tensor &tensor) const {
  Buffer<A> buffer;
  if (is_real(tensor.type))
    buffer.real.resize(tensor.shape.elements());
  else
    buffer.index.resize(tensor.shape.elements());
  return buffer;
}

template <class A> void Execution<A>::round(const Tensor &tensor, Buffer<A> &buffer) const {
  if (!options_.round_edges || !is_real(tensor.type)) return;
  parallel_for(buffer.real.size(), 1U << 16U, options_.threads, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      buffer.real[i] = rounded_edge(buffer.real[i], tensor.type);
  });
}

template <class A> void Execution<A>::set(TensorId id, std::vector<Value> values) {
  const Tensor &tensor = graph_.tensors[id];
  if (!is_real(tensor.type) || values.size() != tensor.shape.elements())
    throw GraphError(fmt::format("tensor '{}' is {} {}; {} real values do not fit it", tensor.name,
                                 to_string(tensor.type), tensor.shape.text(), values.size()));
  buffers_[id].real = std::move(values);
  round(tensor, buffers_[id]);
  present_[id] = true;
}

template <class A> void Execution<A>::set_index(TensorId id, std::vector<std::int32_t> values) {
  const Tensor &tensor = graph_.tensors[id];
  if (is_real(tensor.type) || values.size() != tensor.shape.elements())
    throw GraphError(fmt::format("tensor '{}' is {} {}; {} whole numbers do not fit it", tensor.name,
                                 to_string(tensor.type), tensor.shape.text(), values.size()));
  std::vector<std::int32_t> &index = buffers_[id].index;
  index = std::move(values);
  present_[id] = true;
}

template <class A> const Buffer<A> &Execution<A>::get(TensorId id) const {
  if (!present_[id])
    throw GraphError(
        fmt::format("tensor '{}' has no values: not set, not computed yet, or dropped after its last reader",
                    graph_.tensors[id].name));
  return buffers_[id];
}

template <class A> Buffer<A> Execution<A>::take(TensorId id) {
  get(id);
  present_[id] = false;
  return std::move(buffers_[id]);
}

template <class A> void Execution<A>::run(OpId id) {
  const Op &op = graph_.ops[id];
  std::vector<const Buffer<A> *> inputs;
  for (const TensorId input : op.inputs) {
    if (input != kNone && !present_[input])
      throw GraphError(fmt::format("{}: '{}' has no values", describe(op), graph_.tensors[input].name));
    inputs.push_back(input == kNone ? nullptr : &buffers_[input]);
  }
  std::vector<Buffer<A> *> outputs;
  for (const TensorId output : op.outputs) {
    if (output != kNone) buffers_[output] = make(graph_.tensors[output]);
    outputs.push_back(output == kNone ? nullptr : &buffers_[output]);
  }
  Kernel<A> kernel(graph_, op, std::move(inputs), std::move(outputs), options_.threads);
  if constexpr (std::is_same_v<A, Contract>)
    op.type->contract(kernel);
  else
    op.type->reference(kernel);
  for (const TensorId output : op.outputs)
    if (output != kNone) {
      round(graph_.tensors[output], buffers_[output]);
      present_[output] = true;
    }
  done(id);
}

template <class A> void Execution<A>::done(OpId id) {
  ran_[id] = true;
  release(id);
}

template <class A> void Execution<A>::release(OpId id) {
  const auto drop = [this](TensorId tensor) {
    if (readers_[tensor] > 0 || kept_[tensor]) return;
    buffers_[tensor] = {};
    present_[tensor] = false;
  };
  const std::vector<TensorId> &inputs = graph_.ops[id].inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == kNone || std::find(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(i), inputs[i]) !=
                                  inputs.begin() + static_cast<std::ptrdiff_t>(i))
      continue; // counted once an op
    --readers_[inputs[i]];
    drop(inputs[i]);
  }
  for (const TensorId output : graph_.ops[id].outputs)
    if (output != kNone) drop(output);
}

template <class A> void Execution<A>::run() {
  for (OpId id = 0; id < graph_.ops.size(); ++id)
    if (!ran_[id]) run(id);
}

template class Execution<Contract>;
template class Execution<Reference>;

} // namespace gradweave::graph
