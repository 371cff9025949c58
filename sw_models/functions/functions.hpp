// The functions of the numeric contract (N19) as ordinary ones: of one value, and of arrays, which are computed in
// vectors. Both give the bits of the sequences in roots.hpp, exponentials.hpp, circular.hpp and rounding.hpp;
// errors, ranges and lengths: docs/functions.md.
#pragma once

#include "sw_models/functions/circular.hpp"
#include "sw_models/functions/exponentials.hpp"
#include "sw_models/functions/fp32.hpp"
#include "sw_models/functions/random.hpp"
#include "sw_models/functions/roots.hpp"
#include "sw_models/functions/rounding.hpp"

#include <cstddef>
#include <cstdint>

namespace gradweave::functions {

float reciprocal(float x);
float rsqrt(float x);
float sqrt(float x);
float exp(float x);
float log(float x);
float tanh(float x);
float erf(float x);
float sigmoid(float x);
float sin(float x);
float cos(float x);
float atan(float x);
float round(float x);
float divide(float a, float b);

/// out[i] = f(in[i]) for i below count; in and out may be the same array, and do not overlap otherwise.
void reciprocal(const float *in, float *out, std::size_t count);
void rsqrt(const float *in, float *out, std::size_t count);
void sqrt(const float *in, float *out, std::size_t count);
void exp(const float *in, float *out, std::size_t count);
void log(const float *in, float *out, std::size_t count);
void tanh(const float *in, float *out, std::size_t count);
void erf(const float *in, float *out, std::size_t count);
void sigmoid(const float *in, float *out, std::size_t count);
void sin(const float *in, float *out, std::size_t count);
void cos(const float *in, float *out, std::size_t count);
void atan(const float *in, float *out, std::size_t count);
void round(const float *in, float *out, std::size_t count);
void divide(const float *a, const float *b, float *out, std::size_t count);

/// out[i] = the random bits of element first + i (N20).
void random_bits(const RandomKey &key, std::uint32_t first, std::uint32_t *out, std::size_t count);

} // namespace gradweave::functions
