// All tensors of compiled layers as they must be: inputs seeded, all else golden.
#pragma once

#include "compiler/ir/compiled.hpp"
#include "runtime/data/data.hpp"
#include "runtime/data/golden_layer.hpp"

#include <optional>
#include <string>
#include <vector>

namespace gradweave::runtime {

/// Tensors are made when they are first asked for, and what they are computed from before them.
class GoldenTensors {
public:
  /// `compiled` must outlive the object. The data is that of make_input() for (`network`, layer, tensor, `kind`,
  /// `seed`).
  GoldenTensors(const compiler::Compiled &compiled, std::string network, DataKind kind, std::uint64_t seed);

  /// Of a binding of the layout; the reference stays valid.
  const HostTensor &operator[](std::size_t binding);
  /// What a result of a layer is the product of; refers to tensors of this object.
  Operands operands_of(std::uint32_t layer, compiler::Tensor result);
  /// Whether these are inputs, and no other layer's results.
  bool reads_inputs(std::uint32_t layer, compiler::Tensor result) const;

private:
  const compiler::Compiled &compiled_;
  std::string network_;
  DataKind kind_;
  std::uint64_t seed_;
  std::vector<std::optional<HostTensor>> tensors_; ///< by binding
};

} // namespace gradweave::runtime
