// The AXI4 bursts of a 2-D tile, in the order of rtl/dma/gw_burst_gen.sv.
#pragma once

#include "isa/command.hpp"
#include "sw_models/memory/dram_channel.hpp"

#include <algorithm>
#include <cstdint>

namespace gradweave::timing {

/// What the bus and the DRAM (dram_channel.hpp) know of a burst.
struct BurstSize {
  std::uint16_t beats = 0;
  std::uint16_t accesses = 0;
  std::uint16_t first_accesses = 0; ///< that the first beat needs
  bool operator==(const BurstSize &o) const {
    return beats == o.beats && accesses == o.accesses && first_accesses == o.first_accesses;
  }
};

/// Sizes of a beat and of an access of the DRAM, as log2 of the bytes.
struct Granules {
  Granules() = default;
  Granules(unsigned beat, unsigned access) : beat_shift(beat), access_shift(access) {}

  unsigned beat_shift = 0, access_shift = 0;

  /// Of a burst of `bytes` bytes, the first of which is byte `offset` of the first beat.
  BurstSize size_of(std::uint32_t offset, std::uint32_t bytes) const {
    const auto beats = static_cast<std::uint16_t>((offset + bytes + (1U << beat_shift) - 1) >> beat_shift);
    return access_shift == beat_shift ? BurstSize{beats, beats, 1} : in_accesses(offset, bytes, beats);
  }

private:
  BurstSize in_accesses(std::uint32_t offset, std::uint32_t bytes, std::uint16_t beats) const;
};

/// Row r covers the bytes [addr + r * pitch, + row_bytes). A burst never leaves its row, a 4 KB page or 256 beats.
class BurstWalker {
public:
  struct Extent {
    std::uint32_t bytes;  ///< of elements
    std::uint32_t offset; ///< of the first element in the first beat
  };

  void start(const isa::DmaCommand &d, const Granules &granules);

  /// Bursts are left.
  bool active() const { return rows_ != 0; }

  /// The next burst is the tile's last.
  bool at_last() const { return rows_ == 1 && left_ <= room(); }
  Extent extent() const { return {std::min(left_, room()), offset_of(addr_)}; }

  /// Rows from here on that are a burst each, all of the size row(), before the last two rows.
  std::uint32_t rows_alike() {
    if (!alike_ || rows_ <= 2 || left_ != row_bytes_) return 0;
    if (whole_ == 0) whole_ = never_cut_ ? rows_ : count_whole();
    return std::min(whole_, rows_ - 2);
  }
  const BurstSize &row() const { return row_; }
  /// So many of them are taken.
  void skip_rows(std::uint32_t rows) {
    rows_ -= rows;
    whole_ -= rows;
    row_addr_ += std::uint64_t{rows} * pitch_;
    addr_ = row_addr_;
  }
  /// Bursts that are left, at least.
  std::uint32_t rows() const { return rows_; }

  /// Goes on to the next burst; returns the size of the one it leaves.
  [[gnu::always_inline]] BurstSize take() {
    // Most rows are a burst, all of one shape: the rest is for those that a page border cuts.
    if (alike_ && left_ == row_bytes_ && left_ <= page_room()) {
      next_row();
      return row_;
    }
    return take_part();
  }

private:
  static constexpr std::uint32_t kPageBytes = DramChannel::kMaxBurstBytes;

  std::uint32_t page_room() const { return kPageBytes - (static_cast<std::uint32_t>(addr_) & (kPageBytes - 1)); }
  /// Bytes from addr_ on that a burst can cover.
  std::uint32_t room() const { return std::min(page_room(), most_bytes() - offset_of(addr_)); }
  std::uint32_t most_bytes() const { return DramChannel::kMaxBeats << granules_.beat_shift; }
  BurstSize take_part() {
    const Extent e = extent();
    if (left_ > e.bytes) {
      addr_ += e.bytes;
      left_ -= e.bytes;
    } else {
      next_row();
    }
    return granules_.size_of(e.offset, e.bytes);
  }
  void next_row() {
    row_addr_ += pitch_;
    addr_ = row_addr_;
    left_ = row_bytes_;
    --rows_;
    whole_ -= whole_ > 0 ? 1 : 0;
  }
  /// Rows from here on that no page border cuts.
  std::uint32_t count_whole() const;
  std::uint32_t offset_of(std::uint64_t addr) const {
    return static_cast<std::uint32_t>(addr) & ((1U << granules_.beat_shift) - 1);
  }

  std::uint64_t row_addr_ = 0, addr_ = 0;
  std::uint32_t pitch_ = 0, row_bytes_ = 0, left_ = 0, rows_ = 0;
  bool alike_ = false;      ///< all rows
  bool never_cut_ = false;  ///< no page border cuts a row
  std::uint32_t whole_ = 0; ///< rows from here on that are known to be cut by none
  BurstSize row_;           ///< of each, if they are alike and no page border cuts it
  Granules granules_;
};

} // namespace gradweave::timing
