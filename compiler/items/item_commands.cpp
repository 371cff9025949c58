#include "compiler/items/item_commands.hpp"

#include "compiler/items/ordered_commands.hpp"
#include "compiler/vector_stream/programs.hpp"

#include <algorithm>
#include <stdexcept>

namespace gradweave::compiler {
namespace {

class Emitter {
public:
  Emitter(const ItemJobs &jobs, const std::vector<ItemPlace> &places, const ItemCut &cut, const NpuConfig &npu)
      : jobs_(jobs), places_(places), cut_(cut), npu_(npu), chunks_(chunks_of(jobs, cut.chunk)),
        turns_(turns_of(jobs, cut)), commands_(number_regions()) {
    auto rows = place_items(jobs, cut, npu);
    if (!rows) throw std::logic_error("a chunk of items does not fit the scratchpad");
    if (!lie_side_by_side(jobs, places, cut)) throw std::logic_error("items of a wide tile do not lie side by side");
    rows_ = std::move(*rows);
    for (std::size_t i = 0; i < jobs.tiles.size(); ++i)
      held_.emplace_back(cut.buffers[i]);
    overwritten_.resize(jobs.tiles.size());
    for (const ItemTile &tile : jobs.tiles)
      if (tile.over != kOwnPlace) overwritten_[place_of_tile(jobs.tiles, tile.over)] = true;
    for (std::size_t i = 0; i < jobs.tiles.size(); ++i)
      first_reader_.push_back(reader_of(i));
  }

  std::vector<isa::Command> run(std::uint32_t first_semaphore) {
    write_programs();
    for (std::size_t at = 0; at < chunks_.size() + turns_.last; ++at)
      for (std::uint32_t turn = turns_.last + 1; turn-- > 0;)
        if (at >= turn && at - turn < chunks_.size()) emit_turn(at - turn, turn);
    return commands_.encoded(first_semaphore);
  }

private:
  /// Each item's part of each buffer is one.
  std::size_t number_regions() {
    std::size_t next = 0;
    for (std::size_t i = 0; i < jobs_.tiles.size(); ++i) {
      regions_.push_back(next);
      next += std::size_t{cut_.buffers[i]} * cut_.chunk;
    }
    return next;
  }

  /// The stage that reads the tile first.
  std::size_t reader_of(std::size_t tile) const {
    for (std::size_t s = 0; s < jobs_.stages.size(); ++s) {
      if (const auto *product = std::get_if<ItemProduct>(&jobs_.stages[s])) {
        if (product->a == tile || product->b == tile) return s;
        continue;
      }
      const auto &operands = std::get<ItemRun>(jobs_.stages[s]).operands;
      if (std::any_of(operands.begin(), operands.end(), [&](const ItemView &v) { return v.tile == tile; })) return s;
    }
    return jobs_.stages.size();
  }

  void write_programs() {
    std::uint32_t at = 0;
    for (const ItemStage &stage : jobs_.stages) {
      program_at_.push_back(at);
      const auto *run = std::get_if<ItemRun>(&stage);
      if (run == nullptr) continue;
      const isa::vector::Words words = isa::vector::encode(run->program);
      for (const isa::ProgramCommand &p : program_commands(words, at))
        commands_.add(p);
      at += static_cast<std::uint32_t>(words.size());
    }
  }

  /// LOADs of what phases of this turn, or of the next, begin to read; stages, and STOREs of what they give.
  void emit_turn(std::size_t chunk, std::uint32_t turn) {
    for (std::size_t s = 0; s < jobs_.stages.size(); ++s) {
      for (std::size_t tile = 0; tile < jobs_.tiles.size(); ++tile)
        if (jobs_.tiles[tile].loaded && first_reader_[tile] == s && turns_.loads[tile] == turn) load(tile, chunk);
      if (turns_.stages[s] != turn) continue;
      if (const auto *product = std::get_if<ItemProduct>(&jobs_.stages[s])) {
        multiply(*product, chunk);
        store(product->c, chunk);
      } else {
        const auto &run = std::get<ItemRun>(jobs_.stages[s]);
        compute(run, program_at_[s], chunk);
        for (const ItemView &result : run.results)
          store(result.tile, chunk);
      }
    }
  }

  std::size_t place_of(std::size_t tile) const { return place_of_tile(jobs_.tiles, tile); }

  std::size_t buffer_of(std::size_t tile, std::size_t chunk) const { return chunk % cut_.buffers[place_of(tile)]; }

  /// The part of an item, or all of a tile that is shared.
  RegionRange region(std::size_t tile, std::size_t chunk, std::size_t item) const {
    return {all_regions(tile, chunk).first + (jobs_.tiles[tile].each ? item : 0), 1};
  }
  RegionRange all_regions(std::size_t tile, std::size_t chunk) const {
    return {regions_[place_of(tile)] + buffer_of(tile, chunk) * cut_.chunk,
            jobs_.tiles[tile].each ? chunks_[chunk].count : 1};
  }

  /// From an item's element (row, col) on.
  isa::SpmTile spm(std::size_t tile, std::size_t chunk, std::size_t item, std::uint32_t row = 0,
                   std::uint32_t col = 0) const {
    const ItemTile &t = jobs_.tiles[tile];
    const auto before = static_cast<std::uint32_t>(t.each ? item : 0);
    (cut_.wide[tile] ? col : row) += before * (cut_.wide[tile] ? t.cols : t.rows);
    isa::SpmTile place;
    place.pstride = panel_rows(jobs_, tile, cut_);
    place.row =
        rows_[place_of(tile)][buffer_of(tile, chunk)] + row * (t.fp32 ? 2 : 1) + col / npu_.lanes() * place.pstride;
    place.rot = static_cast<std::uint8_t>((row + col) % npu_.lanes());
    return place;
  }

  isa::DmaCommand transfer(std::size_t tile, std::size_t chunk, std::size_t item, bool store) const {
    const ItemTile &t = jobs_.tiles[tile];
    isa::DmaCommand d;
    d.store = store;
    d.fp32 = t.fp32;
    d.dram_addr = places_[tile].addresses[chunks_[chunk].first + item];
    d.pitch = t.rows == 1 ? 0 : places_[tile].pitch;
    d.rows = t.rows;
    d.cols = t.cols;
    d.spm = spm(tile, chunk, item);
    if (cut_.wide[tile]) d.cols *= static_cast<std::uint32_t>(chunks_[chunk].count);
    return d;
  }

  /// Transfers of a chunk's tile.
  std::size_t transfers(std::size_t tile, std::size_t chunk) const {
    return jobs_.tiles[tile].each && !cut_.wide[tile] ? chunks_[chunk].count : 1;
  }
  RegionRange moved_regions(std::size_t tile, std::size_t chunk, std::size_t item) const {
    return cut_.wide[tile] ? all_regions(tile, chunk) : region(tile, chunk, item);
  }

  void load(std::size_t tile, std::size_t chunk) {
    std::vector<std::uint64_t> &held = held_[tile][buffer_of(tile, chunk)];
    held.resize(cut_.chunk, ~std::uint64_t{0});
    for (std::size_t item = 0; item < transfers(tile, chunk); ++item) {
      const isa::DmaCommand d = transfer(tile, chunk, item, false);
      if (held[item] != d.dram_addr || overwritten_[tile] || cut_.wide[tile])
        commands_.add(d, {}, {moved_regions(tile, chunk, item)});
      held[item] = d.dram_addr;
    }
  }

  void store(std::size_t tile, std::size_t chunk) {
    if (!jobs_.tiles[tile].stored) return;
    for (std::size_t item = 0; item < transfers(tile, chunk); ++item)
      commands_.add(transfer(tile, chunk, item, true), {moved_regions(tile, chunk, item)});
  }

  void multiply(const ItemProduct &product, std::size_t chunk) {
    isa::GemmCommand gemm;
    gemm.a_col = product.a_col;
    gemm.b_col = product.b_col;
    gemm.out_bf16 = !jobs_.tiles[product.c].fp32;
    gemm.m = product.m, gemm.k = product.k;
    for (std::size_t item = 0; item < chunks_[chunk].count; ++item)
      for (const ColumnPart &part : column_parts(jobs_, product, item, cut_, npu_)) {
        gemm.n = part.count;
        gemm.a = spm(product.a, chunk, item);
        gemm.b = product.b_col ? spm(product.b, chunk, item, part.first) : spm(product.b, chunk, item, 0, part.first);
        gemm.cout = spm(product.c, chunk, item, 0, part.first);
        commands_.add(gemm, {region(product.a, chunk, item), region(product.b, chunk, item)},
                      {region(product.c, chunk, item)});
      }
  }

  void compute(const ItemRun &run, std::uint32_t program, std::size_t chunk) {
    const auto count = static_cast<std::uint32_t>(chunks_[chunk].count);
    std::vector<isa::VectorTile> slots;
    std::vector<RegionRange> reads, writes;
    const auto add = [&](const ItemView &view, std::size_t slot) {
      const ItemTile &t = jobs_.tiles[view.tile];
      isa::VectorTile v;
      v.slot = static_cast<std::uint32_t>(slot);
      v.spm = spm(view.tile, chunk, 0);
      v.rows = t.line ? 1 : t.rows * (t.each ? count : 1);
      v.cols = t.line ? t.rows * count : t.cols;
      v.fp32 = t.fp32;
      v.by_col = view.by_col;
      v.same_element = view.same_element;
      v.same_step = view.same_step;
      slots.push_back(v);
    };
    for (std::size_t i = 0; i < run.operands.size(); ++i) {
      add(run.operands[i], i);
      reads.push_back(all_regions(run.operands[i].tile, chunk));
    }
    for (std::size_t i = 0; i < run.results.size(); ++i) {
      add(run.results[i], isa::kOperandSlots + i);
      writes.push_back(all_regions(run.results[i].tile, chunk));
    }
    for (std::size_t i = 0; i < slots.size();) {
      isa::TileCommand command;
      for (isa::VectorTile &t : command.tiles)
        if (i < slots.size()) t = slots[i++];
      commands_.add(command);
    }
    isa::VectorCommand v;
    v.first = program;
    v.elements = run.lanes * count;
    v.steps = run.steps;
    commands_.add(v, reads, writes);
  }

  const ItemJobs &jobs_;
  const std::vector<ItemPlace> &places_;
  const ItemCut &cut_;
  const NpuConfig &npu_;
  std::vector<ItemChunk> chunks_;
  ItemTurns turns_;
  std::vector<std::size_t> regions_; ///< of each tile, the first
  OrderedCommands commands_;
  std::vector<std::vector<std::uint32_t>> rows_;              ///< of each tile's buffers
  std::vector<std::vector<std::vector<std::uint64_t>>> held_; ///< of each tile's buffers, addresses of what it has
  std::vector<bool> overwritten_;                             ///< of each tile: others are written in its place
  std::vector<std::size_t> first_reader_;                     ///< of each tile
  std::vector<std::uint32_t> program_at_;                     ///< of each stage
};

} // namespace

bool lie_side_by_side(const ItemJobs &jobs, const std::vector<ItemPlace> &places, const ItemCut &cut) {
  for (std::size_t tile = 0; tile < jobs.tiles.size(); ++tile) {
    if (!cut.wide[tile]) continue;
    const std::uint64_t apart = std::uint64_t{jobs.tiles[tile].cols} * (jobs.tiles[tile].fp32 ? 4 : 2);
    for (const ItemChunk &chunk : chunks_of(jobs, cut.chunk))
      for (std::size_t item = chunk.first + 1; item < chunk.first + chunk.count; ++item)
        if (places[tile].addresses[item] != places[tile].addresses[item - 1] + apart) return false;
  }
  return true;
}

std::vector<isa::Command> item_commands(const ItemJobs &jobs, const std::vector<ItemPlace> &places, const ItemCut &cut,
                                        const NpuConfig &npu, std::uint32_t first_semaphore) {
  return Emitter(jobs, places, cut, npu).run(first_semaphore);
}

} // namespace gradweave::compiler
