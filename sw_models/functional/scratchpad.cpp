#include "sw_models/functional/scratchpad.hpp"

#include "sw_models/numerics/numerics.hpp"

namespace gradweave {

/// Calls f(index of the row's word, j) for each column j; the word of an fp32 element is its low half.
template <typename F>
void Scratchpad::walk_row(const isa::SpmTile &t, std::uint32_t i, std::uint32_t cols, bool fp32, F f) const {
  const std::uint32_t first_lane = (t.rot + i) % lanes_; // LANES columns later the lane is the same
  const std::size_t first_row = std::size_t{t.row} + std::size_t{i} * (fp32 ? 2 : 1);
  std::uint32_t lane = first_lane;
  std::uint32_t in_panel = 0;
  std::size_t row_start = first_row * lanes_;
  for (std::uint32_t j = 0; j < cols; ++j) {
    f(row_start + lane, j);
    if (++lane == lanes_) lane = 0;
    if (++in_panel == lanes_) {
      in_panel = 0;
      row_start += std::size_t{t.pstride} * lanes_;
    }
  }
}

void Scratchpad::read_row(const isa::SpmTile &t, std::uint32_t i, std::uint32_t cols, std::uint16_t *out) const {
  walk_row(t, i, cols, false, [&](std::size_t w, std::uint32_t j) { out[j] = words_[w]; });
}

void Scratchpad::read_row(const isa::SpmTile &t, std::uint32_t i, std::uint32_t cols, std::uint32_t *out) const {
  walk_row(t, i, cols, true,
           [&](std::size_t w, std::uint32_t j) { out[j] = words_[w] | std::uint32_t{words_[w + lanes_]} << 16U; });
}

void Scratchpad::write_row(const isa::SpmTile &t, std::uint32_t i, std::uint32_t cols, const std::uint16_t *in) {
  walk_row(t, i, cols, false, [&](std::size_t w, std::uint32_t j) { words_[w] = in[j]; });
}

void Scratchpad::write_row(const isa::SpmTile &t, std::uint32_t i, std::uint32_t cols, const std::uint32_t *in) {
  walk_row(t, i, cols, true, [&](std::size_t w, std::uint32_t j) {
    words_[w] = static_cast<std::uint16_t>(in[j]);
    words_[w + lanes_] = static_cast<std::uint16_t>(in[j] >> 16U);
  });
}

/// Calls f(index of the element's word, place in the line) for each element; the word is that of the low half.
template <typename F>
void Scratchpad::walk_line(const isa::VectorTile &t, std::uint32_t step, std::uint32_t first, std::uint32_t count,
                           F f) const {
  const std::uint32_t line = t.same_step ? 0 : step;
  for (std::uint32_t k = 0; k < count; ++k) {
    const std::uint32_t element = t.same_element ? 0 : first + k;
    const std::uint32_t i = t.by_col ? element : line, j = t.col + (t.by_col ? line : element);
    const std::size_t row = std::size_t{t.spm.row} + std::size_t{j / lanes_} * t.spm.pstride + i * (t.fp32 ? 2U : 1U);
    f(row * lanes_ + (t.spm.rot + i + j) % lanes_, k);
  }
}

void Scratchpad::read_line(const isa::VectorTile &t, std::uint32_t step, std::uint32_t first, std::uint32_t count,
                           std::uint32_t *out) const {
  walk_line(t, step, first, count, [&](std::size_t w, std::uint32_t k) {
    const std::uint32_t low = words_[w];
    out[k] = t.fp32 ? low | std::uint32_t{words_[w + lanes_]} << 16U : low << 16U;
  });
}

void Scratchpad::write_line(const isa::VectorTile &t, std::uint32_t step, std::uint32_t first, std::uint32_t count,
                            const std::uint32_t *in) {
  walk_line(t, step, first, count, [&](std::size_t w, std::uint32_t k) {
    if (!t.fp32) {
      words_[w] = bf16_from_fp32(fp32_from_bits(in[k]));
      return;
    }
    words_[w] = static_cast<std::uint16_t>(in[k]);
    words_[w + lanes_] = static_cast<std::uint16_t>(in[k] >> 16U);
  });
}

} // namespace gradweave
