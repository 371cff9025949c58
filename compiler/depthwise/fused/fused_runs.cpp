#include "compiler/depthwise/fused/fused_runs.hpp"

#include "compiler/depthwise/programs.hpp"
#include "compiler/vector_stream/stage/programs.hpp"

#include <algorithm>

namespace gradweave::compiler::depthwise {
namespace {

constexpr std::size_t kZeros = 0, kCopies = 1, kPairs = 2;

AreaRun run_of(std::size_t program, std::size_t elements, std::size_t steps, std::vector<isa::VectorTile> tiles) {
  return {program, static_cast<std::uint32_t>(elements), static_cast<std::uint32_t>(steps), std::move(tiles), {}};
}

} // namespace

/// Whole lanes of strips some rows apart, from a line of the first panel on. A channel is where the tile has it: in a
/// lane that moves with the row.
struct FusedRuns::Strips {
  std::size_t line = 0;
  std::size_t apart = 0, count = 1, lines = 1;
};

FusedRuns::FusedRuns(const std::vector<Layer> &layers, const FusedLayout &layout, const Machine &npu)
    : layers_(layers), layout_(layout),
      lanes_(npu.lanes()), programs_{encode(depthwise::zeros()), encode(copies()), encode(pairs())},
      rows_program_(layers.size()) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!layers[i].vector) continue;
    rows_program_[i] = place_of(image_rows(layers[i].conv->kernel_height, layers[i].conv->kernel_width), programs_);
  }
}

isa::VectorTile FusedRuns::strips(const PlaceTile &tile, const Strips &at, std::uint32_t slot) const {
  isa::VectorTile v;
  v.slot = slot;
  v.fp32 = tile.fp32;
  v.spm.row = static_cast<std::uint32_t>(tile.row + at.line * (tile.fp32 ? 2 : 1));
  v.spm.rot = static_cast<isa::Lane>(at.line % lanes_);
  v.spm.pstride = static_cast<std::uint32_t>(at.apart);
  v.rows = static_cast<std::uint32_t>(at.lines);
  v.cols = static_cast<std::uint32_t>(at.count * lanes_);
  return v;
}

AreaRun FusedRuns::zeros(const PlaceTile &tile, const Strips &at) const {
  return run_of(kZeros, at.count * lanes_, at.lines, {strips(tile, at, isa::kOperandSlots)});
}

AreaRun FusedRuns::copy(const PlaceTile &from, const Strips &there, const PlaceTile &to, const Strips &here) const {
  return run_of(kCopies, there.count * lanes_, there.lines,
                {strips(from, there, 0), strips(to, here, isa::kOperandSlots)});
}

void FusedRuns::clear_sides(const FusedMap &map, const PlaceTile &tile, std::vector<AreaRun> &runs) const {
  if (map.left > 0) runs.push_back(zeros(tile, {0, tile.pstride, panels(map), map.left * map.pitch}));
  if (map.right > 0) runs.push_back(zeros(tile, {map.at(map.width), tile.pstride, panels(map), map.right * map.pitch}));
}

std::vector<AreaRun> FusedRuns::preparation() const {
  std::vector<AreaRun> runs;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (!layers_[i].vector) continue;
    clear_sides(layout_.maps[i], layout_.maps[i].tile, runs);
    if (i == 0) clear_sides(layout_.maps[i], layout_.other_input, runs);
    spread_weights(i, runs);
  }
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
  const FusedMap &out = layout_.maps[i + 1];
  const std::size_t turn = conv.stride_width * layout_.maps[i].pitch, first = layout_.maps[i].rows - pairs;
  const std::size_t pitch = kernel.spread_pitch;
  const auto copy_columns = [&](std::size_t row, std::size_t to, const Strips &all) {
    isa::VectorTile from_tile = strips(kernel.spread, all, 0);
    from_tile.spm.row += static_cast<std::uint32_t>(row);
    isa::VectorTile to_tile = strips(kernel.spread, all, isa::kOperandSlots);
    to_tile.spm.row += static_cast<std::uint32_t>(row + to * pitch);
    to_tile.spm.rot = static_cast<isa::Lane>((to_tile.spm.rot + to * turn) % lanes_);
    runs.push_back(run_of(kCopies, all.count * lanes_, pairs, {from_tile, to_tile}));
  };
  std::size_t doublings = 0;
  for (std::size_t done = 1; done < out.width; done *= 2)
    ++doublings;
  if (out.width <= panels(out) * doublings) { // a column of all panels at a time
    for (std::size_t column = 1; column < out.width; ++column)
      copy_columns(0, column, {first, kernel.spread.pstride, panels(out), pairs});
    return;
  }
  for (std::size_t panel = 0; panel < panels(out); ++panel)
    for (std::size_t done = 1; done < out.width; done *= 2)
      copy_columns(panel * kernel.spread.pstride, done, {first, pitch, std::min(done, out.width - done), pairs});
}

std::vector<AreaRun> FusedRuns::layer(std::size_t i, const PlaceTile &from, const FusedRows &rows,
                                      std::size_t results) const {
  const Convolution &conv = *layers_[i].conv;
  const FusedMap &in = layout_.maps[i], &out = layout_.maps[i + 1];
  const FusedKernel &kernel = layout_.kernels[i];
  const std::size_t columns = all_columns(out);
  std::vector<AreaRun> runs;
  const auto clear = [&](std::size_t begin, std::size_t end) {
    if (begin < end) runs.push_back(zeros(from, {in.at(0) + in.first + begin, in.pitch, all_columns(in), end - begin}));
  };
  clear(0, rows.begin());
  clear(rows.end(in.height), rows.count);
  std::vector<isa::VectorTile> tiles;
  for (std::size_t tap = 0; tap < conv.kernel_width; ++tap) {
    const std::size_t column = in.left + tap * conv.dilation_width - conv.pad_left;
    tiles.push_back(strips(from, {column * in.pitch + in.first, conv.stride_width * in.pitch, columns, rows.count},
                           static_cast<std::uint32_t>(tap)));
  }
  // The weights are the last lines.
  tiles.push_back(
      strips(kernel.spread, {in.rows - rows.count, kernel.spread_pitch, columns, rows.count}, conv.kernel_width));
  const bool direct = row_copies(i, results) == 0;
  tiles.push_back(direct ? strips(out.tile, {out.at(0), out.pitch, columns, rows.count}, isa::kOperandSlots)
                         : strips(kernel.sums, {0, kernel.sums_pitch, columns, rows.count}, isa::kOperandSlots));
  runs.push_back(run_of(rows_program_[i], columns * lanes_, rows.count, std::move(tiles)));
  for (std::size_t row = 0; row < row_copies(i, results); ++row)
    runs.push_back(copy(kernel.sums, {conv.kernel_height - 1 + row * conv.stride_height, kernel.sums_pitch, columns, 1},
                        out.tile, {out.at(0) + out.first + row, out.pitch, columns, 1}));
  return runs;
}

} // namespace gradweave::compiler::depthwise
