// Each loop is the sequence of the header on one element, and the compiler's vectors of elements; this file is compiled
// with -O3 -march=native like the golden products. Without FMA hardware it is only slower.
#include "sw_models/functions/functions.hpp"

#include "sw_models/numerics/numerics.hpp"

#include <algorithm>

namespace gradweave::functions {

namespace {

constexpr std::size_t kBlock = 64; // elements at a time, in arrays of their own: no pointer can alias another

template <class Sequence> void map(const float *in, float *out, std::size_t count, Sequence sequence) {
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t n = std::min(kBlock, count - begin);
    std::uint32_t values[kBlock] = {};
    std::memcpy(values, in + begin, n * sizeof(float));
    for (std::uint32_t &value : values)
      value = sequence(value);
    std::memcpy(out + begin, values, n * sizeof(float));
  }
}

template <class Sequence> float one(float x, Sequence sequence) { return fp32_from_bits(sequence(bits_of_fp32(x))); }

constexpr auto kReciprocal = [](std::uint32_t x) {
  Fp32 p;
  return reciprocal(p, x);
};
constexpr auto kRsqrt = [](std::uint32_t x) {
  Fp32 p;
  return rsqrt(p, x);
};
constexpr auto kSqrt = [](std::uint32_t x) {
  Fp32 p;
  return sqrt(p, x);
};
constexpr auto kExp = [](std::uint32_t x) {
  Fp32 p;
  return exp(p, x);
};
constexpr auto kLog = [](std::uint32_t x) {
  Fp32 p;
  return log(p, x);
};
constexpr auto kTanh = [](std::uint32_t x) {
  Fp32 p;
  return tanh(p, x);
};
constexpr auto kErf = [](std::uint32_t x) {
  Fp32 p;
  return erf(p, x);
};
constexpr auto kSigmoid = [](std::uint32_t x) {
  Fp32 p;
  return sigmoid(p, x);
};
constexpr auto kSin = [](std::uint32_t x) {
  Fp32 p;
  return sin(p, x);
};
constexpr auto kCos = [](std::uint32_t x) {
  Fp32 p;
  return cos(p, x);
};
constexpr auto kAtan = [](std::uint32_t x) {
  Fp32 p;
  return atan(p, x);
};
constexpr auto kRound = [](std::uint32_t x) {
  Fp32 p;
  return round(p, x);
};

} // namespace

float reciprocal(float x) { return one(x, kReciprocal); }
float rsqrt(float x) { return one(x, kRsqrt); }
float sqrt(float x) { return one(x, kSqrt); }
float exp(float x) { return one(x, kExp); }
float log(float x) { return one(x, kLog); }
float tanh(float x) { return one(x, kTanh); }
float erf(float x) { return one(x, kErf); }
float sigmoid(float x) { return one(x, kSigmoid); }
float sin(float x) { return one(x, kSin); }
float cos(float x) { return one(x, kCos); }
float atan(float x) { return one(x, kAtan); }
float round(float x) { return one(x, kRound); }

float divide(float a, float b) {
  Fp32 p;
  return fp32_from_bits(divide(p, bits_of_fp32(a), bits_of_fp32(b)));
}

void reciprocal(const float *in, float *out, std::size_t count) { map(in, out, count, kReciprocal); }
void rsqrt(const float *in, float *out, std::size_t count) { map(in, out, count, kRsqrt); }
void sqrt(const float *in, float *out, std::size_t count) { map(in, out, count, kSqrt); }
void exp(const float *in, float *out, std::size_t count) { map(in, out, count, kExp); }
void log(const float *in, float *out, std::size_t count) { map(in, out, count, kLog); }
void tanh(const float *in, float *out, std::size_t count) { map(in, out, count, kTanh); }
void erf(const float *in, float *out, std::size_t count) { map(in, out, count, kErf); }
void sigmoid(const float *in, float *out, std::size_t count) { map(in, out, count, kSigmoid); }
void sin(const float *in, float *out, std::size_t count) { map(in, out, count, kSin); }
void cos(const float *in, float *out, std::size_t count) { map(in, out, count, kCos); }
void atan(const float *in, float *out, std::size_t count) { map(in, out, count, kAtan); }
void round(const float *in, float *out, std::size_t count) { map(in, out, count, kRound); }

void divide(const float *a, const float *b, float *out, std::size_t count) {
  Fp32 p;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t n = std::min(kBlock, count - begin);
    std::uint32_t left[kBlock] = {}, right[kBlock] = {};
    std::memcpy(left, a + begin, n * sizeof(float));
    std::memcpy(right, b + begin, n * sizeof(float));
    for (std::size_t i = 0; i < kBlock; ++i)
      left[i] = divide(p, left[i], right[i]);
    std::memcpy(out + begin, left, n * sizeof(float));
  }
}

void random_bits(const RandomKey &key, std::uint32_t first, std::uint32_t *out, std::size_t count) {
  Fp32 p;
  for (std::size_t i = 0; i < count; ++i)
    out[i] = random_bits(p, key, first + static_cast<std::uint32_t>(i));
}

} // namespace gradweave::functions
