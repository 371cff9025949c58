#include "compiler/items/choose_cut.hpp"

#include "sw_models/timing/timing_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace gradweave::compiler {
namespace {

class Choice {
public:
  Choice(const ItemJobs &jobs, const std::vector<ItemPlace> &places, const Machine &npu)
      : jobs_(first_items(jobs)), places_(places), npu_(npu) {
    npu_.memory.size_bytes = kAnyPlace;
  }

  std::optional<ItemCut> run() {
    for (const bool across : {false, true}) {
      if (across && !changes_shared()) continue;
      std::size_t chunks = 0;
      for (auto most = static_cast<std::uint32_t>(jobs_.items); most > 0; --most) {
        ItemCut cut;
        cut.across = across;
        cut.chunk = most;
        const std::vector<ItemChunk> all = chunks_of(jobs_, cut);
        if (all.size() == chunks) continue;
        chunks = all.size();
        cut.chunk = largest(all);
        look_at_turns(cut);
      }
    }
    std::sort(found_.begin(), found_.end(), [](const Found &a, const Found &b) { return a.cycles < b.cycles; });
    if (found_.empty()) return std::nullopt;
    for (const Width width : kWidths)
      refine_best(width);
    return std::min_element(found_.begin(), found_.end(),
                            [](const Found &a, const Found &b) { return a.cycles < b.cycles; })
        ->cut;
  }

private:
  /// Enough of them to tell what takes longer.
  static ItemJobs first_items(ItemJobs jobs) {
    jobs.items = std::min(jobs.items, kItems);
    for (ItemTile &tile : jobs.tiles)
      tile.firsts.resize(jobs.items);
    return jobs;
  }

  static constexpr std::size_t kItems = 64;
  /// Bytes of memory: a step's places may be beyond its end until they are used again for what comes later.
  static constexpr std::uint64_t kAnyPlace = std::uint64_t{1} << 48U;
  static constexpr std::size_t kRefined = 2, kIdle = 2; ///< cuts of a width that are changed; changes that gain nothing
  static constexpr std::uint8_t kMostBuffers = 3;
  /// Which tiles' items lie side by side.
  enum class Width : std::uint8_t { kNone, kUncutSums, kAll };
  static constexpr std::array<Width, 3> kWidths{Width::kAll, Width::kUncutSums, Width::kNone};

  struct Found {
    ItemCut cut;
    std::uint64_t cycles = 0;
    Width width = Width::kNone; ///< at first
  };

  static std::uint32_t largest(const std::vector<ItemChunk> &chunks) {
    const auto most = std::max_element(chunks.begin(), chunks.end(),
                                       [](const ItemChunk &a, const ItemChunk &b) { return a.count < b.count; });
    return static_cast<std::uint32_t>(most->count);
  }

  /// Whether items differ in what is shared.
  bool changes_shared() const {
    return std::any_of(jobs_.tiles.begin(), jobs_.tiles.end(), [](const ItemTile &t) {
      return !t.each && std::any_of(t.firsts.begin(), t.firsts.end(), [&](std::size_t f) { return f != t.firsts[0]; });
    });
  }

  bool fits(const ItemCut &cut) const { return place_items(jobs_, cut, npu_).has_value(); }

  std::uint64_t cycles(const ItemCut &cut) const {
    const timing::RunResult run = timing::run(npu_, item_commands(jobs_, places_, cut, npu_, 0));
    if (!run.ok())
      throw std::logic_error(fmt::format("the hardware refuses command {} of a group of items: {}, word {}",
                                         run.error_index, isa::kErrorNames[static_cast<std::size_t>(run.error)],
                                         run.error_word));
    return run.cycles();
  }

  bool is_summed_over(std::size_t tile) const {
    return std::any_of(jobs_.stages.begin(), jobs_.stages.end(), [tile](const ItemStage &stage) {
      const auto *p = std::get_if<ItemProduct>(&stage);
      return p != nullptr && ((p->a == tile && p->a_col) || (p->b == tile && p->b_col));
    });
  }

  bool is_wide(std::size_t tile, Width width) const {
    return width != Width::kNone && may_be_wide(jobs_, tile) && lie_side_by_side(jobs_, places_, tile) &&
           (width == Width::kAll || !is_summed_over(tile));
  }

  void look_at_turns(ItemCut cut) {
    for (const bool ahead : {true, false})
      for (const bool overlap : {true, false})
        for (const Width width : kWidths) {
          cut.ahead = ahead;
          cut.overlap = overlap;
          cut.wide.assign(jobs_.tiles.size(), false);
          for (std::size_t tile = 0; tile < jobs_.tiles.size(); ++tile)
            cut.wide[tile] = cut.chunk > 1 && is_wide(tile, width);
          look_at(cut, width);
        }
  }

  /// What takes least before has not always most room for buffers.
  void refine_best(Width width) {
    std::size_t refined = 0;
    for (Found &found : found_)
      if (found.width == width && refined++ < kRefined) refine(found);
  }

  void look_at(ItemCut cut, Width width) {
    cut.buffers = least_buffers(jobs_, cut);
    if (!fits(cut)) return;
    const std::uint64_t taken = cycles(cut);
    found_.push_back({std::move(cut), taken, width});
  }

  /// Change by change, each time the one that gains most; a few that gain nothing may lead to one that does.
  void refine(Found &found) const {
    Found at = found;
    for (std::size_t idle = 0; idle <= kIdle;) {
      std::optional<Found> best;
      const auto look_at = [&](ItemCut cut) {
        if (!fits(cut)) return;
        if (const std::uint64_t taken = cycles(cut); !best || taken < best->cycles)
          best = {std::move(cut), taken, at.width};
      };
      for (std::size_t tile = 0; tile < jobs_.tiles.size(); ++tile) {
        if (jobs_.tiles[tile].over != kOwnPlace) continue;
        if (at.cut.buffers[tile] < kMostBuffers) {
          ItemCut cut = at.cut;
          ++cut.buffers[tile];
          look_at(std::move(cut));
        }
        if (at.cut.wide[tile]) {
          ItemCut cut = at.cut;
          cut.wide[tile] = false;
          look_at(std::move(cut));
        }
      }
      if (!best) return;
      at = std::move(*best);
      idle = at.cycles < found.cycles ? 0 : idle + 1;
      if (at.cycles < found.cycles) found = at;
    }
  }

  ItemJobs jobs_;
  const std::vector<ItemPlace> &places_;
  Machine npu_;
  std::vector<Found> found_;
};

} // namespace

std::optional<ItemCut> choose_cut(const ItemJobs &jobs, const std::vector<ItemPlace> &places, const Machine &npu) {
  return Choice(jobs, places, npu).run();
}

bool has_cut(const ItemJobs &jobs, const NpuConfig &npu) {
  std::size_t words = 0;
  for (const ItemStage &stage : jobs.stages)
    if (const auto *run = std::get_if<ItemRun>(&stage)) words += isa::vector::encode(run->program).size();
  ItemCut cut;
  cut.buffers = least_buffers(jobs, cut);
  cut.wide.resize(jobs.tiles.size());
  return words <= isa::kProgramWords && place_items(jobs, cut, npu).has_value();
}

} // namespace gradweave::compiler
