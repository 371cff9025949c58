#include "sw_models/timing/operand_banks.hpp"

#include "sw_models/timing/latencies.hpp"

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

OperandBanks::Banks OperandBanks::Line::banks() const {
  const std::uint32_t last = col ? addr + count - 1 : (count > lanes - jj ? addr + pstride : addr);
  return {addr / bank_rows, last / bank_rows};
}

std::uint32_t OperandBanks::Line::same() const {
  if (col) return lanes - jj;
  const std::uint32_t to_border = bank_rows - addr % bank_rows;
  return count > lanes - jj ? std::min(to_border, bank_rows - (addr + pstride) % bank_rows) : to_border;
}

void OperandBanks::Line::advance(std::uint32_t lines) {
  if (!col) {
    addr += lines;
  } else if ((jj += lines) == lanes) {
    jj = 0;
    addr += pstride;
  }
}

OperandBanks::Line OperandBanks::line_of(const isa::SpmTile &tile, bool walks_columns, std::uint32_t at,
                                         std::uint32_t count) const {
  if (walks_columns) return {true, tile.row + at, tile.pstride, 0, count, lanes_, bank_rows_};
  return {false, tile.row + at / lanes_ * tile.pstride, tile.pstride, at % lanes_, count, lanes_, bank_rows_};
}

std::uint32_t OperandBanks::block_rows(const isa::GemmCommand &g, std::uint32_t block_row) const {
  return std::min(rows_, g.m - block_row * rows_);
}

std::uint32_t OperandBanks::block_cols(const isa::GemmCommand &g, std::uint32_t block_col) const {
  return std::min(cols_, g.n - block_col * cols_);
}

OperandBanks::Banks OperandBanks::initial_banks(const InitialReads &reads, std::uint32_t row) const {
  const isa::GemmCommand &g = *reads.gemm;
  const std::uint32_t col = reads.block.col * cols_;
  const std::uint32_t addr = g.cin.row + col / lanes_ * g.cin.pstride + 2 * (reads.block.row * rows_ + row);
  const bool crosses = block_cols(g, reads.block.col) > lanes_ - col % lanes_;
  return {addr / bank_rows_, (crosses ? addr + g.cin.pstride : addr) / bank_rows_};
}

FeedTimes OperandBanks::feed(const isa::GemmCommand &g, BlockPlace block, std::uint64_t start,
                             const InitialReads &reads, std::uint64_t until, std::uint32_t *read) const {
  Line a = line_of(g.a, g.a_col, block.row * rows_, block_rows(g, block.row));
  Line b = line_of(g.b, g.b_col, block.col * cols_, block_cols(g, block.col));
  const std::uint64_t reads_begin = reads.gemm ? reads.first : ~std::uint64_t{0};
  const std::uint64_t reads_end = reads.gemm ? reads.first + rows_ : 0;

  FeedTimes times{0, start};
  std::uint64_t now = start + latency::kBlockToRead; // cycle in which the pair on offer may be read
  std::uint32_t left = g.k;
  bool a_got = false, b_got = false;
  while (left > 0 && now <= until) {
    const Banks bank_a = a.banks(), bank_b = b.banks();
    const std::uint32_t same = std::min({a.same(), b.same(), left});
    const bool collide = bank_a.collide(bank_b);
    std::uint32_t steps = 0;
    if ((now < reads_begin || now >= reads_end) && !a_got && !b_got) {
      // Without initial values every pair takes the same number of cycles while the banks stay.
      const std::uint64_t cycles = collide ? 2 : 1;
      const std::uint64_t border =
          std::min(now < reads_begin ? reads_begin : ~std::uint64_t{0}, until == ~std::uint64_t{0} ? until : until + 1);
      steps = static_cast<std::uint32_t>(std::min<std::uint64_t>(same, (border - now) / cycles));
      if (steps > 0) {
        if (left == g.k) times.first = now + cycles - 1;
        now += steps * cycles;
        times.last = now - 1;
      }
    }
    if (steps == 0) {
      bool blocks_a = false, blocks_b = false;
      if (now >= reads_begin && now < reads_end) {
        const auto row = static_cast<std::uint32_t>(reads_end - 1 - now);
        if (row < block_rows(*reads.gemm, reads.block.row)) {
          const Banks bank_c = initial_banks(reads, row);
          blocks_a = bank_a.collide(bank_c);
          blocks_b = bank_b.collide(bank_c);
        }
      }
      const bool a_en = !a_got && !blocks_a;
      const bool b_en = !b_got && !blocks_b && !(a_en && collide);
      a_got = a_got || a_en;
      b_got = b_got || b_en;
      if (a_got && b_got) {
        steps = 1;
        a_got = b_got = false;
        if (left == g.k) times.first = now;
        times.last = now;
      }
      ++now;
    }
    left -= steps;
    if (steps > 0) {
      a.advance(steps);
      b.advance(steps);
    }
  }
  if (read) *read = g.k - left;
  return times;
}

} // namespace gradweave::timing
