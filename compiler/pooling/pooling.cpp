#include "compiler/pooling/pooling.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "compiler/pooling/window_layout.hpp"
#include "compiler/vector_stream/stage/lane_cycles.hpp"
#include "compiler/vector_stream/stage/places.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace gradweave::compiler {
namespace {

using namespace pooling;

constexpr std::uint64_t kRunCycles = 30;      ///< of a VECTOR and its TILEs, beside its lines, nearly
constexpr std::uint64_t kTransferCycles = 12; ///< of a LOAD or STORE, beside its beats, nearly
constexpr std::size_t kCuts = 10;             ///< that are judged
constexpr std::size_t kLoadBytes = 4096;      ///< of a LOAD, nearly: the fetch of commands waits for LOADs before it
constexpr std::uint64_t kStoreCycles = 160;   ///< of a STORE that waits for its turn between LOADs, nearly

/// Writes an area of an image.
class AreaWriter {
public:
  AreaWriter(const WindowWork &work, const WindowLayout &layout, const NpuConfig &npu, std::size_t image,
             const WindowArea &area)
      : work_(work), layout_(layout), lanes_(npu.lanes()), image_(image), area_(area) {}

  Area run() {
    for (std::size_t v = 0; v < work_.values.size(); ++v)
      if (work_.values[v].loaded && !area_.pixels[v].empty()) transfer(v, out_.loaded);
    for (std::size_t w = 0; w < work_.walks.size(); ++w)
      if (!area_.positions[w].empty()) add_run(w);
    for (std::size_t v = 0; v < work_.values.size(); ++v)
      if (work_.values[v].stored && !area_.pixels[v].empty()) transfer(v, out_.stored);
    return std::move(out_);
  }

private:
  /// Pixels of a range that are in a phase: the first one, and how many.
  static std::pair<std::size_t, std::size_t> of_phase(const Range &range, std::size_t phase, std::size_t phases) {
    const std::size_t first = range.first + (phase + phases - range.first % phases) % phases;
    return {first, first >= range.end ? 0 : divide_up(range.end - first, phases)};
  }

  /// Rows of an area's tile of a phase come from this one on.
  std::size_t first_row(std::size_t v, std::size_t phase) const {
    return of_phase(area_.pixels[v].rows, phase, layout_.values[v].row_phases).first;
  }
  std::size_t column(std::size_t v, std::size_t pixel) const {
    const ValueTiles &tiles = layout_.values[v];
    return (pixel - area_.pixels[v].cols.first) / tiles.apart * tiles.spread * work_.channels;
  }

  /// All pixels of a value in memory, or to it.
  void transfer(std::size_t v, std::vector<AreaTile> &all) const {
    const ValueTiles &tiles = layout_.values[v];
    const Box &pixels = area_.pixels[v];
    for (std::size_t p = 0; p < tiles.row_phases; ++p) {
      const auto [row, rows] = of_phase(pixels.rows, p, tiles.row_phases);
      if (rows == 0) continue;
      if (tiles.spread == 1 && tiles.col_phases == 1) {
        const std::size_t bytes = pixels.cols.size() * work_.channels * (work_.values[v].fp32 ? 4 : 2);
        const std::size_t most = std::max<std::size_t>(kLoadBytes / bytes, 1);
        for (std::size_t done = 0; done < rows; done += most)
          add_rows(v, {row + done * tiles.row_phases, std::min(most, rows - done), done}, pixels.cols, tiles.tiles[p],
                   all);
        continue;
      }
      for (std::size_t col = pixels.cols.first; col < pixels.cols.end; ++col)
        add_rows(v, {row, rows, 0}, {col, col + 1}, tiles.tiles[p * tiles.col_phases + col % tiles.col_phases], all);
    }
  }

  struct Rows {
    std::size_t first = 0, count = 0;
    std::size_t tile_row = 0; ///< of the tile, where the first one is
  };

  /// Columns that begin inside a panel go by themselves up to its end.
  void add_rows(std::size_t v, const Rows &rows, const Range &cols, const PlaceTile &tile,
                std::vector<AreaTile> &all) const {
    const Extent grid = work_.grid_of(work_.values[v]);
    const std::size_t c = work_.channels, begin = column(v, cols.first), elements = cols.size() * c;
    for (std::size_t done = 0, count = 0; done < elements; done += count) {
      const std::size_t lane = (begin + done) % lanes_;
      count = lane == 0 ? elements - done : std::min<std::size_t>(elements - done, lanes_ - lane);
      AreaTile t;
      t.value = v;
      t.first = ((image_ * grid.rows + rows.first) * grid.cols + cols.first) * c + done;
      t.pitch = layout_.values[v].row_phases * grid.cols * c;
      t.rows = static_cast<std::uint32_t>(rows.count);
      t.cols = static_cast<std::uint32_t>(count);
      t.fp32 = work_.values[v].fp32;
      t.spm = transfer_tile(tile, rows.tile_row, (begin + done) / lanes_, lanes_);
      t.spm.rot = static_cast<isa::Lane>((lane + rows.tile_row) % lanes_);
      all.push_back(t);
    }
  }

  void add_run(std::size_t w) {
    const WindowWalk &walk = work_.walks[w];
    const Box &at = area_.positions[w];
    const std::size_t elements = ((at.cols.size() - 1) * layout_.lane_stride + 1) * work_.channels;
    AreaRun run{w, static_cast<std::uint32_t>(elements), static_cast<std::uint32_t>(at.rows.size()), {}, {}};
    for (std::uint32_t i = 0; i < walk.in.size(); ++i)
      run.tiles.push_back(view(walk.in[i], at, elements, i));
    for (std::uint32_t o = 0; o < walk.out.size(); ++o)
      run.tiles.push_back(view(walk.out[o], at, elements, isa::kOperandSlots + o));
    out_.runs.push_back(std::move(run));
  }

  isa::VectorTile view(const WindowOperand &operand, const Box &at, std::size_t elements, std::uint32_t slot) const {
    const std::size_t v = operand.value;
    const ValueTiles &tiles = layout_.values[v];
    const Extent stride = work_.values[v].image ? work_.stride : Extent{1, 1};
    const std::size_t row = operand.row + at.rows.first * stride.rows, col = operand.col + at.cols.first * stride.cols;
    const std::size_t phase = row % tiles.row_phases;
    const PlaceTile &tile = tiles.tiles[phase * tiles.col_phases + col % tiles.col_phases];
    return window(tile, {(row - first_row(v, phase)) / tiles.row_phases, column(v, col), at.rows.size(), elements},
                  slot, lanes_);
  }

  const WindowWork &work_;
  const WindowLayout &layout_;
  std::uint32_t lanes_;
  std::size_t image_;
  const WindowArea &area_;
  Area out_;
};

/// As few parts as have at most `most` each.
std::vector<Range> even_parts(std::size_t all, std::size_t most) {
  const std::size_t count = divide_up(all, most);
  std::vector<Range> parts;
  for (std::size_t part = 0; part < count; ++part)
    parts.push_back({part * all / count, (part + 1) * all / count});
  return parts;
}

/// The positions of an image, cut.
class Cut {
public:
  Cut(const WindowWork &work, Extent size, bool by_phases, const NpuConfig &npu)
      : work_(&work), npu_(&npu), by_phases_(by_phases) {
    const Extent all = positions_of(work);
    for (const Range &rows : even_parts(all.rows, size.rows))
      for (const Range &cols : even_parts(all.cols, size.cols))
        boxes_.push_back({rows, cols});
    lay_out({middle()});
  }

  /// Whether the middle area fits.
  bool may_fit() const { return layout_.rows <= place_rows(*npu_) && most_ <= kMostInField; }
  /// Whether all areas do: lays them out.
  bool fits() {
    lay_out(boxes_);
    return may_fit();
  }

  /// As if all areas were as the middle one.
  std::uint64_t cycles() const {
    const Area area = area_of(0, middle());
    std::uint64_t busy = 0, moving = 0;
    for (const AreaRun &run : area.runs)
      busy += kRunCycles + lane_cycles(work_->walks[run.program].program,
                                       {divide_up(run.elements, npu_->lanes()), run.steps}, *npu_);
    for (const auto *tiles : {&area.loaded, &area.stored})
      for (const AreaTile &t : *tiles)
        moving += kTransferCycles + t.rows * (divide_up(std::uint64_t{t.cols} * (t.fp32 ? 4 : 2), npu_->bus_bytes) + 1);
    const std::uint64_t storing = area.stored.size() * kStoreCycles;
    return work_->batch * boxes_.size() * std::max({busy, moving, storing}) + std::min(busy, moving);
  }

  /// The first area and the last are halved: beside the first LOADs, and the last STOREs, nothing runs.
  AreaPlan plan() const {
    AreaPlan plan;
    for (const WindowWalk &walk : work_->walks)
      plan.programs.push_back(walk.words);
    for (std::size_t image = 0; image < work_->batch; ++image)
      for (const Box &box : boxes_) {
        const bool first = image == 0 && &box == &boxes_.front();
        const bool last = image + 1 == work_->batch && &box == &boxes_.back();
        const std::size_t middle = box.rows.first + divide_up(box.rows.size(), 2);
        if ((first || last) && middle < box.rows.end) {
          plan.areas.push_back(area_of(image, {{box.rows.first, middle}, box.cols}));
          plan.areas.push_back(area_of(image, {{middle, box.rows.end}, box.cols}));
        } else {
          plan.areas.push_back(area_of(image, box));
        }
      }
    return plan;
  }

private:
  const Box &middle() const { return boxes_[boxes_.size() / 2]; }

  /// Tiles as large as the largest of these boxes have them.
  void lay_out(const std::vector<Box> &boxes) {
    std::vector<Extent> largest(work_->values.size(), Extent{0, 0});
    for (const Box &box : boxes) {
      const WindowArea area = window_area(*work_, box);
      for (std::size_t v = 0; v < largest.size(); ++v) {
        const Box &pixels = area.pixels[v];
        if (pixels.empty()) continue;
        largest[v] = {std::max(largest[v].rows, pixels.rows.size()), std::max(largest[v].cols, pixels.cols.size())};
      }
    }
    layout_ = window_layout(*work_, largest, by_phases_, npu_->lanes());
    for (const Extent &extent : largest)
      most_ = std::max({most_, extent.rows, extent.cols * work_->stride.cols * work_->channels + npu_->lanes()});
  }

  Area area_of(std::size_t image, const Box &box) const {
    return AreaWriter(*work_, layout_, *npu_, image, window_area(*work_, box)).run();
  }

  const WindowWork *work_;
  const NpuConfig *npu_;
  bool by_phases_;
  std::vector<Box> boxes_;
  WindowLayout layout_;
  std::size_t most_ = 0; ///< rows, elements side by side
};

/// The sizes of parts if `all` is cut into 1, 2, ... parts, descending.
std::vector<std::size_t> sizes_of(std::size_t all) {
  std::set<std::size_t, std::greater<>> sizes;
  for (std::size_t parts = 1; parts <= all; ++parts)
    sizes.insert(divide_up(all, parts));
  return {sizes.begin(), sizes.end()};
}

} // namespace

std::optional<AreaPlan> pooling_areas(const graph::Graph &graph, const graph::Op &op, const NpuConfig &npu,
                                      const AreaCycles &cycles_of) {
  if (npu.vectors() == 0) return std::nullopt;
  const std::optional<WindowWork> work = window_work(graph, op);
  if (!work) return std::nullopt;
  const Extent all = positions_of(*work);
  std::vector<std::pair<std::uint64_t, Cut>> best; // ascending
  for (const std::size_t cols : sizes_of(all.cols))
    for (const std::size_t rows : sizes_of(all.rows))
      for (const bool by_phases : {false, true}) {
        if (by_phases && work->stride.cols == 1) continue; // there is one
        Cut cut(*work, {rows, cols}, by_phases, npu);
        if (!cut.may_fit()) continue;
        const std::uint64_t cycles = cut.cycles();
        if ((best.size() == kCuts && cycles >= best.back().first) || !cut.fits()) continue;
        const auto behind = std::find_if(best.begin(), best.end(), [&](const auto &b) { return cycles < b.first; });
        best.emplace(behind, cycles, std::move(cut));
        if (best.size() > kCuts) best.pop_back();
      }
  if (best.empty()) return std::nullopt;
  if (!cycles_of) return best.front().second.plan();
  std::optional<AreaPlan> chosen;
  std::uint64_t least = 0;
  for (const auto &[estimate, cut] : best) {
    AreaPlan plan = cut.plan();
    const std::uint64_t cycles = cycles_of(plan);
    if (chosen && cycles >= least) continue;
    least = cycles;
    chosen = std::move(plan);
  }
  return chosen;
}

} // namespace gradweave::compiler
