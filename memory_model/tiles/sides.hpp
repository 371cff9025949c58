// Sides of tiles that a layer's products may be cut into.
#pragma once

#include "graph/network.hpp"
#include "sw_models/config/machine.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::memory_model {

/// Dimensions of a layer's products, as in Y(M,N) = X(M,K) W(K,N).
enum Dim : std::size_t { kM, kK, kN };
inline constexpr std::size_t kDims = 3;

inline std::uint32_t divide_up(std::uint32_t value, std::uint32_t unit) { return (value + unit - 1) / unit; }

/// A tile's extent along a dimension.
struct Side {
  std::uint32_t terms = 0; ///< indices of the products: of a reduction over taps, channels of so many taps
  std::uint32_t cols = 0;  ///< columns of the tensor that has the dimension as its columns: channels
};
using Sides = std::array<std::vector<Side>, kDims>;

/// The way a layer is cut: what its products compute of it.
enum class Way : std::uint8_t { kForward, kBackward };

/// What a tile may have along each dimension, ascending: whole dimensions, even parts in whole blocks of the array and
/// in whole beats, and parts of a block. Of layers that read images M has whole rows of them, and reductions over taps
/// have whole taps or, of some channels, all.
Sides sides_of(const compiler::Layer &layer, Way way, const NpuConfig &npu);

/// Taps of the kernel of a layer that reads images; of others 1.
std::uint32_t taps_of(const compiler::Layer &layer);

} // namespace gradweave::memory_model
