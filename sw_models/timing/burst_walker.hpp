// The AXI4 bursts of a 2-D tile, in the order of rtl/burst_gen.sv.
#pragma once

#include "isa/command.hpp"

#include <algorithm>
#include <cstdint>

namespace gradweave::timing {

/// Row r covers the bytes [addr + r * pitch, + row_bytes). A burst never leaves its row, a 4 KB page or 256 beats.
class BurstWalker {
public:
  struct Extent {
    std::uint32_t bytes;  ///< of elements
    std::uint32_t offset; ///< of the first element in the first beat
  };

  /// `beat_shift`: log2 of the bytes of a beat.
  void start(const isa::DmaCommand &d, unsigned beat_shift) {
    shift_ = beat_shift;
    row_addr_ = addr_ = d.dram_addr;
    pitch_ = d.pitch;
    row_bytes_ = left_ = d.cols * (d.fp32 ? 4U : 2U);
    rows_ = d.rows;
    row_offset_ = offset_of(addr_);
    row_beats_ = beats_of(row_offset_, row_bytes_);
    alike_ = offset_of(pitch_) == 0 && row_beats_ <= kMaxBeats;
  }

  /// Bursts are left.
  bool active() const { return rows_ != 0; }

  /// The next burst is the tile's last.
  bool at_last() const { return rows_ == 1 && left_ <= room(); }
  Extent extent() const { return {std::min(left_, room()), offset_of(addr_)}; }

  /// Goes on to the next burst; returns the beats of the one it leaves.
  std::uint32_t take() {
    // Most rows are a burst, all of one shape: the rest is for those that a page border cuts.
    if (alike_ && left_ == row_bytes_ && left_ <= page_room()) {
      next_row();
      return row_beats_;
    }
    return take_part();
  }

private:
  static constexpr std::uint32_t kPageBytes = 4096, kMaxBeats = 256;

  std::uint32_t page_room() const { return kPageBytes - (static_cast<std::uint32_t>(addr_) & (kPageBytes - 1)); }
  /// Bytes from addr_ on that a burst can cover.
  std::uint32_t room() const { return std::min(page_room(), (kMaxBeats << shift_) - offset_of(addr_)); }
  std::uint32_t take_part() {
    const Extent e = extent();
    if (left_ > e.bytes) {
      addr_ += e.bytes;
      left_ -= e.bytes;
    } else {
      next_row();
    }
    return beats_of(e.offset, e.bytes);
  }
  void next_row() {
    row_addr_ += pitch_;
    addr_ = row_addr_;
    left_ = row_bytes_;
    --rows_;
  }
  std::uint32_t offset_of(std::uint64_t addr) const { return static_cast<std::uint32_t>(addr) & ((1U << shift_) - 1); }
  std::uint32_t beats_of(std::uint32_t offset, std::uint32_t bytes) const {
    return (offset + bytes + (1U << shift_) - 1) >> shift_;
  }

  std::uint64_t row_addr_ = 0, addr_ = 0;
  std::uint32_t pitch_ = 0, row_bytes_ = 0, left_ = 0, rows_ = 0;
  std::uint32_t row_offset_ = 0, row_beats_ = 0; ///< of the first row
  bool alike_ = false;                           ///< of all rows
  unsigned shift_ = 0;
};

} // namespace gradweave::timing
