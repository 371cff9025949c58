// The AXI4 bursts of a 2-D tile, in the order of rtl/burst_gen.sv.
#pragma once

#include "isa/command.hpp"

#include <algorithm>
#include <cstdint>

namespace gradweave::timing {

/// Row r covers the bytes [addr + r * pitch, + row_bytes). A burst never leaves its row, a 4 KB page or 256 beats.
class BurstWalker {
public:
  /// `beat_shift`: log2 of the bytes of a beat.
  void start(const isa::DmaCommand &d, unsigned beat_shift) {
    shift_ = beat_shift;
    row_addr_ = addr_ = d.dram_addr;
    pitch_ = d.pitch;
    row_bytes_ = left_ = d.cols * (d.fp32 ? 4U : 2U);
    rows_ = d.rows;
    max_bytes_ = std::min(kPageBytes, 256U << shift_);
  }

  bool active() const { return rows_ != 0; }
  /// Beats of the current burst.
  std::uint32_t beats() const { return (offset() + bytes() + (1U << shift_) - 1) >> shift_; }
  /// Element bytes of the current burst, and of what lies before them in its first beat.
  std::uint32_t bytes() const { return std::min(left_, room()); }
  std::uint32_t offset() const { return static_cast<std::uint32_t>(addr_) & ((1U << shift_) - 1); }
  /// Whether it is the tile's last.
  bool last() const { return rows_ == 1 && left_ <= room(); }

  void next() {
    const std::uint32_t taken = room();
    if (left_ > taken) {
      addr_ += taken;
      left_ -= taken;
    } else {
      row_addr_ += pitch_;
      addr_ = row_addr_;
      left_ = row_bytes_;
      --rows_;
    }
  }

private:
  static constexpr std::uint32_t kPageBytes = 4096;

  std::uint32_t room() const {
    const std::uint32_t page = kPageBytes - (static_cast<std::uint32_t>(addr_) & (kPageBytes - 1));
    return std::min(page, max_bytes_ - offset());
  }

  std::uint64_t row_addr_ = 0, addr_ = 0;
  std::uint32_t pitch_ = 0, row_bytes_ = 0, left_ = 0, rows_ = 0, max_bytes_ = 0;
  unsigned shift_ = 0;
};

} // namespace gradweave::timing
