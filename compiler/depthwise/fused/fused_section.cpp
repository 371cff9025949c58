#include "compiler/depthwise/fused/fused_section.hpp"

#include "compiler/depthwise/fused/fused_cycles.hpp"
#include "compiler/depthwise/fused/fused_runs.hpp"
#include "compiler/vector_stream/pair_semaphores.hpp"
#include "compiler/vector_stream/stage/programs.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::compiler {
namespace {

using depthwise::FusedLayout;
using depthwise::FusedMap;
using depthwise::FusedRows;

using Tokens = std::vector<std::uint8_t>;

class FusedSection {
public:
  FusedSection(const std::vector<Layer> &layers, const FusedLayout &layout, const FusedTensors &tensors,
               const Machine &npu, const SectionRoom &room)
      : layers_(layers), layout_(layout), tensors_(tensors), npu_(npu), room_(room), runs_(layers, layout, npu) {
    for (const Layer &layer : layers)
      if (layer.vector) images_ = layer.conv->batch;
    areas_ = images_ * layout.areas();
  }

  std::vector<FusedPiece> run() {
    begin();
    for (std::size_t area = 0; area < areas_; ++area)
      run_area(area);
    return std::move(pieces_);
  }

private:
  SectionEngine engine_of(std::size_t layer) const {
    return layers_[layer].vector ? SectionEngine::kUnit : SectionEngine::kArray;
  }
  std::size_t last() const { return layers_.size() - 1; }

  /// Rows of all maps.
  std::vector<FusedRows> rows_of(std::size_t area) const {
    const std::size_t first = area % layout_.areas() * layout_.rows;
    return depthwise::fused_rows(layers_, {static_cast<std::int64_t>(first),
                                           std::min<std::size_t>(layout_.rows, layout_.maps.back().height - first)});
  }

  void add(Tokens &tokens, SectionEngine from, SectionEngine to) const {
    if (from != SectionEngine::kUnit || to != SectionEngine::kUnit)
      tokens.push_back(pair_semaphore(room_.first_semaphore, from, to));
  }

  // Commands, of which the first of several waits and the last posts.

  struct Step {
    FusedUse use;
    Tokens waits, posts;
  };
  template <typename Op> void emit(const Op &op, const FusedUse &use, const Tokens &waits, const Tokens &posts) {
    isa::Sync sync;
    for (std::size_t i = 0; i < waits.size(); ++i)
      sync.waits.at(i) = {waits[i], 1};
    std::copy(posts.begin(), posts.end(), sync.posts.begin());
    piece_.commands.push_back(isa::encode({op, sync, 0}));
    piece_.uses.push_back(use);
  }
  void emit_transfers(const std::vector<isa::DmaCommand> &all, const Step &step) {
    for (std::size_t i = 0; i < all.size(); ++i)
      emit(all[i], step.use, i == 0 ? step.waits : Tokens(), i + 1 == all.size() ? step.posts : Tokens());
  }
  void emit_runs(const std::vector<AreaRun> &runs, const Step &step) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      std::vector<isa::VectorTile> tiles = runs[i].tiles;
      for (isa::VectorTile &tile : tiles)
        tile.spm.row += room_.first_row;
      for (const isa::TileCommand &command : tile_commands(tiles))
        emit(command, step.use, {}, {});
      isa::VectorCommand v;
      v.first = first_words_[runs[i].program];
      v.elements = runs[i].elements;
      v.steps = runs[i].steps;
      emit(v, step.use, i == 0 ? step.waits : Tokens(), i + 1 == runs.size() ? step.posts : Tokens());
    }
  }
  void end_piece() { pieces_.push_back(std::exchange(piece_, {})); }

  isa::SpmTile tile_at(const PlaceTile &tile, std::size_t row) const {
    isa::SpmTile spm = transfer_tile(tile, row, 0, npu_.lanes());
    spm.row += room_.first_row;
    return spm;
  }

  /// Weights, and what is made of them; zeros beside images.
  void begin() {
    std::vector<std::pair<FusedUse, isa::DmaCommand>> loads;
    for (const bool deep : {true, false})
      for (std::size_t i = 0; i < layers_.size(); ++i)
        if (layers_[i].vector == deep) loads.push_back({{index(i), Tensor::kW}, weights_of(i)});
    Tokens loaded;
    add(loaded, SectionEngine::kLoad, SectionEngine::kUnit);
    for (const auto &[use, load] : loads)
      emit(load, use, {}, &load == &loads.back().second ? loaded : Tokens());
    end_piece(); // what follows waits, and would hold up others
    emit_programs();
    emit_runs(runs_.preparation(), {{index(first_deep()), Tensor::kY}, loaded, {}});
    end_piece();
  }

  void emit_programs() {
    WrittenPrograms written = write_programs(runs_.programs());
    for (const isa::ProgramCommand &p : written.commands)
      emit(p, {index(first_deep()), Tensor::kY}, {}, {});
    first_words_ = std::move(written.first_words);
  }

  static std::uint32_t index(std::size_t layer) { return static_cast<std::uint32_t>(layer); }
  std::size_t first_deep() const {
    return static_cast<std::size_t>(
        std::find_if(layers_.begin(), layers_.end(), [](const Layer &l) { return l.vector; }) - layers_.begin());
  }

  isa::DmaCommand weights_of(std::size_t i) const {
    const Layer &layer = layers_[i];
    isa::DmaCommand d;
    d.dram_addr = tensors_.weights[i].address;
    d.rows = layer.vector ? layer.conv->channels : layer.k;
    d.cols = layer.vector ? layer.k : layer.n;
    d.pitch = layer.vector ? layer.k * 2 : tensors_.weights[i].pitch;
    d.spm = tile_at(layout_.weights[i], 0);
    return d;
  }

  /// Rows of the image between memory and a map, a command a column.
  std::vector<isa::DmaCommand> columns(bool store, std::size_t area, const FusedMap &map, const PlaceTile &tile,
                                       const FusedRows &rows) const {
    const FusedMatrix &matrix = store ? tensors_.y : tensors_.x;
    const std::size_t begin = rows.begin(), end = rows.end(map.height);
    const std::size_t pixel = (area / layout_.areas() * map.height +
                               static_cast<std::size_t>(rows.first + static_cast<std::int64_t>(begin))) *
                              map.width;
    std::vector<isa::DmaCommand> all;
    for (std::size_t x = 0; x < map.width; ++x) {
      isa::DmaCommand d;
      d.store = store;
      d.dram_addr = matrix.address + (pixel + x) * matrix.pitch;
      d.rows = static_cast<std::uint32_t>(end - begin);
      d.pitch = d.rows == 1 ? 0 : map.width * matrix.pitch;
      d.cols = map.channels;
      d.spm = tile_at(tile, map.at(x) + map.first + begin);
      all.push_back(d);
    }
    return all;
  }

  const PlaceTile &input_of(std::size_t area) const {
    return area % 2 == 0 ? layout_.maps.front().tile : layout_.other_input;
  }

  void load(std::size_t area) {
    Step step{{0, Tensor::kX}, {}, {}};
    if (area >= 2) add(step.waits, engine_of(0), SectionEngine::kLoad);
    add(step.posts, SectionEngine::kLoad, engine_of(0));
    emit_transfers(columns(false, area, layout_.maps.front(), input_of(area), rows_of(area).front()), step);
  }

  void store(std::size_t area) {
    Step step{{index(last()), Tensor::kY}, {}, {}};
    add(step.waits, engine_of(last()), SectionEngine::kStore);
    if (area + 1 < areas_) add(step.posts, SectionEngine::kStore, engine_of(last()));
    emit_transfers(columns(true, area, layout_.maps.back(), layout_.maps.back().tile, rows_of(area).back()), step);
  }

  /// Among the next area's pieces: STOREs that wait fill their queue, which holds up all that stands behind them.
  void store_alone(std::size_t area) {
    store(area);
    end_piece();
  }

  void run_area(std::size_t area) {
    const std::vector<FusedRows> rows = rows_of(area);
    if (area == 0) load(0);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      const Step step = step_of(area, i);
      if (layers_[i].vector)
        convolve(area, i, rows, step);
      else
        multiply(area, i, rows[i], step);
      if (i == 0 && area + 1 < areas_) load(area + 1);
      end_piece();
      if (i == 0 && area > 0) store_alone(area - 1);
    }
    if (area + 1 == areas_) store_alone(area);
  }

  /// What a layer's commands of an area wait for, and who waits for them.
  Step step_of(std::size_t area, std::size_t i) const {
    const SectionEngine own = engine_of(i), first = engine_of(0), end = engine_of(last());
    Step step{{index(i), Tensor::kY}, {}, {}};
    if (i == 0) {
      add(step.waits, SectionEngine::kLoad, own);
      if (area > 0 && end != own) add(step.waits, end, own); // with the area before
      if (area + 2 < areas_) add(step.posts, own, SectionEngine::kLoad);
    } else {
      add(step.waits, engine_of(i - 1), own);
    }
    if (i == last()) {
      if (area > 0) add(step.waits, SectionEngine::kStore, own);
      add(step.posts, own, SectionEngine::kStore);
      if (area + 1 < areas_ && first != own) add(step.posts, own, first);
    } else {
      add(step.posts, own, engine_of(i + 1));
    }
    return step;
  }

  void multiply(std::size_t area, std::size_t i, const FusedRows &rows, const Step &step) {
    const FusedMap &from = layout_.maps[i], &to = layout_.maps[i + 1];
    const std::size_t begin = rows.begin(), end = rows.end(from.height);
    isa::GemmCommand g;
    g.a_col = g.out_bf16 = true;
    g.m = static_cast<std::uint32_t>((from.width - 1) * from.pitch + end - begin);
    g.n = layers_[i].n;
    g.k = layers_[i].k;
    g.a = tile_at(i == 0 ? input_of(area) : from.tile, from.at(0) + from.first + begin);
    g.b = tile_at(layout_.weights[i], 0);
    g.cout = tile_at(to.tile, to.at(0) + to.first + begin);
    emit(g, step.use, step.waits, step.posts);
    piece_.array_cycles += depthwise::fused_array_cycles(layers_[i], from, begin, end, npu_);
  }

  void convolve(std::size_t area, std::size_t i, const std::vector<FusedRows> &rows, const Step &step) {
    const PlaceTile &from = i == 0 ? input_of(area) : layout_.maps[i].tile;
    std::vector<AreaRun> runs = runs_.layer(i, from, rows[i], rows[i + 1].count);
    if (const std::size_t copies = runs_.row_copies(i, rows[i + 1].count); copies > 0) { // many: likewise
      const auto first = runs.end() - static_cast<std::ptrdiff_t>(copies);
      emit_runs({runs.begin(), first}, {step.use, step.waits, {}});
      piece_.unit_cycles += depthwise::fused_unit_cycles(layers_[i], layout_.maps[i + 1], rows[i].count, npu_);
      end_piece();
      return emit_runs({first, runs.end()}, {step.use, {}, step.posts});
    }
    emit_runs(runs, step);
    piece_.unit_cycles += depthwise::fused_unit_cycles(layers_[i], layout_.maps[i + 1], rows[i].count, npu_);
  }

  const std::vector<Layer> &layers_;
  const FusedLayout &layout_;
  const FusedTensors &tensors_;
  const Machine &npu_;
  SectionRoom room_;
  depthwise::FusedRuns runs_;
  std::vector<std::uint32_t> first_words_; ///< of each program
  std::size_t images_ = 1, areas_ = 0;
  FusedPiece piece_;
  std::vector<FusedPiece> pieces_;
};

} // namespace

std::vector<FusedPiece> fused_pieces(const std::vector<Layer> &layers, const FusedLayout &layout,
                                     const FusedTensors &tensors, const Machine &npu, const SectionRoom &room) {
  return FusedSection(layers, layout, tensors, npu, room).run();
}

} // namespace gradweave::compiler
