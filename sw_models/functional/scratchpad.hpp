// The scratchpad's contents and its skewed panel layout (docs/microarchitecture.md).
#pragma once

#include "isa/command.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gradweave {

/// SPM_ROWS rows of LANES 16-bit elements, zero at start. Tiles must lie inside (isa::check_command() has checked).
class Scratchpad {
public:
  Scratchpad(std::uint32_t rows, std::uint32_t lanes) : rows_(rows), lanes_(lanes), words_(std::size_t{rows} * lanes) {}

  std::uint32_t rows() const { return rows_; }
  std::uint32_t lanes() const { return lanes_; }

  /// The 16 bits in a lane of a row.
  std::uint16_t &at(std::uint32_t row, std::uint32_t lane) { return words_[std::size_t{row} * lanes_ + lane]; }
  std::uint16_t at(std::uint32_t row, std::uint32_t lane) const { return words_[std::size_t{row} * lanes_ + lane]; }

  /// Row `i` of a tile, columns 0 to cols - 1, as bf16 or as fp32 bits.
  void read_row(const isa::SpmTile &t, std::uint32_t i, std::uint32_t cols, std::uint16_t *out) const;
  void read_row(const isa::SpmTile &t, std::uint32_t i, std::uint32_t cols, std::uint32_t *out) const;
  void write_row(const isa::SpmTile &t, std::uint32_t i, std::uint32_t cols, const std::uint16_t *in);
  void write_row(const isa::SpmTile &t, std::uint32_t i, std::uint32_t cols, const std::uint32_t *in);

  /// Line `step` of a tile of the vector unit, elements first to first + count - 1, as fp32 bits: bf16 ones are widened
  /// when they are read, and rounded (N8) when they are written.
  void read_line(const isa::VectorTile &t, std::uint32_t step, std::uint32_t first, std::uint32_t count,
                 std::uint32_t *out) const;
  void write_line(const isa::VectorTile &t, std::uint32_t step, std::uint32_t first, std::uint32_t count,
                  const std::uint32_t *in);

private:
  template <typename F> void walk_row(const isa::SpmTile &t, std::uint32_t i, std::uint32_t cols, bool fp32, F f) const;

  template <typename F>
  void walk_line(const isa::VectorTile &t, std::uint32_t step, std::uint32_t first, std::uint32_t count, F f) const;

  std::uint32_t rows_, lanes_;
  std::vector<std::uint16_t> words_;
};

} // namespace gradweave
