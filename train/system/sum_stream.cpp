#include "train/system/sum_stream.hpp"

#include "compiler/ir/arithmetic.hpp"
#include <algorithm>

namespace gradweave::runtime::train {
namespace {

constexpr std::uint64_t kAlignment = 4096; ///< of tensors
constexpr std::uint32_t kBuffers = 2, kTiles = 3;
constexpr std::uint32_t kMostColumns = 1024, kMostRows = 256;
constexpr std::uint64_t kElement = sizeof(float);

enum Semaphore : std::uint8_t {
  kLoaded, ///< an operand is in the scratchpad
  kAdded,  ///< a sum is
  kRead,   ///< the array has done with both operands
  kStored, ///< a sum has left
};

/// How a tensor is cut, and where its tiles lie.
struct Cut {
  std::uint32_t columns = 0, rows = 0; ///< of a tile, at most
  std::uint32_t panel_rows = 0, tile_rows = 0;
};

Cut cut_of(const NpuConfig &npu) {
  const std::uint32_t pairs = npu.spm_rows() / (2 * kBuffers * kTiles); // rows of one tile, in fp32
  Cut cut;
  const std::uint32_t panels = std::max(1U, std::min(kMostColumns / npu.lanes(), pairs));
  cut.columns = panels * npu.lanes();
  cut.rows = std::max(1U, std::min(kMostRows, pairs / panels));
  cut.panel_rows = 2 * cut.rows;
  cut.tile_rows = panels * cut.panel_rows;
  return cut;
}

class Writer {
public:
  Writer(std::uint64_t elements, const NpuConfig &npu) : cut_(cut_of(npu)) {
    const std::uint64_t bytes = compiler::round_up(elements * kElement, kAlignment);
    sum_.b = bytes;
    sum_.c = 2 * bytes;
    sum_.dram_bytes = 3 * bytes;
    const std::uint64_t whole = elements / cut_.columns; // rows
    for (std::uint64_t row = 0; row < whole; row += cut_.rows)
      tiles_.push_back({row * cut_.columns, static_cast<std::uint32_t>(std::min<std::uint64_t>(cut_.rows, whole - row)),
                        cut_.columns});
    if (elements % cut_.columns != 0)
      tiles_.push_back({whole * cut_.columns, 1, static_cast<std::uint32_t>(elements % cut_.columns)});
  }

  SumStream write() {
    for (tile_ = 0; tile_ < tiles_.size(); ++tile_) {
      const bool again = tile_ >= kBuffers;
      move(sum_.a, 0, again ? kRead : isa::kNoSemaphore, kLoaded);
      move(sum_.b, 1, isa::kNoSemaphore, kLoaded);
      add(again);
      move(sum_.c, 2, kAdded, more() ? kStored : isa::kNoSemaphore);
    }
    return std::move(sum_);
  }

private:
  struct Tile {
    std::uint64_t first; ///< element
    std::uint32_t rows, columns;
  };

  /// Whether a later tile waits for this one's buffer.
  bool more() const { return tile_ + kBuffers < tiles_.size(); }

  isa::SpmTile place(std::uint32_t which) const {
    return {static_cast<std::uint32_t>(tile_ % kBuffers * kTiles + which) * cut_.tile_rows, cut_.panel_rows, 0};
  }

  void move(std::uint64_t tensor, std::uint32_t which, std::uint8_t wait, std::uint8_t post) {
    isa::DmaCommand dma;
    dma.store = which == 2;
    dma.fp32 = true;
    dma.dram_addr = tensor + tiles_[tile_].first * kElement;
    dma.pitch = static_cast<std::uint32_t>(cut_.columns * kElement);
    dma.rows = tiles_[tile_].rows;
    dma.cols = tiles_[tile_].columns;
    dma.spm = place(which);
    isa::Decoded command{dma, {}, 0};
    if (wait != isa::kNoSemaphore) command.sync.waits[0] = {wait, 1};
    command.sync.posts[0] = post;
    sum_.stream.push_back(isa::encode(command));
  }

  void add(bool again) {
    isa::AddCommand add;
    add.m = tiles_[tile_].rows;
    add.n = tiles_[tile_].columns;
    add.a = place(0);
    add.cin = place(1);
    add.cout = place(2);
    isa::Decoded command{add, {}, 0};
    command.sync.waits[0] = {kLoaded, 2};
    if (again) command.sync.waits[1] = {kStored, 1};
    command.sync.posts[0] = kAdded;
    if (more()) command.sync.posts[1] = kRead;
    sum_.stream.push_back(isa::encode(command));
  }

  Cut cut_;
  SumStream sum_;
  std::vector<Tile> tiles_;
  std::size_t tile_ = 0;
};

} // namespace

SumStream sum_stream(std::uint64_t elements, const NpuConfig &npu) { return Writer(elements, npu).write(); }

} // namespace gradweave::runtime::train
