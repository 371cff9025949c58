#include "compiler/strips/strip_items.hpp"

#include "compiler/strips/strip_writer.hpp"
#include "compiler/vector_stream/group/chain.hpp"
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

/// Parts of the rows that are worked on together.
struct Parts {
  std::size_t first = 0, count = 1;
};

/// Parts that are kept, in runs of several, evenly between those that pass through: their LOADs go beside the runs of
/// these. Every second pass has the latter in descending order, so that it begins with what is still there.
std::vector<Parts> order_of_parts(const StripJobs &jobs, std::size_t kept, std::size_t merged, bool backwards,
                                  PassKind kind) {
  const std::size_t parts = jobs.parts(), whole = jobs.rows / jobs.part_rows;
  std::vector<Parts> stay, pass, all;
  for (std::size_t p = 0; p < kept;) {
    const std::size_t most = kind == PassKind::kSums && p < whole ? std::min(merged, whole - p) : 1;
    stay.push_back({p, std::min(most, kept - p)});
    p += stay.back().count;
  }
  for (std::size_t p = kept; p < parts; ++p)
    pass.push_back({p, 1});
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
      for (const Parts &parts : order_of_parts(jobs_, layout_.slots().kept, cut_.merged, backwards_, pass.kind))
        if (pass.kind == PassKind::kSums)
          add_sums(pass, parts);
        else
          add_elements(pass, parts.first);
      backwards_ = !backwards_;
    }
  }

  std::size_t rows_of_part(std::size_t part) const {
    return std::min(jobs_.part_rows, jobs_.rows - part * jobs_.part_rows);
  }

  /// The slot of a part, which is loaded if its matrices are not there.
  std::size_t slot_with(std::size_t part, const std::vector<std::size_t> &values) {
    const StripSlots &slots = layout_.slots();
    std::size_t slot = part;
    if (part >= slots.kept) {
      const auto passing = held_.begin() + static_cast<std::ptrdiff_t>(slots.kept);
      const auto found = std::find(passing, held_.end(), part);
      if (found == held_.end()) next_passing_ = (next_passing_ + 1) % slots.passing;
      slot = found != held_.end() ? static_cast<std::size_t>(found - held_.begin()) : slots.kept + next_passing_;
    }
    if (held_[slot] != part) there_.erase(slot);
    held_[slot] = part;
    const auto replaced = [&](std::size_t value) {
      return std::find(values.begin(), values.end(), value) == values.end();
    };
    if (std::any_of(there_[slot].begin(), there_[slot].end(), replaced)) there_[slot].clear(); // another group's
    for (const std::size_t value : values)
      if (there_[slot].insert(value).second) {
        const StripPlace place = layout_.slot(slot_set_, value, slot);
        isa::DmaCommand d = matrix_dma(value, part * jobs_.part_rows, rows_of_part(part), false);
        d.spm = {place.row, layout_.pstride(value), 0};
        load(d, {place.region, layout_.blocks()});
      }
    return slot;
  }

  /// Lines that nothing has given yet.
  void load_lines(const StripStage &stage) {
    for (const StripTile &t : stage.operands) {
      if (t.kind != Kind::kLine && t.kind != Kind::kNumber) continue;
      if (!loaded_lines_.insert({t.kind == Kind::kNumber, t.value, t.index}).second) continue;
      for (std::size_t copy = 0; copy < layout_.copies(t); ++copy) {
        const StripPlace place = layout_.line(line_set_, t, t.index + copy);
        load(line_dma(t, false, place.row), {place.region, 1});
      }
    }
  }

  /// One run: a part's lanes are behind those of the part before, whole panels each.
  void add_sums(const StripPass &pass, const Parts &parts) {
    const StripStage &stage = pass.stages[parts.first];
    std::vector<std::size_t> values;
    for (const StripTile &t : stage.operands)
      if (t.kind == Kind::kMatrix) values.push_back(t.value);
    std::size_t slot = 0;
    for (std::size_t p = parts.count; p-- > 0;)
      slot = slot_with(parts.first + p, values);
    load_lines(stage);
    const std::size_t lanes = (parts.count - 1) * layout_.panels() * npu_.lanes() + cols_;
    Tiles tiles;
    for (const StripTile &t : stage.operands)
      if (t.kind == Kind::kMatrix) {
        const StripPlace place = layout_.slot(slot_set_, t.value, slot);
        tiles.operands.push_back(area_tile(place.row, layout_.pstride(t.value), stage.rows, lanes, is_fp32(t.value)));
        tiles.reads.push_back({place.region, parts.count * layout_.blocks()});
      } else {
        add_line(t, t.index, parts.count, tiles.operands, tiles.reads);
      }
    for (const StripTile &t : stage.results) {
      add_line(t, t.index, parts.count, tiles.results, tiles.writes);
      for (std::size_t p = 0; p < parts.count; ++p)
        loaded_lines_.insert({false, t.value, t.index + p});
    }
    StripItem item;
    item.runs.push_back(run_of(stage, lanes, stage.rows, tiles));
    out_.items.push_back(std::move(item));
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
      if (jobs_.in_memory[t.value]) item.stores.push_back({line_dma(t, true, place.row), {place.region, 1}});
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
    std::map<unsigned, std::size_t> states;
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
      add_states(part.restored, states, part.operands.size(), run, run.reads);
      add_states(part.saved, states, isa::kOperandSlots + part.results.size(), run, run.writes);
      item.runs.push_back(std::move(run));
    }
  }

  void add_states(const std::vector<unsigned> &registers, std::map<unsigned, std::size_t> &states, std::size_t slot,
                  StripRun &run, std::vector<RegionRange> &regions) {
    for (const unsigned reg : registers) {
      const std::size_t variable = states.try_emplace(reg, states.size()).first->second;
      const StripPlace place = layout_.state(variable);
      isa::VectorTile t;
      t.slot = static_cast<std::uint32_t>(slot++);
      t.spm = {place.row, 2, 0};
      t.rows = 1;
      t.cols = static_cast<std::uint32_t>(cols_);
      t.fp32 = t.same_step = true;
      run.tiles.push_back(t);
      regions.push_back({place.region, 1});
      touch(regions.back());
    }
  }

  /// Copies of a line for runs of several parts, or folds.
  void repeat(const StripTile &line, StripItem &item) {
    for (std::size_t copy = 1; copy < layout_.copies(line);) {
      const std::size_t count = std::min<std::size_t>(isa::vector::kOutputs, layout_.copies(line) - copy);
      Program program;
      Tiles tiles;
      add_line(line, line.index, 1, tiles.operands, tiles.reads);
      StripStage stage{&program, 0, 1, true, {line}, {}};
      for (std::size_t o = 0; o < count; ++o, ++copy) {
        isa::vector::Instruction i;
        i.d = static_cast<std::uint8_t>(isa::vector::kOutputCode + o);
        i.operands[0] = i.operands[1] = isa::vector::tile(0);
        program.sections[0].push_back(i);
        stage.results.push_back(line);
        add_line(line, line.index + copy, 1, tiles.results, tiles.writes);
      }
      item.runs.push_back(run_of(stage, cols_, 1, tiles));
    }
  }

  /// An item a block.
  void add_elements(const StripPass &pass, std::size_t part) {
    std::vector<std::size_t> values;
    std::set<std::size_t> given;
    for (const StripStage &stage : pass.stages) {
      for (const StripTile &t : stage.operands)
        if (t.kind == Kind::kMatrix && layout_.is_kept(t.value)) values.push_back(t.value);
      for (const StripTile &t : stage.results)
        given.insert(t.value);
    }
    const std::size_t slot = slot_with(part, values);
    for (const StripStage &stage : pass.stages)
      load_lines(stage);
    for (std::size_t first = 0; first < rows_of_part(part); first += cut_.block_rows) {
      const std::size_t rows = std::min(cut_.block_rows, rows_of_part(part) - first);
      add_block(pass, {part, slot, first, rows, given});
      block_set_ = (block_set_ + 1) % StripLayout::kBlockSets;
    }
  }

  struct Block {
    std::size_t part, slot, first, rows;
    const std::set<std::size_t> &given; ///< values that the pass gives
  };

  struct Placed {
    AreaTile tile;
    RegionRange regions;
  };
  Placed placed(std::size_t value, const Block &block) const {
    const StripLayout::Home &home = layout_.home(pass_, value);
    const std::size_t height = is_fp32(value) ? 2 : 1;
    Placed p;
    if (home.summed) {
      const StripPlace place = layout_.slot(slot_set_, home.slot, block.slot);
      p.tile = area_tile(place.row + static_cast<std::uint32_t>(block.first * height), layout_.pstride(home.slot),
                         block.rows, cols_, is_fp32(value));
      p.tile.spm.rot = static_cast<std::uint8_t>(block.first % npu_.lanes());
      p.regions = {place.region + block.first / cut_.block_rows, 1};
    } else {
      const StripPlace place = layout_.block(block_set_, home.slot);
      p.tile = area_tile(place.row, layout_.block_pstride(static_cast<std::uint32_t>(height)), block.rows, cols_,
                         is_fp32(value));
      p.regions = {place.region, 1};
    }
    return p;
  }

  void add_block(const StripPass &pass, const Block &block) {
    const std::size_t row = block.part * jobs_.part_rows + block.first;
    StripItem item;
    std::set<std::size_t> loaded;
    for (const StripStage &stage : pass.stages)
      for (const StripTile &t : stage.operands) {
        if (t.kind != Kind::kMatrix || layout_.is_kept(t.value) || block.given.count(t.value) != 0) continue;
        if (!loaded.insert(t.value).second) continue;
        const Placed p = placed(t.value, block);
        isa::DmaCommand d = matrix_dma(t.value, row, block.rows, false);
        d.spm = p.tile.spm;
        load(d, p.regions);
      }
    const std::size_t lanes_of = npu_.lanes();
    const std::size_t folds = layout_.folds() > 1 && block.rows % lanes_of == 0 ? block.rows / lanes_of : 1;
    const std::size_t lanes = (folds - 1) * lanes_of + cols_;
    for (const StripStage &stage : pass.stages) {
      Tiles tiles;
      const auto add = [&](const StripTile &t, std::vector<AreaTile> &of, std::vector<RegionRange> &regions) {
        if (t.kind != Kind::kMatrix) return add_line(t, t.index, folds, of, regions);
        Placed p = placed(t.value, block);
        if (folds > 1) {
          p.tile.rows = npu_.lanes();
          p.tile.cols = static_cast<std::uint32_t>(lanes);
          p.tile.spm.pstride = npu_.lanes() * (p.tile.fp32 ? 2 : 1);
        }
        of.push_back(p.tile);
        regions.push_back(p.regions);
      };
      for (const StripTile &t : stage.operands)
        add(t, tiles.operands, tiles.reads);
      for (const StripTile &t : stage.results)
        add(t, tiles.results, tiles.writes);
      item.runs.push_back(run_of(stage, lanes, block.rows / folds, tiles));
    }
    for (const std::size_t value : block.given) {
      if (!jobs_.in_memory[value]) continue;
      const Placed p = placed(value, block);
      isa::DmaCommand d = matrix_dma(value, row, block.rows, true);
      d.spm = p.tile.spm;
      item.stores.push_back({d, p.regions});
    }
    out_.items.push_back(std::move(item));
  }

  static constexpr std::size_t kNothing = ~std::size_t{0};
  const StripCut &cut_;
  std::size_t pass_ = 0; ///< of the strip
  std::size_t slot_set_ = 0, block_set_ = 0, next_passing_ = 0;
  bool backwards_ = false;
  std::set<LineName> loaded_lines_;                    ///< that are there: of the strip
  std::vector<std::size_t> held_;                      ///< of each slot, the part
  std::map<std::size_t, std::set<std::size_t>> there_; ///< of each slot, the values of the part
};

} // namespace

std::optional<StripItems> strip_items(const StripJobs &jobs, const OpJobs &of, const StripCut &cut,
                                      const StripLayout &layout, const std::vector<std::uint64_t> &addresses,
                                      const NpuConfig &npu) {
  return Planning(jobs, of, cut, layout, addresses, npu).run();
}

} // namespace gradweave::compiler
