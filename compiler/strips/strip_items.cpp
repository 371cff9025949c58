#include "compiler/strips/strip_items.hpp"

#include "compiler/strips/strip_writer.hpp"
#include "compiler/vector_stream/group/chain.hpp"
#include "compiler/vector_stream/group/result_slice.hpp"
#include "compiler/vector_stream/programs.hpp"

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

/// Bundles that are worked on together.
struct Bundles {
  std::size_t first = 0, count = 1;
};

/// Bundles that are kept, in runs of several, evenly between those that pass through: their LOADs go beside the runs of
/// these. Every second pass has the latter in descending order, so that it begins with what is still there. `whole`:
/// how many have parts of all rows.
std::vector<Bundles> order_of_bundles(const StripLayout &layout, std::size_t whole, std::size_t merged, bool backwards,
                                      PassKind kind) {
  const std::size_t kept = layout.slots().kept;
  std::vector<Bundles> stay, pass, all;
  for (std::size_t b = 0; b < kept;) {
    const std::size_t most = kind == PassKind::kSums && b < whole ? std::min(merged, whole - b) : 1;
    stay.push_back({b, std::min(most, kept - b)});
    b += stay.back().count;
  }
  for (std::size_t b = kept; b < layout.bundles(); ++b)
    pass.push_back({b, 1});
  if (backwards) std::reverse(pass.begin(), pass.end());
  for (std::size_t i = 0, taken = 0; i < pass.size(); ++i) {
    all.push_back(pass[i]);
    for (; taken < (i + 1) * stay.size() / pass.size(); ++taken)
      all.push_back(stay[taken]);
  }
  return pass.empty() ? stay : all;
}

/// Of a line or a number, told from all others of its value.
struct LineName {
  bool number;
  std::size_t value, index;
  bool operator<(const LineName &o) const {
    return std::tie(number, value, index) < std::tie(o.number, o.value, o.index);
  }
};

class Planning : StripWriter {
public:
  Planning(const StripJobs &jobs, const OpJobs &of, const StripCut &cut, const StripLayout &layout,
           const std::vector<std::uint64_t> &addresses, const NpuConfig &npu)
      : StripWriter(jobs, of, layout, addresses, npu), cut_(cut) {}

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
    slot_set_ = strip % layout_.slots().sets;
    loaded_lines_.clear();
    there_.clear();
    held_.assign(layout_.slots().kept + layout_.slots().passing, kNothing);
    backwards_ = false;
    for (pass_ = 0; pass_ < jobs_.passes.size(); ++pass_) {
      const StripPass &pass = jobs_.passes[pass_];
      if (pass.kind == PassKind::kLines) {
        add_lines(pass.stages.front());
        continue;
      }
      const std::size_t whole = divide_up(jobs_.rows / jobs_.part_rows, cut_.abreast);
      const std::size_t merged = divide_up(cut_.merged, cut_.abreast);
      for (const Bundles &bundles : order_of_bundles(layout_, whole, merged, backwards_, pass.kind))
        if (pass.kind == PassKind::kSums)
          add_sums(pass, bundles);
        else
          add_elements(pass, bundles.first);
      backwards_ = !backwards_;
    }
  }

  /// The slot that a bundle has, and the values of which it is not there yet.
  struct Slot {
    PartBundle bundle;
    std::size_t at = 0;
    std::vector<std::size_t> missing;
  };
  Slot slot_with(std::size_t which, const std::vector<std::size_t> &values) {
    const StripSlots &slots = layout_.slots();
    Slot result{layout_.bundle(which), which, {}};
    std::size_t &slot = result.at;
    if (which >= slots.kept) {
      const auto passing = held_.begin() + static_cast<std::ptrdiff_t>(slots.kept);
      const auto found = std::find(passing, held_.end(), which);
      if (found == held_.end()) next_passing_ = (next_passing_ + 1) % slots.passing;
      slot = found != held_.end() ? static_cast<std::size_t>(found - held_.begin()) : slots.kept + next_passing_;
    }
    if (held_[slot] != which) there_.erase(slot);
    held_[slot] = which;
    const auto replaced = [&](std::size_t value) {
      return std::find(values.begin(), values.end(), value) == values.end();
    };
    if (std::any_of(there_[slot].begin(), there_[slot].end(), replaced)) there_[slot].clear(); // another group's
    for (const std::size_t value : values)
      if (there_[slot].insert(value).second) result.missing.push_back(value);
    return result;
  }

  /// Where rows of a slot lie.
  struct SlotRows {
    isa::SpmTile spm;
    RegionRange regions;
  };
  /// Rows of the slot, from the begin of a block on: of one block, or of all.
  struct Rows {
    std::size_t first, count;
  };
  SlotRows slot_rows(std::size_t value, std::size_t slot, const Rows &rows) const {
    const StripPlace place = layout_.slot(slot_set_, value, slot);
    return {{place.row + static_cast<std::uint32_t>(rows.first * (is_fp32(value) ? 2 : 1)),
             layout_.pstride(value, slot), static_cast<std::uint8_t>(rows.first % npu_.lanes())},
            {place.region + rows.first / cut_.block_rows, divide_up(rows.count, cut_.block_rows)}};
  }

  void load_missing(const Slot &slot, const Rows &rows) {
    for (const std::size_t value : slot.missing) {
      const SlotRows place = slot_rows(value, slot.at, rows);
      load(matrix_dmas(value, slot.bundle, rows.first, rows.count, false, place.spm), place.regions);
    }
  }

  /// Lines that nothing has given yet.
  void load_lines(const StripStage &stage) {
    for (const StripTile &t : stage.operands) {
      if (t.kind != Kind::kLine && t.kind != Kind::kNumber) continue;
      if (!loaded_lines_.insert({t.kind == Kind::kNumber, t.value, t.index}).second) continue;
      StripPlace place = layout_.line(line_set_, t, t.index);
      const std::size_t first = place.region;
      std::vector<isa::DmaCommand> dmas{line_dma(t, false, place)};
      for (std::size_t copy = layout_.first_is_line() ? 1 : 0; copy < layout_.copies(t) && layout_.copies(t) > 1;
           ++copy) {
        place = layout_.copy(line_set_, t, copy);
        dmas.push_back(line_dma(t, false, place));
      }
      load(dmas, {first, place.region + 1 - first});
    }
  }

  /// One run: a bundle's lanes are behind those of the bundle before, whole panels each.
  void add_sums(const StripPass &pass, const Bundles &bundles) {
    const PartBundle last = layout_.bundle(bundles.first + bundles.count - 1);
    PartBundle parts = layout_.bundle(bundles.first);
    parts.count = last.first + last.count - parts.first;
    const StripStage &stage = pass.stages[parts.first];
    std::vector<std::size_t> values;
    for (const StripTile &t : stage.operands)
      if (t.kind == Kind::kMatrix) values.push_back(t.value);
    std::vector<Slot> slots;
    for (std::size_t b = 0; b < bundles.count; ++b)
      slots.push_back(slot_with(bundles.first + b, values));
    const std::size_t step = cut_.split ? cut_.block_rows : stage.rows;
    std::vector<Program> sums{*stage.program};
    if (step < stage.rows) sums = chains_of(stage);
    states_.clear();
    for (std::size_t first = 0; first < stage.rows; first += step) {
      const Rows rows{first, std::min(step, stage.rows - first)};
      for (const Slot &slot : slots)
        load_missing(slot, rows);
      load_lines(stage);
      StripItem item;
      for (std::size_t sum = 0; sum < sums.size(); ++sum)
        item.runs.push_back(run_of_sums(stage, {sums[sum], sum}, slots, rows, parts.count));
      out_.items.push_back(std::move(item));
    }
    for (const StripTile &t : stage.results)
      for (std::size_t p = 0; p < parts.count; ++p)
        loaded_lines_.insert({false, t.value, t.index + p});
  }

  struct Chain {
    const Program &program;
    std::size_t number; ///< of those that are under way
  };

  /// Some of a stage's rows, of all that are summed at once. Registers go on from those before to those behind.
  StripRun run_of_sums(const StripStage &stage, const Chain &chain, const std::vector<Slot> &slots, const Rows &rows,
                       std::size_t parts) {
    const bool first = rows.first == 0, last = rows.first + rows.count == stage.rows;
    ChainPart part;
    if (first && last) {
      part.program = chain.program;
      for (unsigned o = 0; o < stage.operands.size(); ++o)
        part.operands.push_back(o);
      for (unsigned o = 0; o < stage.results.size(); ++o)
        part.results.push_back(o);
    } else {
      part = chain_part(chain.program, loops_of(chain.program).front(), first, last,
                        static_cast<std::uint32_t>(rows.first));
    }
    const std::size_t lanes = lanes_of(parts);
    StripStage some{&part.program, 0, rows.count, false, {}, {}};
    Tiles tiles;
    for (const unsigned o : part.operands) {
      const StripTile &t = some.operands.emplace_back(stage.operands[o]);
      if (t.kind != Kind::kMatrix) {
        add_copies(t, parts, tiles.operands, tiles.reads);
        continue;
      }
      for (const Slot &slot : slots) {
        const SlotRows place = slot_rows(t.value, slot.at, rows);
        tiles.reads.push_back(place.regions);
        if (slot.at != slots.front().at) continue;
        tiles.operands.push_back(area_tile(place.spm.row, place.spm.pstride, rows.count, lanes, is_fp32(t.value)));
        tiles.operands.back().spm.rot = place.spm.rot;
      }
    }
    for (const unsigned o : part.results) {
      const StripTile &t = some.results.emplace_back(stage.results[o]);
      add_line(t, t.index, parts, tiles.results, tiles.writes);
    }
    StripRun run = run_of(some, lanes, rows.count, tiles);
    add_states(part.restored, chain.number, lanes, part.operands.size(), run, run.reads);
    add_states(part.saved, chain.number, lanes, isa::kOperandSlots + part.results.size(), run, run.writes);
    return run;
  }

  /// A program for each of the stage's results: with variables of all there would be too many tiles. It can be cut
  /// unless what is run behind the loop reads rows: it has the first step's.
  static std::vector<Program> chains_of(const StripStage &stage) {
    const std::vector<unsigned> loops = loops_of(*stage.program);
    if (loops.size() != 1) throw std::length_error("a chain over parts has several loops");
    for (unsigned s = loops.front() + 1; s < isa::vector::kSections; ++s)
      for (std::size_t o = 0; o < stage.operands.size(); ++o)
        if ((isa::vector::mask_of(stage.program->sections[s]) >> o & 1U) != 0 &&
            stage.operands[o].kind == Kind::kMatrix)
          throw std::length_error("what stands behind a chain's loop reads rows");
    std::vector<Program> chains;
    for (unsigned o = 0; o < stage.results.size(); ++o) {
      chains.push_back(result_slice(*stage.program, o));
      if (loops_of(chains.back()).size() != 1) throw std::length_error("a result needs no loop");
    }
    return chains;
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
    for (const StripTile &t : stage.results) {
      loaded_lines_.insert({false, t.value, t.index});
      const StripPlace place = layout_.line(line_set_, t, t.index);
      if (jobs_.in_memory[t.value]) item.stores.push_back({line_dma(t, true, place), {place.region, 1}});
      repeat(t, item);
    }
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
    states_.clear();
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

  void add_states(const std::vector<unsigned> &registers, std::size_t chain, std::size_t lanes, std::size_t slot,
                  StripRun &run, std::vector<RegionRange> &regions) {
    for (const unsigned reg : registers) {
      const std::size_t variable = states_.try_emplace({chain, reg}, states_.size()).first->second;
      if (variable >= StripLayout::kStateLines) throw std::length_error("chains have more variables than places");
      const StripPlace place = layout_.state(variable);
      isa::VectorTile t;
      t.slot = static_cast<std::uint32_t>(slot++);
      t.spm = {place.row, 2, 0};
      t.rows = 1;
      t.cols = static_cast<std::uint32_t>(lanes);
      t.fp32 = t.same_step = true;
      run.tiles.push_back(t);
      regions.push_back({place.region, 1});
      touch(regions.back());
    }
  }

  /// Copies of a line for runs of several parts, or folds.
  void repeat(const StripTile &line, StripItem &item) {
    if (layout_.copies(line) == 1) return;
    for (std::size_t first = 0; first < cut_.abreast; ++first) {
      std::vector<std::size_t> copies; // of which no two share a panel
      for (std::size_t copy = first; copy < layout_.copies(line); copy += cut_.abreast)
        if (copy > 0 || !layout_.first_is_line()) copies.push_back(copy);
      repeat(line, copies, item);
    }
  }

  void repeat(const StripTile &line, const std::vector<std::size_t> &copies, StripItem &item) {
    for (std::size_t at = 0; at < copies.size();) {
      const std::size_t count = std::min<std::size_t>(isa::vector::kOutputs, copies.size() - at);
      Program program;
      Tiles tiles;
      add_line(line, line.index, 1, tiles.operands, tiles.reads);
      StripStage stage{&program, 0, 1, true, {line}, {}};
      for (std::size_t o = 0; o < count; ++o, ++at) {
        isa::vector::Instruction i;
        i.d = static_cast<std::uint8_t>(isa::vector::kOutputCode + o);
        i.operands[0] = i.operands[1] = isa::vector::tile(0);
        program.sections[0].push_back(i);
        stage.results.push_back(line);
        const StripPlace place = layout_.copy(line_set_, line, copies[at]);
        tiles.results.push_back(area_tile(place.row, 2, 1, cols_, is_fp32(line.value)));
        tiles.results.back().spm.rot = static_cast<std::uint8_t>(place.lane);
        tiles.writes.push_back({place.region, 1});
      }
      item.runs.push_back(run_of(stage, cols_, 1, tiles));
    }
  }

  /// An item a block.
  void add_elements(const StripPass &pass, std::size_t which) {
    std::vector<std::size_t> values;
    std::set<std::size_t> given;
    for (const StripStage &stage : pass.stages) {
      for (const StripTile &t : stage.operands)
        if (t.kind == Kind::kMatrix && layout_.is_kept(t.value)) values.push_back(t.value);
      for (const StripTile &t : stage.results)
        given.insert(t.value);
    }
    const Slot slot = slot_with(which, values);
    const std::size_t all = jobs_.rows_of(slot.bundle.first);
    if (!cut_.split) load_missing(slot, {0, all});
    for (const StripStage &stage : pass.stages)
      load_lines(stage);
    for (std::size_t first = 0; first < all; first += cut_.block_rows) {
      const Rows rows{first, std::min(cut_.block_rows, all - first)};
      if (cut_.split) load_missing(slot, rows);
      add_block(pass, {slot.bundle, slot.at, rows.first, rows.count, given});
      block_set_ = (block_set_ + 1) % StripLayout::kBlockSets;
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
      p.tile.spm.rot = static_cast<std::uint8_t>((p.tile.spm.rot + first) % npu_.lanes());
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

  static constexpr std::size_t kNothing = ~std::size_t{0};
  const StripCut &cut_;
  std::size_t pass_ = 0; ///< of the strip
  std::size_t slot_set_ = 0, block_set_ = 0, next_passing_ = 0;
  bool backwards_ = false;
  std::set<LineName> loaded_lines_;                                ///< that are there: of the strip
  std::map<std::pair<std::size_t, unsigned>, std::size_t> states_; ///< of each chain's registers, the place
  std::vector<std::size_t> held_;                                  ///< of each slot, the part
  std::map<std::size_t, std::set<std::size_t>> there_;             ///< of each slot, the values of the part
};

} // namespace

std::optional<StripItems> strip_items(const StripJobs &jobs, const OpJobs &of, const StripCut &cut,
                                      const StripLayout &layout, const std::vector<std::uint64_t> &addresses,
                                      const NpuConfig &npu) {
  return Planning(jobs, of, cut, layout, addresses, npu).run();
}

} // namespace gradweave::compiler
