#include "compiler/epilogue/epilogue_areas.hpp"

#include "compiler/vector_stream/group/group.hpp"
#include "compiler/vector_stream/stage/programs.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace gradweave::compiler {
namespace {

/// How result tiles of a size are cut, and the first row of each slot in a place.
struct TileCut {
  AreaShape shape;
  std::vector<std::uint32_t> slot_rows;
};

/// A stage as it is walked in areas of a shape, and the number of its program.
struct PlannedWalk {
  StageWalk walk;
  Stage stage;
  std::size_t program = 0;
};

/// An epilogue.
struct Planned {
  EpilogueTiles tiles;
  std::map<std::array<std::size_t, 3>, PlannedWalk> walks;         ///< by stage, lanes and steps
  std::map<std::pair<std::uint32_t, std::uint32_t>, TileCut> cuts; ///< by rows and columns of the result tile
};

/// A tile of the product's result in the scratchpad.
struct ResultTile {
  isa::DmaCommand dma;
  std::uint32_t row = 0, col = 0;
};

class Cutting {
public:
  Cutting(const std::vector<Epilogue> &epilogues, const EpilogueRoom &room, const NpuConfig &npu)
      : epilogues_(epilogues), room_(room), npu_(npu),
        place_rows_(static_cast<std::uint32_t>(room.rows / kEpiloguePlaces / 2 * 2)), planned_(epilogues.size()) {}

  EpilogueAreas run(const std::vector<isa::Command> &product, const std::vector<ResultStore> &stores) {
    std::vector<ResultTile> tiles;
    for (const ResultStore &store : stores)
      tiles.push_back({std::get<isa::DmaCommand>(isa::decode(product[store.command])->op), store.row, store.col});
    for (std::size_t e = 0; e < epilogues_.size(); ++e)
      if (!plan(e, tiles, stores)) return {};
    for (std::size_t i = 0; i < stores.size(); ++i) {
      cut(stores[i].epilogue, tiles[i]);
      out_.ends.push_back(out_.areas.size());
    }
    if (words_of(out_.programs) > isa::kProgramWords) return {};
    return std::move(out_);
  }

private:
  /// Tiles, and how result tiles are cut. False: it does not fit.
  bool plan(std::size_t e, const std::vector<ResultTile> &tiles, const std::vector<ResultStore> &stores) {
    const Epilogue &epilogue = epilogues_[e];
    const ResultMatrix matrix{epilogue.result, epilogue.rows, epilogue.cols};
    Planned &planned = planned_[e];
    for (std::size_t i = 0; i < stores.size(); ++i) {
      if (stores[i].epilogue != e) continue;
      const isa::DmaCommand &dma = tiles[i].dma;
      if (planned.tiles.stages.empty())
        planned.tiles = epilogue_tiles(stages_on_matrix(epilogue.jobs, matrix), matrix, dma.fp32, epilogue.in_memory);
      const auto [at, is_new] = planned.cuts.try_emplace({dma.rows, dma.cols});
      if (!is_new) continue;
      const auto shape = area_shape(planned.tiles, dma.rows, dma.cols, place_rows_, npu_);
      if (!shape) return false;
      at->second.shape = *shape;
      std::uint32_t row = 0;
      for (const EpilogueSlot &slot : planned.tiles.slots) {
        at->second.slot_rows.push_back(row);
        row += slot.rows(shape->lanes, shape->steps, npu_);
      }
    }
    return true;
  }

  void cut(std::size_t e, const ResultTile &tile) {
    const AreaShape shape = planned_[e].cuts.at({tile.dma.rows, tile.dma.cols}).shape;
    for (std::size_t col = 0; col < tile.dma.cols; col += shape.lanes)
      for (std::size_t row = 0; row < tile.dma.rows; row += shape.steps)
        add_area(e, tile,
                 {col, std::min(shape.lanes, tile.dma.cols - col), row, std::min(shape.steps, tile.dma.rows - row)});
  }

  /// `part`: of the result tile.
  void add_area(std::size_t e, const ResultTile &tile, const StridedArea &part) {
    Planned &planned = planned_[e];
    const std::vector<std::uint32_t> &slot_rows = planned.cuts.at({tile.dma.rows, tile.dma.cols}).slot_rows;
    const StridedArea in_matrix{tile.col + part.lane, part.lanes, tile.row + part.step, part.steps};
    std::vector<AreaTile> tiles;
    for (const EpilogueTile &t : planned.tiles.tiles) {
      AreaTile at = tile_of(t.of, in_matrix);
      at.spm = t.slot == EpilogueTile::kResult ? in_result(tile.dma, part) : in_slot(slot_rows[t.slot], at);
      tiles.push_back(at);
    }
    EpilogueArea area;
    std::vector<isa::DmaCommand> &held = held_[out_.areas.size() % kEpiloguePlaces], lines;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const EpilogueTile &t = planned.tiles.tiles[i];
      const isa::DmaCommand load = transfer(e, tiles[i], false);
      if (t.loaded && !t.is_matrix()) lines.push_back(load);
      if (t.loaded && (t.is_matrix() || !has(held, load))) area.loads.push_back(load);
      if (t.stored) area.stores.push_back(transfer(e, tiles[i], true));
    }
    held = std::move(lines);
    for (std::size_t s = 0; s < planned.tiles.stages.size(); ++s)
      area.runs.push_back(run_of(planned, s, part, tiles));
    out_.areas.push_back(std::move(area));
  }

  static bool has(const std::vector<isa::DmaCommand> &held, const isa::DmaCommand &load) {
    return std::any_of(held.begin(), held.end(), [&](const isa::DmaCommand &h) {
      return h.dram_addr == load.dram_addr && h.cols == load.cols && h.fp32 == load.fp32 && h.spm.row == load.spm.row;
    });
  }

  /// A part of the product's tile, as a tile: its columns begin with a panel.
  isa::SpmTile in_result(const isa::DmaCommand &dma, const StridedArea &part) const {
    isa::SpmTile spm = dma.spm;
    spm.row += static_cast<std::uint32_t>(part.lane / npu_.lanes() * spm.pstride + part.step * (dma.fp32 ? 2 : 1));
    spm.rot = static_cast<isa::Lane>((spm.rot + part.step) % npu_.lanes());
    return spm;
  }

  isa::SpmTile in_slot(std::uint32_t row, const AreaTile &tile) const {
    const auto place = static_cast<std::uint32_t>(out_.areas.size() % kEpiloguePlaces);
    return {room_.first_row + place * place_rows_ + row, tile.rows * (tile.fp32 ? 2 : 1), 0};
  }

  isa::DmaCommand transfer(std::size_t e, const AreaTile &t, bool store) const {
    const std::uint32_t bytes = t.fp32 ? 4 : 2;
    isa::DmaCommand d;
    d.store = store;
    d.fp32 = t.fp32;
    d.dram_addr = epilogues_[e].addresses.at(t.value) + t.first * bytes;
    d.pitch = t.rows == 1 ? 0 : static_cast<std::uint32_t>(t.pitch * bytes);
    d.rows = t.rows;
    d.cols = t.cols;
    d.spm = t.spm;
    return d;
  }

  /// Areas of few shapes follow one another by the thousand.
  const PlannedWalk &walk_of_stage(Planned &planned, std::size_t s, const StridedArea &part) {
    const auto [at, is_new] = planned.walks.try_emplace({s, part.lanes, part.steps});
    PlannedWalk &known = at->second;
    if (!is_new) return known;
    const Stage &stage = planned.tiles.stages[s];
    known.walk = walk_of(stage, part.lanes, part.steps, npu_);
    WalkedStage walked = walked_stage(stage, known.walk);
    known.stage = std::move(walked.stage);
    known.program = place_of(walked.program, out_.programs);
    return known;
  }

  EpilogueRun run_of(Planned &planned, std::size_t s, const StridedArea &part, const std::vector<AreaTile> &tiles) {
    const auto &[walk, walked, program] = walk_of_stage(planned, s, part);
    EpilogueRun run{program,
                    static_cast<std::uint32_t>(walk.exchanged ? part.steps : part.lanes),
                    static_cast<std::uint32_t>(walk.exchanged ? part.lanes : part.steps),
                    {}};
    for (std::uint32_t i = 0; i < walked.operands.size(); ++i)
      run.tiles.push_back(view_of(walked.operands[i], tiles[planned.tiles.operands[s][i]], i));
    for (std::uint32_t o = 0; o < walked.results.size(); ++o)
      run.tiles.push_back(view_of(walked.results[o], tiles[planned.tiles.results[s][o]], isa::kOperandSlots + o));
    return run;
  }

  const std::vector<Epilogue> &epilogues_;
  const EpilogueRoom &room_;
  const NpuConfig &npu_;
  std::uint32_t place_rows_;
  std::vector<Planned> planned_;
  std::array<std::vector<isa::DmaCommand>, kEpiloguePlaces> held_; ///< LOADs of lines that each place has
  EpilogueAreas out_;
};

} // namespace

EpilogueAreas epilogue_areas(const std::vector<isa::Command> &product, const std::vector<ResultStore> &stores,
                             const std::vector<Epilogue> &epilogues, const EpilogueRoom &room, const NpuConfig &npu) {
  return Cutting(epilogues, room, npu).run(product, stores);
}

} // namespace gradweave::compiler
