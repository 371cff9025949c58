#include "runtime/golden_tensors.hpp"

#include "compiler/ir/contraction.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::runtime {

using compiler::operand_tensors;
using compiler::Tensor;

GoldenTensors::GoldenTensors(const compiler::Compiled &compiled, std::string network, DataKind kind, std::uint64_t seed)
    : compiled_(compiled), network_(std::move(network)), kind_(kind), seed_(seed),
      tensors_(compiled.layout.tensors.size()) {}

const HostTensor &GoldenTensors::operator[](std::size_t binding) {
  std::optional<HostTensor> &tensor = tensors_[binding];
  if (tensor) return *tensor;
  const compiler::TensorBinding &b = compiled_.layout.tensors[binding];
  const compiler::Layer &layer = compiled_.layers[b.layer];
  tensor = b.input ? make_input(b.tensor, layer, network_, kind_, seed_)
                   : golden_result(b.tensor, inputs_of(b.layer), layer.groups, compiled_.reductions[b.layer]);
  return *tensor;
}

TensorSet GoldenTensors::inputs_of(std::uint32_t layer) {
  TensorSet inputs;
  for (const Tensor t : operand_tensors())
    if (const std::int32_t from = compiled_.layout.place(layer, t); from != compiler::Layout::kNone) {
      inputs.push_back((*this)[static_cast<std::size_t>(from)]);
      inputs.back().tensor = t; // a shared tensor bears another layer's name for it
    }
  return inputs;
}

bool GoldenTensors::reads_inputs(std::uint32_t layer) const {
  return std::all_of(operand_tensors().begin(), operand_tensors().end(), [&](Tensor t) {
    const std::int32_t from = compiled_.layout.place(layer, t);
    return from == compiler::Layout::kNone || compiled_.layout.tensors[static_cast<std::size_t>(from)].input;
  });
}

} // namespace gradweave::runtime
