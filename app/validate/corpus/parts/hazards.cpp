#include "app/validate/corpus/parts/hazards.hpp"

#include <algorithm>

namespace gradweave::corpus {

namespace {

constexpr std::int64_t kGuaranteedBlocks = 3;

} // namespace

HazardTracker::HazardTracker(const NpuConfig &config, std::uint64_t dram_base, std::uint64_t dram_bytes)
    : lanes_(config.lanes()), block_rows_(config.rows), block_cols_(config.cols), dram_base_(dram_base),
      rows_(config.spm_rows()), last_store_(dram_bytes / 2, kNone), last_load_(dram_bytes / 2, kNone),
      cores_(config.cores), units_(config.vectors()) {}

void HazardTracker::need(std::size_t engine, std::int64_t index) { needs_[engine] = std::max(needs_[engine], index); }

template <typename F> void HazardTracker::for_rows(const Extent &e, F f) {
  const std::uint32_t height = e.fp32 ? 2 : 1;
  for (std::uint32_t panel = e.col0 / lanes_; panel <= (e.col0 + e.cols - 1) / lanes_; ++panel) {
    const std::uint32_t first = e.tile.row + panel * e.tile.pstride + e.row0 * height;
    for (std::uint32_t r = first; r < first + e.rows * height; ++r)
      f(rows_.at(r));
  }
}

/// Calls f(part of the tile, block index) for the blocks of a GEMM in the order of the hardware.
template <typename F> void HazardTracker::for_blocks(const isa::GemmCommand &g, const isa::SpmTile &t, bool fp32, F f) {
  std::int64_t block = cores_[g.core].blocks;
  for (std::uint32_t i = 0; i < g.m; i += block_rows_)
    for (std::uint32_t j = 0; j < g.n; j += block_cols_)
      f(Extent{t, i, std::min(block_rows_, g.m - i), j, std::min(block_cols_, g.n - j), fp32}, block++);
}

/// Whether the row was written before anything that the engine starts now, if it wrote it itself.
bool HazardTracker::in_order(const Row &row) const {
  const bool is_core = engine_ >= kComputeEngine && engine_ < kComputeEngine + cores_.size();
  return !is_core || row.writer <= cores_[engine_ - kComputeEngine].last_add;
}

void HazardTracker::read_row(Row &row, bool initial_value, std::int64_t block) {
  const bool guaranteed = initial_value && block - row.block >= kGuaranteedBlocks;
  if (row.writer != kNone && (row.writer_engine != engine_ || !(guaranteed || in_order(row))))
    need(row.writer_engine, row.writer);
  row.readers[engine_] = index_;
}

void HazardTracker::write_row(Row &row, std::int64_t block) {
  for (std::size_t e = 0; e < kMaxEngines; ++e)
    if (e != engine_) need(e, row.readers[e]);
  if (row.writer_engine != engine_) need(row.writer_engine, row.writer);
  row.writer = index_;
  row.writer_engine = engine_;
  row.block = block;
  row.readers = no_needs();
}

void HazardTracker::add_dma(const isa::DmaCommand &d) {
  const std::uint64_t pitch = d.rows == 1 ? 0 : d.pitch;
  const std::uint64_t halfwords = std::uint64_t{d.cols} * (d.fp32 ? 2 : 1);
  for (std::uint32_t i = 0; i < d.rows; ++i) {
    const std::uint64_t first = (d.dram_addr - dram_base_ + i * pitch) / 2;
    for (std::uint64_t h = first; h < first + halfwords; ++h) {
      if (d.store) {
        need(kLoadEngine, last_load_.at(h));
        last_store_.at(h) = index_;
      } else {
        need(kStoreEngine, last_store_.at(h));
        last_load_.at(h) = index_;
      }
    }
  }
  for_rows({d.spm, 0, d.rows, 0, d.cols, d.fp32}, [&](Row &row) {
    if (d.store) {
      read_row(row, false, 0);
    } else {
      write_row(row, kNone);
    }
  });
}

void HazardTracker::add_gemm(const isa::GemmCommand &g) {
  const auto read_operand = [&](const isa::SpmTile &t, std::uint32_t rows, std::uint32_t cols) {
    for_rows({t, 0, rows, 0, cols, false}, [&](Row &row) { read_row(row, false, 0); });
  };
  read_operand(g.a, g.a_col ? g.m : g.k, g.a_col ? g.k : g.m);
  read_operand(g.b, g.b_col ? g.n : g.k, g.b_col ? g.k : g.n);
  add_results(g);
}

/// Of the image all rows count that its lines, moved by any tap, lie in, padding too.
void HazardTracker::add_conv(const isa::ConvCommand &v) {
  const isa::GemmCommand &g = v.product;
  const isa::RowSpan span = isa::tap_span(v.image);
  isa::SpmTile a = g.a;
  a.row = static_cast<std::uint32_t>(a.row + span.lo);
  const auto reach = static_cast<std::uint32_t>(span.hi - span.lo);
  const auto read = [&](Row &row) { read_row(row, false, 0); };
  for_rows({a, 0, reach + (v.weights ? g.k : g.m), 0, v.weights ? g.m : g.k, false}, read);
  for_rows({g.b, 0, v.b_rows(), 0, g.b_col ? g.k : g.n, false}, read);
  add_results(g);
}

void HazardTracker::add_results(const isa::GemmCommand &g) {
  if (g.acc)
    for_blocks(g, g.cin, true, [&](const Extent &e, std::int64_t block) {
      for_rows(e, [&](Row &row) { read_row(row, true, block); });
    });
  std::int64_t last = kNone;
  for_blocks(g, g.cout, !g.out_bf16, [&](const Extent &e, std::int64_t block) {
    for_rows(e, [&](Row &row) { write_row(row, block); });
    last = block + 1;
  });
  cores_[g.core].blocks = last;
}

void HazardTracker::add_add(const isa::AddCommand &a) {
  cores_[a.core].last_add = index_;
  for (const isa::SpmTile *t : {&a.a, &a.cin})
    for_rows({*t, 0, a.m, 0, a.n, true}, [&](Row &row) { read_row(row, false, 0); });
  for_rows({a.cout, 0, a.m, 0, a.n, !a.out_bf16}, [&](Row &row) { write_row(row, kNone); });
}

/// All that is read is read before the first result counts: results over operands are those that the unit may have.
void HazardTracker::add_vector(const isa::VectorCommand &v) {
  const std::vector<vector::TileUse> uses = units_[v.unit].uses(v);
  for (const bool results : {false, true})
    for (const vector::TileUse &use : uses) {
      if (use.is_result() != results) continue;
      for_rows({use.tile.spm, 0, use.rows, 0, use.cols, use.tile.fp32},
               [&](Row &row) { results ? write_row(row, kNone) : read_row(row, false, 0); });
    }
}

Needs HazardTracker::add(const isa::Decoded &command) {
  ++index_;
  engine_ = isa::engine_place(command.engine(), static_cast<std::uint32_t>(cores_.size()));
  needs_ = no_needs();
  if (const auto *d = std::get_if<isa::DmaCommand>(&command.op)) add_dma(*d);
  if (const auto *g = std::get_if<isa::GemmCommand>(&command.op)) add_gemm(*g);
  if (const auto *v = std::get_if<isa::ConvCommand>(&command.op)) add_conv(*v);
  if (const auto *a = std::get_if<isa::AddCommand>(&command.op)) add_add(*a);
  if (const auto *p = std::get_if<isa::ProgramCommand>(&command.op)) units_[p->unit].take(*p);
  if (const auto *t = std::get_if<isa::TileCommand>(&command.op)) units_[t->unit].take(*t);
  if (const auto *r = std::get_if<isa::VectorCommand>(&command.op)) add_vector(*r);
  return needs_;
}

} // namespace gradweave::corpus
