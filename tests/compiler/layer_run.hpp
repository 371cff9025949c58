// Runs compiled layers on the functional model and compares with the golden products, bit for bit.
#pragma once

#include "compiler/compiler.hpp"
#include "sw_models/functional/functional.hpp"
#include "sw_models/numerics/golden.hpp"
#include "sw_models/numerics/numerics.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <vector>

namespace gradweave::compiler {

inline Machine load_config(const std::string &name) { return load_machine("configs/" + name + ".toml"); }

inline Layer make_layer(std::uint32_t m, std::uint32_t k, std::uint32_t n, bool dx = true) {
  Layer layer;
  layer.name = fmt::format("{}x{}x{}", m, k, n);
  layer.m = m;
  layer.k = k;
  layer.n = n;
  layer.dx = dx;
  return layer;
}

/// compile() of one layer, with all that the test's process has compiled before known.
inline Compiled compile_known(const Layer &layer, const Machine &npu, const CompileOptions &options) {
  static CompileCache cache;
  return compile({layer}, npu, options, cache);
}

/// Dense row-major bf16 operands of a layer.
struct LayerOperands {
  std::vector<std::uint16_t> x, w, dy;
};

/// special: any bit pattern, so that NaN, infinities and subnormals are frequent.
inline LayerOperands make_operands(const Layer &l, std::uint64_t seed, bool special) {
  std::mt19937_64 rng(seed);
  const auto fill = [&](std::size_t count) {
    std::vector<std::uint16_t> values(count);
    for (std::uint16_t &v : values) {
      v = static_cast<std::uint16_t>(rng());
      if (!special) v = static_cast<std::uint16_t>((v & 0x80FFU) | ((120U + (v >> 8U & 7U)) << 7U));
    }
    return values;
  };
  const std::size_t m = l.m, k = l.k * std::size_t{l.groups}, n = l.n;
  return {fill(m * k), fill(k * n), fill(m * n * l.groups)};
}

using Bits = std::vector<std::uint8_t>;

template <typename T> Bits bits_of(const std::vector<T> &values) {
  Bits bits(values.size() * sizeof(T));
  std::memcpy(bits.data(), values.data(), bits.size());
  return bits;
}

/// C = A B of one group under a reduction plan, by the contract's own words: each part from +0, then added ascending.
inline std::vector<float> golden_product(golden::MatrixView a, golden::MatrixView b, std::size_t m, std::size_t n,
                                         std::size_t k, const std::vector<std::uint32_t> &cuts) {
  std::vector<float> sum;
  for (std::size_t part = 0; part <= cuts.size(); ++part) {
    const std::size_t first = part == 0 ? 0 : cuts[part - 1], end = part == cuts.size() ? k : cuts[part];
    std::vector<float> terms(m * n, 0.0F);
    golden::accumulate({a.data + first * a.col_stride, a.row_stride, a.col_stride},
                       {b.data + first * b.row_stride, b.row_stride, b.col_stride}, m, n, end - first, terms.data());
    for (std::size_t i = 0; i < sum.size(); ++i)
      terms[i] = add_fp32(sum[i], terms[i]);
    sum = std::move(terms);
  }
  return sum;
}

/// Results of the pass by tensor, dense, under the layer's reduction plans.
inline std::map<Tensor, Bits> golden_results(const Layer &l, Pass pass, const LayerOperands &o,
                                             const ReductionPlans &plans = {}) {
  const std::size_t m = l.m, k = l.k, n = l.n, all_k = k * l.groups, all_n = n * l.groups;
  std::vector<float> y(m * all_n), dx(m * all_k), dw(all_k * n);
  for (std::size_t g = 0; g < l.groups; ++g) {
    const golden::MatrixView x{o.x.data() + g * k, all_k, 1}, w{o.w.data() + g * k * n, n, 1},
        dy{o.dy.data() + g * n, all_n, 1};
    const std::vector<float> forward = golden_product(x, w, m, n, k, plans.of(Tensor::kY));
    const std::vector<float> input = golden_product(dy, w.transposed(), m, k, n, plans.of(Tensor::kDX));
    const std::vector<float> weight = golden_product(x.transposed(), dy, k, n, m, plans.of(Tensor::kDW));
    for (std::size_t i = 0; i < m; ++i) {
      for (std::size_t j = 0; j < n; ++j)
        y[i * all_n + g * n + j] = forward[i * n + j];
      for (std::size_t j = 0; j < k; ++j)
        dx[i * all_k + g * k + j] = input[i * k + j];
    }
    std::copy(weight.begin(), weight.end(), dw.begin() + static_cast<std::ptrdiff_t>(g * k * n));
  }
  const auto leaves = [](const std::vector<float> &sums, bool fp32) {
    std::vector<std::uint16_t> rounded(sums.size());
    std::transform(sums.begin(), sums.end(), rounded.begin(), bf16_from_fp32);
    return fp32 ? bits_of(sums) : bits_of(rounded);
  };
  std::map<Tensor, Bits> results;
  if (pass != Pass::kBackward) results[Tensor::kY] = leaves(y, l.y_fp32);
  if (pass == Pass::kForward) return results;
  if (l.dx) results[Tensor::kDX] = leaves(dx, l.dx_fp32);
  results[Tensor::kDW] = bits_of(dw);
  return results;
}

/// Executes the stream at a base address that is not zero; the memory around the tensors is filled with a pattern.
inline std::map<Tensor, Bits> functional_results(const Compiled &c, Machine npu, const LayerOperands &o) {
  const std::uint64_t base = 8192;
  const std::uint64_t stream_at = (base + c.dram_bytes + 4095) / 4096 * 4096;
  npu.memory.size_bytes = stream_at + c.stream.size() * isa::kCommandBytes;
  DeviceMemory memory(npu.memory.size_bytes);
  std::memset(memory.data(), 0xA5, stream_at);
  for (const TensorBinding &b : c.layout.tensors) {
    if (!b.input) continue;
    const std::vector<std::uint16_t> &values = b.tensor == Tensor::kX ? o.x : b.tensor == Tensor::kW ? o.w : o.dy;
    for (std::uint32_t r = 0; r < b.rows; ++r)
      memory.write(base + b.offset + std::uint64_t{r} * b.pitch, values.data() + std::size_t{r} * b.cols,
                   b.cols * 2ULL);
  }
  const auto stream = relocate(c.stream, base);
  for (std::size_t i = 0; i < stream.size(); ++i)
    memory.write(stream_at + i * isa::kCommandBytes, stream[i].words.data(), isa::kCommandBytes);

  FunctionalNpu model(npu, memory);
  model.start(stream_at, static_cast<std::uint32_t>(stream.size()));
  const auto &status = model.run();
  EXPECT_TRUE(status.done) << "error " << static_cast<int>(status.error) << " at command " << status.error_index;
  std::map<Tensor, Bits> results;
  for (const TensorBinding &b : c.layout.tensors) {
    if (b.input) continue;
    const std::size_t row_bytes = std::size_t{b.cols} * (b.fp32 ? 4 : 2);
    Bits &bits = results[b.tensor];
    bits.resize(row_bytes * b.rows);
    for (std::uint32_t r = 0; r < b.rows; ++r)
      memory.read(base + b.offset + std::uint64_t{r} * b.pitch, bits.data() + r * row_bytes, row_bytes);
  }
  return results;
}

} // namespace gradweave::compiler
