// What a fresh network's parameters and state hold.
#pragma once

#include "graph/ir/graph.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::graph {

/// The values that the tensor's file has, or else those that `tensor.initial` stands for, as fp32. The latter depend on
/// the seed, the tensor's name and its shape alone: neither on the order in which tensors are declared nor on the
/// machine (whole numbers, and single fp64 operations).
///
///   zeros, ones, constant:V     the same everywhere
///   normal:S                    bell-shaped, standard deviation S, within 6 S
///   uniform:L                   evenly from -L to L
///   xavier, xavier_normal       uniform, or bell-shaped, of variance 2 / (fan_in + fan_out)  (Glorot, Bengio 2010)
///   kaiming, kaiming_uniform    bell-shaped, or uniform, of variance 2 / fan_in              (He et al. 2015)
///   lecun, lecun_uniform        the same of variance 1 / fan_in
///
/// fan_in and fan_out are the terms of a sum of the layer and of its input's gradient: of a matrix its rows and
/// columns; of a convolution [groups, kh, kw, in, out] kh kw in and kh kw out; of a vector its elements. Throws
/// GraphError, naming the tensor, if the text is none of these.
std::vector<float> initial_values(const Tensor &tensor, std::uint64_t seed);

/// What initial_values() takes, for help and errors.
std::string_view initial_forms();

} // namespace gradweave::graph
