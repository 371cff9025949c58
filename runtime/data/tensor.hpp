// A tensor in host memory, as raw bits.
#pragma once

#include "compiler/compiler.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave::runtime {

/// Row-major and dense; bf16 or fp32 bit patterns.
struct HostTensor {
  compiler::Tensor tensor{};
  bool fp32 = false;
  std::uint32_t rows = 0, cols = 0;
  std::vector<std::uint16_t> half; ///< the elements if bf16
  std::vector<std::uint32_t> full; ///< the elements if fp32

  HostTensor() = default;
  HostTensor(compiler::Tensor t, bool is_fp32, std::uint32_t r, std::uint32_t c)
      : tensor(t), fp32(is_fp32), rows(r), cols(c) {
    if (fp32)
      full.resize(size());
    else
      half.resize(size());
  }

  std::size_t size() const { return std::size_t{rows} * cols; }
  std::uint32_t element_bytes() const { return fp32 ? 4 : 2; }
  std::uint32_t bits(std::size_t i) const { return fp32 ? full[i] : half[i]; }
  void *data() { return fp32 ? static_cast<void *>(full.data()) : half.data(); }
  const void *data() const { return fp32 ? static_cast<const void *>(full.data()) : half.data(); }
};

} // namespace gradweave::runtime
