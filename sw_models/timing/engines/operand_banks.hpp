// Macro-bank collisions of the array's three readers, and what they cost a block (rtl/core/gw_operand_feed.sv).
#pragma once

#include "isa/command.hpp"
#include "sw_models/config/npu_config.hpp"

#include <cstdint>

namespace gradweave::timing {

/// One block of a GEMM: its place in the grid of blocks.
struct BlockPlace {
  std::uint32_t row = 0, col = 0; ///< of the block
};

/// A pass that brings initial values in: row ROWS - 1 - j of a block is read in cycle first + j.
struct InitialReads {
  std::uint64_t first = 0;
  const isa::GemmCommand *gemm = nullptr; ///< whose block it is; nullptr: no reads
  BlockPlace block;
};

/// Line pairs of a block: when the first and the last were read.
struct FeedTimes {
  std::uint64_t first = 0, last = 0;
};

/// Macro-banks [lo, hi] that an operand can touch.
struct BankRange {
  std::uint32_t lo = 0, hi = 0;
  bool overlaps(const BankRange &o) const { return lo <= o.hi && o.lo <= hi; }
};

/// What a GEMM touches; ranges that do not overlap cannot collide, which is the usual case and costs nothing.
struct GemmBanks {
  BankRange a, b, c;
};

class OperandBanks {
public:
  explicit OperandBanks(const NpuConfig &npu)
      : rows_(npu.rows), cols_(npu.cols), lanes_(npu.lanes()), bank_rows_(npu.bank_rows()) {}

  GemmBanks ranges(const isa::GemmCommand &gemm) const;
  GemmBanks ranges(const isa::ConvCommand &conv) const;

  /// Reads the line pairs of a block, `image.taps()` times `gemm.k` of them (a GEMM is one tap), that starts in cycle
  /// `start`, one a cycle except where A and B, or one of them and a read of initial values, want the same macro-bank.
  /// Stops after cycle `until`. Returns the cycles of the first and last pair, and the number of pairs read up to
  /// `until` in `*read`, if given.
  FeedTimes feed(const isa::GemmCommand &gemm, const isa::ImageWalk &image, BlockPlace block, std::uint64_t start,
                 const InitialReads &reads, std::uint64_t until = ~std::uint64_t{0},
                 std::uint32_t *read = nullptr) const;

private:
  /// Those of a line's first and last row, of a column also those between.
  struct Banks {
    std::uint32_t lo, hi;
    bool col;
    bool has(std::uint32_t bank) const { return col ? bank >= lo && bank <= hi : bank == lo || bank == hi; }
    bool collide(const Banks &o) const { return has(o.lo) || has(o.hi) || o.has(lo) || o.has(hi); }
  };
  /// Steps through the lines of an operand (rtl/core/gw_line_walker.sv).
  struct Line {
    bool col;
    std::uint32_t addr, pstride, jj, count, lanes, bank_rows;
    Banks banks{0, 0, false}; ///< of the current line
    std::uint32_t same = 0;   ///< lines from this one on that touch the same banks, at least
    void look();
    void advance(std::uint32_t lines);
  };

  /// `move`: rows that the tap moves the tile.
  Line line_of(const isa::SpmTile &tile, bool walks_columns, std::uint32_t at, std::uint32_t count,
               std::int64_t move) const;
  /// Where a block's reads are.
  struct Pair {
    Line a, b;
    std::uint32_t tap = 0, left = 0; ///< pairs of the tap, from this one on
  };
  /// The first pair of a tap of a block.
  Pair first_of(const isa::GemmCommand &g, const isa::ImageWalk &image, BlockPlace block, std::uint32_t tap) const;
  /// So many pairs on, within the tap or to the first of the next.
  void advance(Pair &at, const isa::GemmCommand &g, const isa::ImageWalk &image, BlockPlace block,
               std::uint32_t pairs) const;
  BankRange range(const isa::SpmTile &tile, std::uint32_t rows, std::uint32_t cols, bool fp32) const;
  /// Banks of the initial values' row `row`; in *same the rows from there down to 0 that touch the same banks, at
  /// least.
  Banks initial_banks(const InitialReads &reads, std::uint32_t row, std::uint32_t *same) const;
  std::uint32_t block_rows(const isa::GemmCommand &g, std::uint32_t block_row) const;
  std::uint32_t block_cols(const isa::GemmCommand &g, std::uint32_t block_col) const;

  std::uint32_t rows_, cols_, lanes_, bank_rows_;
};

} // namespace gradweave::timing
