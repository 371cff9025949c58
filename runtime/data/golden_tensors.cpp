#include "runtime/data/golden_tensors.hpp"

#include "compiler/ir/contraction.hpp"

#include <utility>

namespace gradweave::runtime {

using compiler::Tensor;

GoldenTensors::GoldenTensors(const compiler::Compiled &compiled, std::string network, DataKind kind, std::uint64_t seed)
    : compiled_(compiled), network_(std::move(network)), kind_(kind), seed_(seed),
      tensors_(compiled.layout.tensors.size()) {}

const HostTensor &GoldenTensors::operator[](std::size_t binding) {
  std::optional<HostTensor> &tensor = tensors_[binding];
  if (tensor) return *tensor;
  const compiler::TensorBinding &b = compiled_.layout.tensors[binding];
  const compiler::Layer &layer = compiled_.layers[b.layer];
  const compiler::ReductionPlans &plans = compiled_.reductions[b.layer];
  if (b.input)
    tensor = make_input(b.tensor, layer, network_, kind_, seed_);
  else if (layer.image)
    tensor = golden_image_result(b.tensor, layer, operands_of(b.layer, b.tensor), plans);
  else
    tensor = golden_result(b.tensor, operands_of(b.layer, b.tensor), layer.groups, plans, b.fp32);
  return *tensor;
}

// No more than the operands: what else the layer reads may be computed from this very result.
Operands GoldenTensors::operands_of(std::uint32_t layer, Tensor result) {
  const compiler::Contraction &c = compiler::contraction_of(result);
  Operands operands;
  for (const Tensor t : {c.a, c.b}) // a shared tensor bears another layer's name for it
    operands.add(t, (*this)[static_cast<std::size_t>(compiled_.layout.place(layer, t))]);
  return operands;
}

bool GoldenTensors::reads_inputs(std::uint32_t layer, Tensor result) const {
  const compiler::Contraction &c = compiler::contraction_of(result);
  const auto is_input = [&](Tensor t) {
    return compiled_.layout.tensors[static_cast<std::size_t>(compiled_.layout.place(layer, t))].input;
  };
  return is_input(c.a) && is_input(c.b);
}

} // namespace gradweave::runtime
