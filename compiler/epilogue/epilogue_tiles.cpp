#include "compiler/epilogue/epilogue_tiles.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "compiler/vector_stream/group/group.hpp"
#include "compiler/vector_stream/stage/places.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::compiler {
namespace {

constexpr std::size_t kNone = ~std::size_t{0};
constexpr std::size_t kToTheEnd = kNone - 1; ///< a tile that is stored lives behind all stages
constexpr std::size_t kUnplaced = EpilogueTile::kResult - 1;
/// Cycles that a run costs beside its lanes, and an area beside its beats.
constexpr std::uint64_t kRunCycles = 45, kAreaCycles = 300;

bool same_kind(const EpilogueSlot &slot, const StridedTile &t) {
  return slot.by_lane == (t.lane != 0) && slot.by_step == (t.step != 0) && slot.fp32 == t.fp32;
}

class Planning {
public:
  Planning(std::vector<Stage> stages, const ResultMatrix &matrix, bool result_fp32, const std::vector<bool> &in_memory)
      : in_memory_(in_memory) {
    all_.stages = std::move(stages);
    StridedTile result;
    result.value = matrix.value;
    result.lane = 1;
    result.step = matrix.cols;
    result.fp32 = result_fp32;
    result_ = add(result, EpilogueTile::kResult);
    all_.tiles[result_].stored = in_memory[matrix.value];
  }

  EpilogueTiles run() {
    find_tiles();
    find_last_uses();
    for (std::size_t s = 0; s < all_.stages.size(); ++s)
      for (std::size_t r = 0; r < all_.results[s].size(); ++r)
        place(s, r);
    return std::move(all_);
  }

private:
  std::size_t add(const StridedTile &t, std::size_t slot) {
    all_.tiles.push_back({t, false, false, slot});
    return all_.tiles.size() - 1;
  }

  std::size_t new_slot(const StridedTile &t) {
    all_.slots.push_back({t.lane != 0, t.step != 0, t.fp32});
    return all_.slots.size() - 1;
  }

  /// Operands that no stage has written are loaded before the first one, so each has a slot of its own to begin with.
  std::size_t read(const StridedTile &t) {
    if (t.value == all_.tiles[result_].of.value) return result_;
    for (std::size_t i = 0; i < all_.tiles.size(); ++i)
      if (all_.tiles[i].of == t) return i;
    const std::size_t tile = add(t, new_slot(t));
    all_.tiles[tile].loaded = true;
    return tile;
  }

  void find_tiles() {
    for (const Stage &stage : all_.stages) {
      std::vector<std::size_t> operands, results;
      for (const StridedTile &t : stage.operands)
        operands.push_back(read(t));
      for (const StridedTile &t : stage.results) {
        results.push_back(add(t, kUnplaced));
        all_.tiles.back().stored = in_memory_[t.value];
      }
      all_.operands.push_back(std::move(operands));
      all_.results.push_back(std::move(results));
    }
  }

  void find_last_uses() {
    last_use_.assign(all_.tiles.size(), 0);
    for (std::size_t s = 0; s < all_.stages.size(); ++s)
      for (const auto *tiles : {&all_.operands[s], &all_.results[s]})
        for (const std::size_t tile : *tiles)
          last_use_[tile] = s;
    for (std::size_t tile = 0; tile < all_.tiles.size(); ++tile)
      if (all_.tiles[tile].stored) last_use_[tile] = kToTheEnd;
  }

  bool slot_is_of(std::size_t slot, const StridedTile &t) const {
    return slot == EpilogueTile::kResult ? t.fp32 == all_.tiles[result_].of.fp32 : same_kind(all_.slots[slot], t);
  }

  /// Whether no tile of the slot but `except` is used by the stage or later ones.
  bool is_free(std::size_t slot, std::size_t stage, std::size_t except) const {
    for (std::size_t tile = 0; tile < all_.tiles.size(); ++tile)
      if (tile != except && all_.tiles[tile].slot == slot && last_use_[tile] >= stage) return false;
    return true;
  }

  /// The slot of a result: that of an operand of its stage that is not used again, a free one, or a new one.
  void place(std::size_t s, std::size_t r) {
    EpilogueTile &result = all_.tiles[all_.results[s][r]];
    const std::vector<std::size_t> &operands = all_.operands[s];
    for (std::size_t o = 0; o < operands.size(); ++o) {
      const std::size_t operand = operands[o], slot = all_.tiles[operand].slot;
      const bool once = std::count(operands.begin(), operands.end(), operand) == 1;
      if (once && all_.tiles[operand].is_matrix() && last_use_[operand] == s && slot_is_of(slot, result.of) &&
          is_free(slot, s, operand) && reads_before(*all_.stages[s].program, o, r)) {
        result.slot = slot;
        return;
      }
    }
    for (std::size_t slot = 0; slot <= all_.slots.size(); ++slot) {
      const std::size_t candidate = slot == 0 ? EpilogueTile::kResult : slot - 1;
      if (slot_is_of(candidate, result.of) && is_free(candidate, s, kNone)) {
        result.slot = candidate;
        return;
      }
    }
    result.slot = new_slot(result.of);
  }

  const std::vector<bool> &in_memory_;
  EpilogueTiles all_;
  std::size_t result_ = 0;
  std::vector<std::size_t> last_use_; ///< of each tile: a stage
};

/// Cycles of a result tile that is cut so, nearly: areas overlap, but for the last one's runs or transfers.
std::uint64_t cycles_of(const EpilogueTiles &tiles, std::size_t rows, std::size_t cols, const AreaShape &shape,
                        const NpuConfig &npu) {
  std::uint64_t busy = 0, moving = kAreaCycles;
  for (const Stage &stage : tiles.stages)
    busy += walk_of(stage, shape.lanes, shape.steps, npu).cycles + kRunCycles;
  for (const EpilogueTile &t : tiles.tiles)
    if (t.is_matrix() && (t.loaded || t.stored))
      moving += shape.steps * (divide_up(shape.lanes * (t.of.fp32 ? 4 : 2), npu.bus_bytes) + 1);
  const std::uint64_t areas = divide_up(cols, shape.lanes) * divide_up(rows, shape.steps);
  return areas * std::max(busy, moving) + std::min(busy, moving);
}

} // namespace

std::uint32_t EpilogueSlot::rows(std::size_t lanes, std::size_t steps, const NpuConfig &npu) const {
  const std::size_t strips = divide_up(by_lane ? lanes : by_step ? steps : 1, npu.lanes());
  const std::size_t lines = by_lane && by_step ? steps : 1;
  return static_cast<std::uint32_t>(round_up(strips * lines * (fp32 ? 2 : 1), 2));
}

std::uint32_t EpilogueTiles::rows(std::size_t lanes, std::size_t steps, const NpuConfig &npu) const {
  std::uint32_t sum = 0;
  for (const EpilogueSlot &slot : slots)
    sum += slot.rows(lanes, steps, npu);
  return sum;
}

EpilogueTiles epilogue_tiles(std::vector<Stage> stages, const ResultMatrix &matrix, bool result_fp32,
                             const std::vector<bool> &in_memory) {
  return Planning(std::move(stages), matrix, result_fp32, in_memory).run();
}

std::optional<AreaShape> area_shape(const EpilogueTiles &tiles, std::size_t rows, std::size_t cols,
                                    std::uint32_t place_rows, const NpuConfig &npu) {
  std::optional<AreaShape> best;
  std::uint64_t best_cycles = 0;
  for (std::size_t lanes = cols; lanes > 0; lanes = (lanes - 1) / npu.lanes() * npu.lanes()) {
    for (std::size_t parts = 1; parts <= rows; ++parts) {
      const AreaShape shape{lanes, divide_up(rows, parts)};
      if (parts > 1 && divide_up(rows, parts - 1) == shape.steps) continue;
      if (lanes > kMostInField || shape.steps > kMostInField || tiles.rows(shape.lanes, shape.steps, npu) > place_rows)
        continue;
      const std::uint64_t cycles = cycles_of(tiles, rows, cols, shape, npu);
      if (best && cycles >= best_cycles) continue;
      best = shape;
      best_cycles = cycles;
    }
  }
  return best;
}

} // namespace gradweave::compiler
