// Steps of convolutions that are not left to matrix products.
#pragma once

#include "sw_models/numerics/numerics.hpp"

#include <cstddef>

namespace gradweave::graph {

inline float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fused(double a, double b, double c) { return a * b + c; }

inline void make_canonical(float *values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    values[i] = canonical(values[i]);
}
inline void make_canonical(double * /*values*/, std::size_t /*count*/) {}

} // namespace gradweave::graph
