#include "compiler/depthwise/fused/fused_runs.hpp"

#include "compiler/depthwise/programs.hpp"

#include <algorithm>

namespace gradweave::compiler::depthwise {
namespace {

constexpr std::size_t kZeros = 0, kCopies = 1, kPairs = 2;

AreaRun run_of(std::size_t program, std::size_t elements, std::size_t steps, std::vector<isa::VectorTile> tiles) {
  return {program, static_cast<std::uint32_t>(elements), static_cast<std::uint32_t>(steps), std::move(tiles), {}};
}

} // namespace

/// Whole lanes of a panel, strips some rows apart. A channel is where the tile has it: in a lane that moves with the
/// row.
struct FusedRuns::Strips {
  std::size_t panel = 0;
  std::size_t line = 0; ///< the first
  std::size_t apart = 0, count = 1, lines = 1;
};

FusedRuns::FusedRuns(const std::vector<Layer> &layers, const FusedLayout &layout, const Machine &npu)
    : layers_(layers), layout_(layout),
      lanes_(npu.lanes()), programs_{encode(zeros()), encode(copies()), encode(pairs())}, rows_program_(layers.size()) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!layers[i].vector) continue;
    const isa::vector::Words words = encode(image_rows(layers[i].conv->kernel_height, layers[i].conv->kernel_width));
    const auto known = std::find(programs_.begin(), programs_.end(), words);
    rows_program_[i] = static_cast<std::size_t>(known - programs_.begin());
    if (known == programs_.end()) programs_.push_back(words);
  }
}

isa::VectorTile FusedRuns::strips(const PlaceTile &tile, const Strips &at, std::uint32_t slot) const {
  isa::VectorTile v;
  v.slot = slot;
  v.fp32 = tile.fp32;
  v.spm.row = static_cast<std::uint32_t>(tile.row + at.panel * tile.pstride + at.line * (tile.fp32 ? 2 : 1));
  v.spm.rot = static_cast<std::uint8_t>(at.line % lanes_);
  v.spm.pstride = static_cast<std::uint32_t>(at.apart);
  v.rows = static_cast<std::uint32_t>(at.lines);
  v.cols = static_cast<std::uint32_t>(at.count * lanes_);
  return v;
}

void FusedRuns::clear(const FusedMap &map, const PlaceTile &tile, std::vector<AreaRun> &runs) const {
  for (std::size_t panel = 0; panel < panels(map.channels); ++panel)
    runs.push_back(run_of(kZeros, map.columns() * lanes_, map.pitch,
                          {strips(tile, {panel, 0, map.pitch, map.columns(), map.pitch}, isa::kOperandSlots)}));
}

std::vector<AreaRun> FusedRuns::preparation() const {
  std::vector<AreaRun> runs;
  clear(layout_.maps.front(), layout_.other_input, runs);
  for (const FusedMap &map : layout_.maps)
    clear(map, map.tile, runs);
  for (std::size_t i = 0; i < layers_.size(); ++i)
    if (layers_[i].vector) spread_weights(i, runs);
  return runs;
}

/// A tap of all channels.
isa::VectorTile FusedRuns::weights(std::size_t i, std::size_t tap, std::uint32_t slot) const {
  isa::VectorTile v =
      window(layout_.weights[i], {0, tap, layers_[i].conv->channels, 1}, slot, static_cast<std::uint32_t>(lanes_));
  v.by_col = true;
  return v;
}

/// Pairs of taps of the first column of results, the first pair last; then all columns that there are once more, until
/// there are all. A column's channels are in other lanes than those of the column before, by as many as the image has
/// rows between them.
void FusedRuns::spread_weights(std::size_t i, std::vector<AreaRun> &runs) const {
  const Convolution &conv = *layers_[i].conv;
  const FusedKernel &kernel = layout_.kernels[i];
  const std::size_t taps = conv.kernel_height * conv.kernel_width, pairs = (taps + 1) / 2;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const std::size_t line = layout_.maps[i].rows - 1 - pair;
    isa::VectorTile to =
        window(kernel.spread, {line, 0, 1, conv.channels}, isa::kOperandSlots, static_cast<std::uint32_t>(lanes_));
    const bool whole = 2 * pair + 1 < taps;
    std::vector<isa::VectorTile> tiles{weights(i, 2 * pair, 0), to};
    if (whole) tiles.push_back(weights(i, 2 * pair + 1, 1));
    runs.push_back(run_of(whole ? kPairs : kCopies, conv.channels, 1, std::move(tiles)));
  }
  const std::size_t columns = layout_.maps[i + 1].width, turn = conv.stride_width * layout_.maps[i].pitch % lanes_;
  for (std::size_t panel = 0; panel < panels(conv.channels); ++panel)
    for (std::size_t done = 1; done < columns; done *= 2) {
      const std::size_t count = std::min(done, columns - done);
      const std::size_t line = layout_.maps[i].rows - pairs;
      const Strips from{panel, line, kernel.spread_pitch, count, pairs};
      isa::VectorTile to = strips(kernel.spread, from, isa::kOperandSlots);
      to.spm.row += static_cast<std::uint32_t>(done * kernel.spread_pitch);
      to.spm.rot = static_cast<std::uint8_t>((to.spm.rot + done * turn) % lanes_);
      runs.push_back(run_of(kCopies, count * lanes_, pairs, {strips(kernel.spread, from, 0), to}));
    }
}

std::vector<AreaRun> FusedRuns::layer(std::size_t i, const PlaceTile &from, const FusedRows &rows,
                                      std::size_t results) const {
  const Convolution &conv = *layers_[i].conv;
  const FusedMap &in = layout_.maps[i], &out = layout_.maps[i + 1];
  const FusedKernel &kernel = layout_.kernels[i];
  std::vector<AreaRun> runs;
  for (std::size_t panel = 0; panel < panels(conv.channels); ++panel) {
    const auto zeros = [&](std::size_t begin, std::size_t end) {
      if (begin >= end) return;
      const Strips at{panel, in.at(0) + in.first + begin, in.pitch, in.width, end - begin};
      runs.push_back(run_of(kZeros, in.width * lanes_, end - begin, {strips(from, at, isa::kOperandSlots)}));
    };
    zeros(0, rows.begin());
    zeros(rows.end(in.height), rows.count);
    std::vector<isa::VectorTile> tiles;
    for (std::size_t tap = 0; tap < conv.kernel_width; ++tap) {
      const std::size_t column = in.left + tap * conv.dilation_width - conv.pad_left;
      const Strips at{panel, column * in.pitch + in.first, conv.stride_width * in.pitch, out.width, rows.count};
      tiles.push_back(strips(from, at, static_cast<std::uint32_t>(tap)));
    }
    const std::size_t line = in.rows - rows.count; // so that the weights are the last lines
    tiles.push_back(
        strips(kernel.spread, {panel, line, kernel.spread_pitch, out.width, rows.count}, conv.kernel_width));
    const bool direct = kernel.sums_pitch == 0;
    const Strips to{panel, direct ? out.at(0) : 0, direct ? out.pitch : kernel.sums_pitch, out.width, rows.count};
    tiles.push_back(strips(direct ? out.tile : kernel.sums, to, isa::kOperandSlots));
    runs.push_back(run_of(rows_program_[i], out.width * lanes_, rows.count, std::move(tiles)));
    for (std::size_t row = 0; row < results && !direct; ++row) {
      const std::size_t sum = conv.kernel_height - 1 + row * conv.stride_height;
      const Strips at{panel, sum, kernel.sums_pitch, out.width, 1};
      const Strips to_row{panel, out.at(0) + out.first + row, out.pitch, out.width, 1};
      runs.push_back(run_of(kCopies, out.width * lanes_, 1,
                            {strips(kernel.sums, at, 0), strips(out.tile, to_row, isa::kOperandSlots)}));
    }
  }
  return runs;
}

} // namespace gradweave::compiler::depthwise
