// Steps of convolutions that are not left to matrix products.
#pragma once

#include "sw_models/numerics/numerics.hpp"

#include <cstddef>

namespace gradweave::graph {

inline float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fused(double a, double b, double c) { return a * b + c; }

/// A copy of an element of dX leaves as bf16 (N8, N17).
inline float rounded_copy(float value) { return fp32_from_bf16(bf16_from_fp32(value)); }
inline double rounded_copy(double value) { return value; }

inline void make_canonical(float *values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    values[i] = canonical(values[i]);
}
inline void make_canonical(double * /*values*/, std::size_t /*count*/) {}

/// sum[i] += copy[i], or = if this is the first term: a sum that began with +0 would turn a lone -0 into +0.
template <class V> void add_copies(const V *copies, std::size_t count, bool first, V *sums) {
  for (std::size_t i = 0; i < count; ++i)
    sums[i] = first ? copies[i] : sums[i] + copies[i];
}

} // namespace gradweave::graph
