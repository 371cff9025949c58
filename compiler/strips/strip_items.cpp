#include "compiler/strips/strip_items.hpp"

#include "compiler/strips/strip_sums.hpp"
#include "compiler/vector/chain.hpp"
#include "compiler/vector_stream/stage/programs.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace gradweave::compiler {
namespace {

using Kind = StripTile::Kind;
using PassKind = StripPass::Kind;
using isa::vector::Program;

/// Bundles that are kept, in runs of several, evenly between those that pass through: their LOADs go beside the runs of
/// these. `whole`: how many have parts of all rows.
std::vector<Bundles> order_of_bundles(const StripLayout &layout, std::size_t whole, std::size_t merged, PassKind kind) {
  const StripSlots &slots = layout.slots();
  std::vector<Bundles> stay, pass, all;
  for (std::size_t b = 0; b < slots.kept; b += stay.back().count) {
    const std::size_t most = kind == PassKind::kSums && b < whole ? std::min(merged, whole - b) : 1;
    stay.push_back({b, std::min(most, slots.kept - b)});
  }
  for (std::size_t b = slots.kept; b < layout.bundles(); b += pass.back().count)
    pass.push_back({b, b < whole ? std::min(slots.passing, whole - b) : 1});
  for (std::size_t i = 0, taken = 0; i < pass.size(); ++i) {
    all.push_back(pass[i]);
    for (; taken < (i + 1) * stay.size() / pass.size(); ++taken)
      all.push_back(stay[taken]);
  }
  return pass.empty() ? stay : all;
}

class Planning : StripSums {
public:
  Planning(const StripJobs &jobs, const OpJobs &of, const StripCut &cut, const StripLayout &layout,
           const std::vector<std::uint64_t> &addresses, const NpuConfig &npu)
      : StripSums(jobs, of, cut, layout, addresses, npu) {}

  std::optional<StripItems> run() {
    try {
      for (std::size_t col = 0; col < jobs_.cols; col += cut_.columns)
        add_strip(col);
    } catch (const std::length_error &) { // chain_part(): not enough tiles
      return std::nullopt;
    }
    if (words_of(out_.programs) > isa::kProgramWords) return std::nullopt;
    return std::move(out_);
  }

private:
  void add_strip(std::size_t col) {
    const std::size_t strip = col / cut_.columns;
    begin_strip(col, std::min(cut_.columns, jobs_.cols - col), strip % StripLayout::kLineSets);
    begin_slots(strip % layout_.slots().sets);
    for (pass_ = 0; pass_ < jobs_.passes.size(); ++pass_) {
      const StripPass &pass = jobs_.passes[pass_];
      if (pass.kind == PassKind::kLines) {
        add_lines(pass.stages.front());
        continue;
      }
      const std::size_t whole = divide_up(jobs_.rows / jobs_.part_rows, cut_.abreast);
      const std::size_t merged = divide_up(cut_.merged, cut_.abreast);
      for (const Bundles &bundles : order_of_bundles(layout_, whole, merged, pass.kind))
        if (pass.kind == PassKind::kSums)
          add_sums(pass, bundles);
        else
          add_elements(pass, bundles);
    }
  }

  void add_lines(const StripStage &stage) {
    StripItem item;
    load_lines(stage);
    const bool is_chain = std::any_of(stage.operands.begin(), stage.operands.end(),
                                      [](const StripTile &t) { return t.kind == Kind::kLines; });
    if (is_chain)
      add_chain(stage, item);
    else
      item.runs.push_back(run_on_lines(stage, stage.operands, stage.results));
    for (const StripTile &t : stage.results)
      give_line(t, item);
    out_.items.push_back(std::move(item));
  }

  StripRun run_on_lines(const StripStage &stage, const std::vector<StripTile> &operands,
                        const std::vector<StripTile> &results) {
    Tiles tiles;
    for (const StripTile &t : operands)
      add_line(t, t.index, 1, tiles.operands, tiles.reads);
    for (const StripTile &t : results)
      add_line(t, t.index, 1, tiles.results, tiles.writes);
    return run_of({stage.program, 0, 1, stage.elementwise, operands, results}, cols_, 1, tiles);
  }

  /// Lines in turn, a run each: what a lane has so far is handed on.
  void add_chain(const StripStage &stage, StripItem &item) {
    const std::vector<unsigned> loops = loops_of(*stage.program);
    if (loops.size() != 1) throw std::length_error("a chain over parts has several loops");
    begin_chains();
    for (std::size_t step = 0; step < stage.rows; ++step) {
      const ChainPart part = chain_part(*stage.program, loops.front(), step == 0, step + 1 == stage.rows,
                                        static_cast<std::uint32_t>(step));
      StripStage one{&part.program, 0, 1, false, {}, {}};
      for (const unsigned o : part.operands) {
        one.operands.push_back(stage.operands[o]);
        if (one.operands.back().kind == Kind::kLines)
          one.operands.back() = {Kind::kLine, stage.operands[o].value, step};
      }
      for (const unsigned o : part.results)
        one.results.push_back(stage.results[o]);
      StripRun run = run_on_lines(one, one.operands, one.results);
      add_states(part.restored, 0, cols_, part.operands.size(), run, run.reads);
      add_states(part.saved, 0, cols_, isa::kOperandSlots + part.results.size(), run, run.writes);
      item.runs.push_back(std::move(run));
    }
  }

  /// An item a block.
  void add_elements(const StripPass &pass, const Bundles &bundles) {
    std::vector<std::size_t> values;
    std::set<std::size_t> given;
    for (const StripStage &stage : pass.stages) {
      for (const StripTile &t : stage.operands)
        if (t.kind == Kind::kMatrix && layout_.is_kept(t.value)) values.push_back(t.value);
      for (const StripTile &t : stage.results)
        given.insert(t.value);
    }
    const std::vector<Slot> slots = slots_with(bundles, values);
    const std::size_t all = jobs_.rows_of(slots.front().bundle.first);
    for (const StripStage &stage : pass.stages)
      load_lines(stage);
    for (std::size_t first = 0; first < all; first += cut_.block_rows) {
      const Rows rows{first, std::min(cut_.block_rows, all - first)};
      load_missing(slots, rows);
      for (const Slot &slot : slots) {
        add_block(pass, {slot.bundle, slot.at, rows.first, rows.count, given});
        block_set_ = (block_set_ + 1) % StripLayout::kBlockSets;
      }
    }
  }

  struct Block {
    PartBundle bundle;
    std::size_t slot, first, rows;
    const std::set<std::size_t> &given; ///< values that the pass gives
  };

  struct Placed {
    AreaTile tile;
    RegionRange regions;
  };
  Placed placed(std::size_t value, const Block &block) const {
    const StripLayout::Home &home = layout_.home(pass_, value);
    const std::size_t height = is_fp32(value) ? 2 : 1, lanes = lanes_of(block.bundle.count);
    Placed p;
    if (home.summed) {
      const SlotRows place = slot_rows(home.slot, block.slot, {block.first, block.rows});
      p.tile = area_tile(place.spm.row, place.spm.pstride, block.rows, lanes, is_fp32(value));
      p.tile.spm.rot = place.spm.rot;
      p.regions = place.regions;
    } else {
      const StripPlace place = layout_.block(block_set_, home.slot);
      p.tile = area_tile(place.row, layout_.block_pstride(static_cast<std::uint32_t>(height)), block.rows, lanes,
                         is_fp32(value));
      p.regions = {place.region, 1};
    }
    return p;
  }

  std::vector<isa::DmaCommand> block_dmas(std::size_t value, const Block &block, const Placed &p, bool stored) const {
    return matrix_dmas(value, block.bundle, block.first, block.rows, stored, p.tile.spm);
  }

  void add_block(const StripPass &pass, const Block &block) {
    StripItem item;
    std::set<std::size_t> loaded;
    for (const StripStage &stage : pass.stages)
      for (const StripTile &t : stage.operands) {
        if (t.kind != Kind::kMatrix || layout_.is_kept(t.value) || block.given.count(t.value) != 0) continue;
        if (!loaded.insert(t.value).second) continue;
        const Placed p = placed(t.value, block);
        load(block_dmas(t.value, block, p, false), p.regions);
      }
    const std::size_t folds = layout_.folds() > 1 ? std::max<std::size_t>(block.rows / npu_.lanes(), 1) : 1;
    for (const StripStage &stage : pass.stages) {
      if (folds > 1) item.runs.push_back(run_on_block(stage, block, 0, npu_.lanes(), folds));
      const std::size_t folded = folds > 1 ? folds * npu_.lanes() : 0;
      if (folded < block.rows) item.runs.push_back(run_on_block(stage, block, folded, block.rows - folded, 1));
    }
    for (const std::size_t value : block.given) {
      if (!jobs_.in_memory[value]) continue;
      const Placed p = placed(value, block);
      for (const isa::DmaCommand &dma : block_dmas(value, block, p, true))
        item.stores.push_back({dma, p.regions});
    }
    out_.items.push_back(std::move(item));
  }

  /// Rows `first` to `first + rows` of the block, and as many of each fold.
  StripRun run_on_block(const StripStage &stage, const Block &block, std::size_t first, std::size_t rows,
                        std::size_t folds) {
    const std::size_t parts = (folds - 1) * cut_.abreast + block.bundle.count; // in lanes, or as many folds of them
    Tiles tiles;
    const auto add = [&](const StripTile &t, std::vector<AreaTile> &of, std::vector<RegionRange> &regions) {
      if (t.kind != Kind::kMatrix) return add_copies(t, parts, of, regions);
      Placed p = placed(t.value, block);
      const std::uint32_t height = p.tile.fp32 ? 2 : 1;
      p.tile.rows = static_cast<std::uint32_t>(rows);
      p.tile.spm.row += static_cast<std::uint32_t>(first) * height;
      p.tile.spm.rot = static_cast<isa::Lane>((p.tile.spm.rot + first) % npu_.lanes());
      if (folds > 1) {
        p.tile.cols = static_cast<std::uint32_t>(lanes_of(parts));
        p.tile.spm.pstride = npu_.lanes() * height;
      }
      of.push_back(p.tile);
      regions.push_back(p.regions);
    };
    for (const StripTile &t : stage.operands)
      add(t, tiles.operands, tiles.reads);
    for (const StripTile &t : stage.results)
      add(t, tiles.results, tiles.writes);
    return run_of(stage, lanes_of(parts), rows, tiles);
  }

  std::size_t pass_ = 0; ///< of the strip
  std::size_t block_set_ = 0;
};

} // namespace

std::optional<StripItems> strip_items(const StripJobs &jobs, const OpJobs &of, const StripCut &cut,
                                      const StripLayout &layout, const std::vector<std::uint64_t> &addresses,
                                      const NpuConfig &npu) {
  return Planning(jobs, of, cut, layout, addresses, npu).run();
}

} // namespace gradweave::compiler
