#include "sw_models/timing/engines/operand_banks.hpp"

#include "sw_models/timing/engines/latencies.hpp"

#include <algorithm>

namespace gradweave::timing {

BankRange OperandBanks::range(const isa::SpmTile &tile, std::uint32_t rows, std::uint32_t cols, bool fp32) const {
  const std::uint32_t panels = (cols - 1) / lanes_;
  const std::uint32_t last = tile.row + panels * tile.pstride + rows * (fp32 ? 2 : 1) - 1;
  return {tile.row / bank_rows_, last / bank_rows_};
}

GemmBanks OperandBanks::ranges(const isa::GemmCommand &g) const {
  GemmBanks r;
  r.a = g.a_col ? range(g.a, g.m, g.k, false) : range(g.a, g.k, g.m, false);
  r.b = g.b_col ? range(g.b, g.n, g.k, false) : range(g.b, g.k, g.n, false);
  if (g.acc) r.c = range(g.cin, g.m, g.n, true);
  return r;
}

GemmBanks OperandBanks::ranges(const isa::ConvCommand &v) const {
  const isa::GemmCommand &g = v.product;
  GemmBanks r;
  const isa::RowSpan span = isa::tap_span(v.image);
  const std::uint32_t rows = v.weights ? g.k : g.m, panels = ((v.weights ? g.m : g.k) - 1) / lanes_;
  const std::int64_t last = g.a.row + span.hi + std::int64_t{panels} * g.a.pstride + rows - 1;
  r.a = {static_cast<std::uint32_t>(g.a.row + span.lo) / bank_rows_, static_cast<std::uint32_t>(last) / bank_rows_};
  r.b = range(g.b, v.b_rows(), g.b_col ? g.k : g.n, false);
  if (g.acc) r.c = range(g.cin, g.m, g.n, true);
  return r;
}

void OperandBanks::Line::look() {
  const bool crosses = !col && count > lanes - jj;
  const std::uint32_t last = col ? addr + count - 1 : crosses ? addr + pstride : addr;
  banks = {addr / bank_rows, last / bank_rows, col};
  same = col ? lanes - jj : std::min(bank_rows - addr % bank_rows, crosses ? bank_rows - last % bank_rows : bank_rows);
}

void OperandBanks::Line::advance(std::uint32_t lines) {
  if (!col) {
    addr += lines;
  } else if ((jj += lines) == lanes) {
    jj = 0;
    addr += pstride;
  }
  same -= lines;
  if (same == 0) look();
}

OperandBanks::Line OperandBanks::line_of(const isa::SpmTile &tile, bool walks_columns, std::uint32_t at,
                                         std::uint32_t count, std::int64_t move) const {
  const auto row = static_cast<std::uint32_t>(tile.row + move);
  Line line{walks_columns, row + at, tile.pstride, 0, count, lanes_, bank_rows_};
  if (!walks_columns) {
    line.addr = row + at / lanes_ * tile.pstride;
    line.jj = at % lanes_;
  }
  line.look();
  return line;
}

std::uint32_t OperandBanks::block_rows(const isa::GemmCommand &g, std::uint32_t block_row) const {
  return std::min(rows_, g.m - block_row * rows_);
}

std::uint32_t OperandBanks::block_cols(const isa::GemmCommand &g, std::uint32_t block_col) const {
  return std::min(cols_, g.n - block_col * cols_);
}

OperandBanks::Banks OperandBanks::initial_banks(const InitialReads &reads, std::uint32_t row,
                                                std::uint32_t *same) const {
  const isa::GemmCommand &g = *reads.gemm;
  const std::uint32_t col = reads.block.col * cols_;
  const std::uint32_t addr = g.cin.row + col / lanes_ * g.cin.pstride + 2 * (reads.block.row * rows_ + row);
  const bool crosses = block_cols(g, reads.block.col) > lanes_ - col % lanes_;
  const std::uint32_t last = crosses ? addr + g.cin.pstride : addr;
  *same = std::min(addr % bank_rows_, last % bank_rows_) / 2 + 1;
  return {addr / bank_rows_, last / bank_rows_, false};
}

OperandBanks::Pair OperandBanks::first_of(const isa::GemmCommand &g, const isa::ImageWalk &image, BlockPlace block,
                                          std::uint32_t tap) const {
  const std::int64_t a_move = isa::tap_shift(image, tap / image.taps_x, tap % image.taps_x);
  const std::int64_t b_move = std::int64_t{tap} * image.b_tap;
  return {line_of(g.a, g.a_col, block.row * rows_, block_rows(g, block.row), a_move),
          line_of(g.b, g.b_col, block.col * cols_, block_cols(g, block.col), b_move), tap, g.k};
}

void OperandBanks::advance(Pair &at, const isa::GemmCommand &g, const isa::ImageWalk &image, BlockPlace block,
                           std::uint32_t pairs) const {
  at.left -= pairs;
  if (at.left == 0 && at.tap + 1 < image.taps()) {
    at = first_of(g, image, block, at.tap + 1);
  } else {
    at.a.advance(pairs);
    at.b.advance(pairs);
  }
}

FeedTimes OperandBanks::feed(const isa::GemmCommand &g, const isa::ImageWalk &image, BlockPlace block,
                             std::uint64_t start, const InitialReads &reads, std::uint64_t until,
                             std::uint32_t *read) const {
  Pair at = first_of(g, image, block, 0);
  const Line &a = at.a, &b = at.b;
  constexpr std::uint64_t kNoBorder = ~std::uint64_t{0};
  // Rows beyond a partial block are not read; the pass goes from the last row to the first.
  const std::uint64_t end = reads.gemm ? reads.first + rows_ : 0;
  const std::uint64_t begin = reads.gemm ? end - block_rows(*reads.gemm, reads.block.row) : kNoBorder;

  FeedTimes times{0, start};
  std::uint64_t now = start + latency::kBlockToRead; // cycle in which the pair on offer may be read
  bool a_got = false, b_got = false;
  while (at.left > 0 && now <= until) {
    // Until `border` the banks of the initial values stay, too.
    std::uint64_t border = until == kNoBorder ? until : until + 1;
    bool blocks_a = false, blocks_b = false;
    if (now < begin) {
      border = std::min(border, begin);
    } else if (now < end) {
      std::uint32_t rows = 0;
      const Banks c = initial_banks(reads, static_cast<std::uint32_t>(end - 1 - now), &rows);
      blocks_a = a.banks.collide(c);
      blocks_b = b.banks.collide(c);
      border = std::min({border, end, now + rows});
    }
    std::uint32_t pairs = 0;
    if (a_got || b_got) { // the other half of a pair
      if (a_got ? blocks_b : blocks_a) {
        now = border;
        continue;
      }
      pairs = 1;
      ++now;
    } else if (blocks_a || blocks_b) { // at most half a pair before the border
      a_got = !blocks_a;
      b_got = !blocks_b;
      now = a_got || b_got ? now + 1 : border;
      continue;
    } else {
      const bool collide = a.banks.collide(b.banks);
      const std::uint64_t cycles = collide ? 2 : 1;
      pairs = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(std::min({a.same, b.same, at.left}), (border - now) / cycles));
      if (pairs == 0) { // the border parts A from B
        a_got = true;
        ++now;
        continue;
      }
      if (times.first == 0) times.first = now + cycles - 1;
      now += pairs * cycles;
    }
    if (times.first == 0) times.first = now - 1;
    times.last = now - 1;
    a_got = b_got = false;
    advance(at, g, image, block, pairs);
  }
  if (read) *read = (at.tap + 1) * g.k - at.left;
  return times;
}

} // namespace gradweave::timing
