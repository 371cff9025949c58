#include "app/validate/corpus/timing_commands.hpp"

#include "app/validate/corpus/parts/images.hpp"
#include "app/validate/corpus/parts/live_tiles.hpp"

#include <algorithm>
#include <array>

namespace gradweave::corpus {

namespace {

constexpr std::uint64_t kPage = 4096;          // bursts end at its multiples
constexpr std::uint32_t kCommandCycles = 3000; // what one command should take at most, roughly
constexpr std::uint64_t kConvSalt =
    0x636f6e76; // what is drawn for convolutions is apart from what the seed decides otherwise

constexpr std::uint32_t bytes_of(bool fp32) { return fp32 ? 4 : 2; }
std::uint8_t core_of(std::size_t engine) { return static_cast<std::uint8_t>(engine - kCompute); }

} // namespace

TimingCommands::TimingCommands(const Machine &config, std::uint64_t dram_bytes, std::uint64_t seed)
    : npu_(config), engines_(config.engines()), dice_(seed), tokens_(engines_, config.semaphores, dice_),
      dram_bytes_(dram_bytes), convs_(Dice(seed ^ kConvSalt).chance(0.4)) {}

void TimingCommands::emit(const decltype(isa::Decoded::op) &op) {
  isa::Decoded d;
  d.op = op;
  d.tag = static_cast<std::uint16_t>(dice_.below(65536));
  if (awaited_) tokens_.wait_for_all(d.sync, *awaited_);
  awaited_.reset();
  tokens_.wait(d.sync, isa::engine_place(d.engine(), npu_.cores), sync_chance_);
  tokens_.post(d.sync, sync_chance_);
  out_.push_back(d);
}

void TimingCommands::sync(std::size_t engine) {
  emit(isa::SyncCommand{isa::engine_at(static_cast<std::uint32_t>(engine), npu_.cores)});
}

std::uint32_t TimingCommands::spm_extent(std::uint32_t rows, std::uint32_t cols, bool fp32,
                                         std::uint32_t pstride) const {
  return (cols - 1) / npu_.lanes() * pstride + rows * height_of(fp32);
}

void TimingCommands::shrink(std::uint32_t &rows, std::uint32_t &cols, bool fp32) const {
  while (spm_extent(rows, cols, fp32, rows * height_of(fp32)) > npu_.spm_rows())
    (rows > cols ? rows : cols) /= 2;
}

isa::SpmTile TimingCommands::place(std::uint32_t rows, std::uint32_t cols, bool fp32,
                                   std::optional<std::uint32_t> bank) {
  isa::SpmTile tile;
  tile.rot = static_cast<isa::Lane>(dice_.below(npu_.lanes()));
  tile.pstride = rows * height_of(fp32);
  if (const std::uint32_t steps = (cols - 1) / npu_.lanes(); steps > 0 && dice_.chance(0.4)) {
    // Panels far apart: a line across two of them leaves out macro-banks between.
    const std::uint32_t room = (npu_.spm_rows() - tile.pstride) / steps - tile.pstride;
    tile.pstride += dice_.between(0, room / height_of(fp32)) * height_of(fp32);
  }
  const std::uint32_t extent = spm_extent(rows, cols, fp32, tile.pstride);
  std::uint32_t first = 0;
  std::uint32_t last = npu_.spm_rows() - extent;
  if (bank && extent <= npu_.bank_rows()) {
    first = *bank * npu_.bank_rows();
    last = first + npu_.bank_rows() - extent;
  }
  tile.row = dice_.between(first, last);
  if (fp32) tile.row = tile.row / 2 * 2;
  return tile;
}

std::uint32_t TimingCommands::most_rows() const {
  return std::clamp(kCommandCycles / (1 + npu_.memory.latency_cycles / npu_.outstanding), 2U, 400U);
}

void TimingCommands::dma(const Transfer &t) {
  isa::DmaCommand d;
  d.store = t.store;
  d.fp32 = dice_.chance(0.4);
  const std::uint64_t element = bytes_of(d.fp32);
  std::uint32_t rows = t.rows;
  std::uint32_t cols = std::clamp(t.cols, 1U, static_cast<std::uint32_t>(kPage / element));
  shrink(rows, cols, d.fp32);
  const std::uint64_t row = cols * element;
  const std::uint64_t gap = dice_.below(t.pitch_room + 1) * element;
  const std::array<std::uint64_t, 5> pitches{row, row + gap, t.pitch_room, t.pitch_room + npu_.bus_bytes, 0};
  std::uint64_t pitch = pitches[dice_.below(pitches.size())];
  pitch = pitch / element * element;
  rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(rows, pitch == 0 ? rows : 1 + (dram_bytes_ - row) / pitch));
  const std::uint64_t room = dram_bytes_ - (row + (rows - 1) * pitch);
  std::uint64_t at = dice_.below(room / element + 1) * element;
  switch (dice_.below(4)) {
  case 0: // the start of a beat
    at = at / npu_.bus_bytes * npu_.bus_bytes;
    break;
  case 1: // the first row ends just behind a page
    at = std::min(room, at / kPage * kPage + kPage - dice_.between(1, cols) * element) / element * element;
    break;
  default:
    break;
  }
  d.rows = rows;
  d.cols = cols;
  d.pitch = static_cast<std::uint32_t>(pitch);
  d.dram_addr = at;
  d.spm = place(rows, cols, d.fp32);
  emit(d);
}

void TimingCommands::gemm(std::size_t engine, const Product &p) {
  auto [m, n, k, bank] = p;
  if (convs_ && npu_.spm_rows() >= 8 && dice_.chance(0.5)) return convolution(engine, p);
  isa::GemmCommand g;
  g.core = core_of(engine);
  g.a_col = dice_.chance(0.5);
  g.b_col = dice_.chance(0.5);
  g.acc = dice_.chance(0.5);
  g.out_bf16 = dice_.chance(0.3);
  // Both walks and the fp32 result of the shape must fit.
  shrink(m, k, false);
  shrink(k, m, false);
  shrink(n, k, false);
  shrink(k, n, false);
  shrink(m, n, true);
  g.m = m;
  g.n = n;
  g.k = k;
  g.a = place(g.a_col ? m : k, g.a_col ? k : m, false, bank);
  g.b = place(g.b_col ? n : k, g.b_col ? k : n, false, bank);
  if (g.acc) g.cin = place(m, n, true, bank);
  g.cout = g.acc && !g.out_bf16 && dice_.chance(0.5) ? g.cin : place(m, n, !g.out_bf16, bank);
  emit(g);
}

void TimingCommands::convolution(std::size_t engine, const Product &p) {
  auto [m, n, k, bank] = p;
  isa::ConvCommand v;
  v.weights = dice_.chance(0.35);
  const std::uint32_t most = std::clamp(npu_.spm_rows() / 4, 1U, 400U);
  shrink(m, n, true);
  k = std::min({k, v.weights ? most : npu_.lanes(), most});
  m = std::min(m, v.weights ? 2 * npu_.lanes() : most);
  n = std::min(n, most);
  v.image = draw_image(v.weights, most, dice_).value_or(isa::ImageWalk{});
  isa::GemmCommand &g = v.product;
  g.core = core_of(engine);
  g.a_col = !v.weights;
  g.b_col = dice_.chance(0.5);
  g.acc = dice_.chance(0.5);
  g.out_bf16 = dice_.chance(0.3);
  if (const std::uint32_t others = v.image.taps() - 1; others != 0)
    v.image.b_tap = std::min(dice_.chance(0.5) ? most / others : dice_.between(0, 9), most / others);
  g.m = m;
  g.n = std::min(n, npu_.lanes());
  g.k = std::min(k, g.b_col ? 2 * npu_.lanes() : k);
  const std::uint32_t rows = reach_of(v.image) + (v.weights ? g.k : g.m);
  g.a = before_taps(place(rows, v.weights ? g.m : g.k, false, bank), v.image, npu_.lanes());
  g.b = place(v.b_rows(), g.b_col ? g.k : g.n, false, bank);
  if (g.acc) g.cin = place(g.m, g.n, true, bank);
  g.cout = place(g.m, g.n, !g.out_bf16, bank);
  emit(v);
}

void TimingCommands::add(std::size_t engine, const Sum &sum) {
  auto [m, n, bank] = sum;
  isa::AddCommand a;
  a.core = core_of(engine);
  a.out_bf16 = dice_.chance(0.3);
  shrink(m, n, true);
  a.m = m;
  a.n = n;
  a.a = place(m, n, true, bank);
  a.cin = dice_.chance(0.2) ? a.a : place(m, n, true, bank);
  a.cout = !a.out_bf16 && dice_.chance(0.5) ? (dice_.chance(0.5) ? a.a : a.cin) : place(m, n, !a.out_bf16, bank);
  emit(a);
}

std::uint32_t TimingCommands::around(std::uint32_t unit) {
  const std::uint32_t multiple = unit * dice_.between(1, 3);
  return std::max(1U, multiple + dice_.between(0, 2) - 1);
}

} // namespace gradweave::corpus
