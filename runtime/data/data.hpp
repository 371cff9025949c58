// Seeded tensor contents. The same (seed, network, layer, tensor, shape) gives the same bits on every machine and
// compiler, whatever other layers a run has.
#pragma once

#include "runtime/data/tensor.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace gradweave::runtime {

enum class DataKind {
  kNormal, ///< bell-shaped around 0; W scaled by about 1/sqrt(K); all sums stay finite
  kSpecial ///< also zeros of both signs, subnormals, cancellation, overflow, infinities, NaN; most results finite
};
/// Throws std::invalid_argument listing the names that there are.
DataKind parse_data_kind(std::string_view name);
std::string_view to_string(DataKind kind);
/// "normal, special": what parse_data_kind() accepts.
std::string data_kind_names();

/// Input tensor of a layer, of G groups: X (m x G k), W (G k x n) or dY (m x G n); bf16. A convolution's X is
/// make_image(), which may be packed, or im2col of it if the layer does not read images. Layers that share their
/// weights have the same W.
HostTensor make_input(compiler::Tensor tensor, const compiler::Layer &layer, const std::string &network, DataKind kind,
                      std::uint64_t seed);

/// The image that a convolution reads: a row for each pixel of each image, a column for each channel; bf16. Throws
/// std::invalid_argument if the layer is none.
HostTensor make_image(const compiler::Layer &layer, const std::string &network, DataKind kind, std::uint64_t seed);

/// 64-bit FNV-1a of the element bits in row-major order, shape included; equal tensors have equal hashes.
std::uint64_t hash_tensor(const HostTensor &tensor);

} // namespace gradweave::runtime
