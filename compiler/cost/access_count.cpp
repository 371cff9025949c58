#include "compiler/cost/access_count.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "compiler/lower/dram_bytes.hpp"
#include "sw_models/vector/unit_state.hpp"

#include <algorithm>

namespace gradweave::compiler {
namespace {

/// Of the first `lines` lines of the walk of a WGRAD through whole images, from the first image's start: those that are
/// pixels of the result.
std::uint64_t working_lines(const isa::ImageWalk &image, std::uint64_t lines) {
  const std::uint64_t per_image = std::uint64_t{image.grid_w} * image.grid_h, rest = lines % per_image;
  const std::uint64_t row = rest / image.grid_w, col = rest % image.grid_w;
  const std::uint64_t in_row = row < image.out_h ? std::min<std::uint64_t>(col, image.out_w) : 0;
  return lines / per_image * image.out_w * image.out_h + std::min<std::uint64_t>(row, image.out_h) * image.out_w +
         in_row;
}

class AccessCounter {
public:
  explicit AccessCounter(const Machine &npu) : npu_(npu), units_(npu.vectors()) {}

  void operator()(const isa::DmaCommand &dma);
  void operator()(const isa::GemmCommand &gemm) { product(gemm, gemm.k, gemm.k); }
  void operator()(const isa::ConvCommand &conv);
  void operator()(const isa::AddCommand &add);
  void operator()(const isa::ProgramCommand &program) { units_[program.unit].take(program); }
  void operator()(const isa::TileCommand &tiles) { units_[tiles.unit].take(tiles); }
  void operator()(const isa::VectorCommand &run);
  void operator()(const isa::SyncCommand & /*sync*/) {}
  void fetch(std::uint64_t address, std::uint64_t bytes);
  const AccessCounts &counts() const { return counts_; }

private:
  /// A product of `steps` line pairs a block, of which `working` are no bubbles.
  void product(const isa::GemmCommand &gemm, std::uint64_t steps, std::uint64_t working);
  std::uint64_t line_bytes(std::uint64_t element_bytes) const { return npu_.lanes() * element_bytes; }

  const Machine &npu_;
  std::vector<vector::UnitState> units_;
  AccessCounts counts_;
};

void AccessCounter::operator()(const isa::DmaCommand &dma) {
  const std::uint64_t row_bytes = std::uint64_t{dma.cols} * (dma.fp32 ? 4 : 2);
  (dma.store ? counts_.store_read_bytes : counts_.load_write_bytes) += dma.rows * row_bytes;
  std::uint64_t &moved = dma.store ? counts_.dram_write_bytes : counts_.dram_read_bytes;
  const bool alike = dma.pitch % npu_.bus_bytes == 0; // all rows begin at the same byte of a beat
  const std::uint64_t rows = alike ? 1 : dma.rows, times = alike ? dma.rows : 1;
  for (std::uint64_t row = 0; row < rows; ++row) {
    const std::uint64_t address = dma.dram_addr + row * dma.pitch;
    counts_.bus_bytes += times * beat_bytes(address, row_bytes, npu_.bus_bytes);
    moved += times * beat_bytes(address, row_bytes, access_bytes(npu_));
  }
}

void AccessCounter::operator()(const isa::VectorCommand &run) {
  const auto strips = static_cast<std::uint32_t>(divide_up(run.elements, npu_.lanes()));
  for (const vector::TileUse &use : units_[run.unit].uses(run)) {
    const std::uint64_t element_bytes = use.tile.fp32 ? 4 : 2;
    if (use.is_result())
      counts_.vector_write_bytes += use.lines * run.elements * element_bytes;
    else
      counts_.vector_read_bytes += use.lines * use.lines_for(strips, npu_.vector_groups) * line_bytes(element_bytes);
  }
}

void AccessCounter::fetch(std::uint64_t address, std::uint64_t bytes) {
  counts_.bus_bytes += beat_bytes(address, bytes, npu_.bus_bytes);
  counts_.dram_read_bytes += beat_bytes(address, bytes, access_bytes(npu_));
}

void AccessCounter::product(const isa::GemmCommand &gemm, std::uint64_t steps, std::uint64_t working) {
  const std::uint64_t results = std::uint64_t{gemm.m} * gemm.n;
  const std::uint64_t block_cols = divide_up(gemm.n, npu_.cols);
  const std::uint64_t pairs = divide_up(gemm.m, npu_.rows) * block_cols * steps;
  counts_.macs += results * working;
  counts_.idle_macs += pairs * npu_.rows * npu_.cols - results * working;
  counts_.operand_read_bytes += pairs * 2 * line_bytes(2);
  if (gemm.acc) counts_.sum_read_bytes += gemm.m * block_cols * line_bytes(4);
  counts_.result_write_bytes += results * (gemm.out_bf16 ? 2 : 4);
}

void AccessCounter::operator()(const isa::ConvCommand &conv) {
  const isa::ImageWalk &image = conv.image;
  const std::uint64_t first = std::uint64_t{image.grid_y} * image.grid_w;
  const std::uint64_t working =
      conv.weights ? working_lines(image, first + conv.product.k) - working_lines(image, first) : conv.steps();
  product(conv.product, conv.steps(), working);
}

void AccessCounter::operator()(const isa::AddCommand &add) {
  const std::uint64_t elements = std::uint64_t{add.m} * add.n;
  counts_.adds += elements;
  counts_.sum_read_bytes += 2 * add.m * divide_up(add.n, npu_.cols) * line_bytes(4);
  counts_.result_write_bytes += elements * (add.out_bf16 ? 2 : 4);
}

} // namespace

AccessCounts count_accesses(const std::vector<isa::Command> &stream, const Machine &npu, std::uint64_t address) {
  AccessCounter counter(npu);
  counter.fetch(address, stream.size() * isa::kCommandBytes);
  for (const isa::Command &command : stream)
    if (const auto decoded = isa::decode(command)) std::visit(counter, decoded->op);
  return counter.counts();
}

} // namespace gradweave::compiler
