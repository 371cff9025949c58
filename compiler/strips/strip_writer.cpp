#include "compiler/strips/strip_writer.hpp"

#include "compiler/vector_stream/stage/programs.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::compiler {
namespace {

using Kind = StripTile::Kind;
using isa::vector::Program;

/// Strides say which way lines lie, no more.
StridedTile strided(const StripTile &t) {
  StridedTile s;
  s.value = t.value;
  s.lane = t.kind == Kind::kNumber ? 0 : 1;
  s.step = t.kind == Kind::kMatrix ? 2 : 0;
  return s;
}

} // namespace

void StripWriter::begin_strip(std::size_t col, std::size_t cols, std::size_t line_set) {
  col_ = col;
  cols_ = cols;
  line_set_ = line_set;
}

void StripWriter::load(const std::vector<isa::DmaCommand> &dmas, const RegionRange &regions) {
  std::size_t from = 0;
  for (std::size_t r = regions.first; r < regions.first + regions.count; ++r)
    from = std::max(from, free_from_[r]);
  for (const isa::DmaCommand &dma : dmas)
    out_.loads.push_back({dma, regions, from, item()});
  touch(regions);
}

void StripWriter::touch(const RegionRange &regions) {
  std::fill_n(free_from_.begin() + static_cast<std::ptrdiff_t>(regions.first), regions.count, item() + 1);
}

std::vector<isa::DmaCommand> StripWriter::matrix_dmas(std::size_t value, const PartBundle &bundle, std::size_t first,
                                                      std::size_t rows, bool stored, const isa::SpmTile &spm) const {
  isa::DmaCommand d;
  d.store = stored;
  d.fp32 = is_fp32(value);
  const std::uint64_t bytes = d.fp32 ? 4 : 2;
  d.pitch = rows == 1 ? 0 : static_cast<std::uint32_t>(jobs_.cols * bytes);
  d.rows = static_cast<std::uint32_t>(rows);
  d.cols = static_cast<std::uint32_t>(cols_);
  std::vector<isa::DmaCommand> all;
  for (std::size_t part = bundle.first; part < bundle.first + bundle.count; ++part) {
    d.dram_addr = addresses_[value] + ((part * jobs_.part_rows + first) * jobs_.cols + col_) * bytes;
    d.spm = spm;
    d.spm.rot = static_cast<isa::Lane>((spm.rot + layout_.lane_in_panel(part - bundle.first)) % npu_.lanes());
    all.push_back(d);
  }
  return all;
}

isa::DmaCommand StripWriter::line_dma(const StripTile &tile, bool stored, const StripPlace &place) const {
  isa::DmaCommand d;
  d.store = stored;
  d.fp32 = is_fp32(tile.value);
  const std::size_t first = tile.kind == Kind::kNumber ? tile.index : tile.index * jobs_.cols + col_;
  d.dram_addr = addresses_[tile.value] + first * (d.fp32 ? 4 : 2);
  d.rows = 1;
  d.cols = tile.kind == Kind::kNumber ? 1 : static_cast<std::uint32_t>(cols_);
  d.spm = {place.row, 2, static_cast<isa::Lane>(place.lane)};
  return d;
}

AreaTile StripWriter::area_tile(std::uint32_t row, std::uint32_t pstride, std::size_t rows, std::size_t cols,
                                bool fp32) {
  AreaTile t;
  t.rows = static_cast<std::uint32_t>(rows);
  t.cols = static_cast<std::uint32_t>(cols);
  t.fp32 = fp32;
  t.spm = {row, pstride, 0};
  return t;
}

void StripWriter::add_copies(const StripTile &t, std::size_t parts, std::vector<AreaTile> &tiles,
                             std::vector<RegionRange> &regions) const {
  if (layout_.copies(t) == 1) return add_line(t, t.index, 1, tiles, regions);
  const StripPlace place = layout_.copy(line_set_, t, 0), last = layout_.copy(line_set_, t, parts - 1);
  tiles.push_back(area_tile(place.row, 2, 1, lanes_of(parts), is_fp32(t.value)));
  regions.push_back({place.region, last.region + 1 - place.region});
}

void StripWriter::add_line(const StripTile &t, std::size_t entry, std::size_t parts, std::vector<AreaTile> &tiles,
                           std::vector<RegionRange> &regions) const {
  const StripPlace place = layout_.line(line_set_, t, entry), last = layout_.line(line_set_, t, entry + parts - 1);
  const bool is_number = t.kind == Kind::kNumber;
  tiles.push_back(area_tile(place.row, 2, 1, is_number ? 1 : lanes_of(parts), is_fp32(t.value)));
  tiles.back().spm.rot = static_cast<isa::Lane>(place.lane);
  regions.push_back({place.region, is_number ? 1 : last.region + 1 - place.region});
}

StripRun StripWriter::run_of(const StripStage &stage, std::size_t lanes, std::size_t steps, const Tiles &tiles) {
  Stage as{stage.program, lanes, steps, {}, {}, stage.elementwise};
  for (const StripTile &t : stage.operands)
    as.operands.push_back(strided(t));
  for (const StripTile &t : stage.results)
    as.results.push_back(strided(t));
  const StageWalk walk = walk_of(as, lanes, steps, npu_);
  const auto [walked, program] = walked_stage(as, walk);
  StripRun run{place_of(program, out_.programs),
               static_cast<std::uint32_t>(walk.exchanged ? steps : lanes),
               static_cast<std::uint32_t>(walk.exchanged ? lanes : steps),
               {},
               tiles.reads,
               tiles.writes,
               walk.cycles};
  for (std::uint32_t i = 0; i < walked.operands.size(); ++i)
    run.tiles.push_back(view_of(walked.operands[i], tiles.operands[i], i));
  for (std::uint32_t o = 0; o < walked.results.size(); ++o)
    run.tiles.push_back(view_of(walked.results[o], tiles.results[o], isa::kOperandSlots + o));
  for (const auto *regions : {&tiles.reads, &tiles.writes})
    for (const RegionRange &r : *regions)
      touch(r);
  return run;
}

} // namespace gradweave::compiler
