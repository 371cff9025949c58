#include "compiler/items/choose_cut.hpp"

#include "sw_models/timing/timing_model.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace gradweave::compiler {
namespace {

class Choice {
public:
  Choice(const ItemJobs &jobs, const std::vector<ItemPlace> &places, const Machine &npu)
      : jobs_(first_items(jobs)), places_(places), npu_(npu) {}

  std::optional<ItemCut> run() {
    std::size_t chunks = 0;
    for (auto most = static_cast<std::uint32_t>(jobs_.items); most > 0; --most) {
      const std::size_t count = chunks_of(jobs_, most).size();
      if (count == chunks) continue;
      chunks = count;
      for (const bool ahead : {true, false})
        for (const bool overlap : {true, false})
          for (const bool wide : {true, false})
            look_at({fewest(most), ahead, overlap, {}, wide_tiles(fewest(most), wide)});
    }
    std::sort(found_.begin(), found_.end(), [](const Found &a, const Found &b) { return a.cycles < b.cycles; });
    if (found_.empty()) return std::nullopt;
    found_.resize(std::min(found_.size(), kRefined));
    for (Found &found : found_)
      refine(found);
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
  static constexpr std::size_t kRefined = 4, kIdle = 2; ///< cuts that get more buffers; buffers that gain nothing
  static constexpr std::uint8_t kMostBuffers = 3;
  struct Found {
    ItemCut cut;
    std::uint64_t cycles = 0;
  };

  /// The most items that a chunk has if no chunk may have more than `most`.
  std::uint32_t fewest(std::uint32_t most) const {
    std::size_t largest = 0;
    for (const ItemChunk &chunk : chunks_of(jobs_, most))
      largest = std::max(largest, chunk.count);
    return static_cast<std::uint32_t>(largest);
  }

  bool fits(const ItemCut &cut) const { return place_items(jobs_, cut, npu_).has_value(); }

  std::uint64_t cycles(const ItemCut &cut) const {
    const timing::RunResult run = timing::run(npu_, item_commands(jobs_, places_, cut, npu_, 0));
    if (!run.ok()) throw std::logic_error("the hardware refuses a command of a group of items");
    return run.cycles();
  }

  /// All tiles that may be wide if chunks have so many items; none if not `wide`.
  std::vector<bool> wide_tiles(std::uint32_t chunk, bool wide) const {
    ItemCut cut{chunk, false, false, {}, std::vector<bool>(jobs_.tiles.size())};
    if (!wide || chunk == 1) return cut.wide;
    std::vector<bool> all = cut.wide;
    for (std::size_t tile = 0; tile < all.size(); ++tile) {
      cut.wide.assign(all.size(), false);
      cut.wide[tile] = may_be_wide(jobs_, tile);
      all[tile] = cut.wide[tile] && lie_side_by_side(jobs_, places_, cut);
    }
    return all;
  }

  void look_at(ItemCut cut) {
    cut.buffers = least_buffers(jobs_, cut);
    if (!fits(cut)) return;
    const std::uint64_t taken = cycles(cut);
    found_.push_back({std::move(cut), taken});
  }

  /// Buffer by buffer, each time the one that gains most; a few that gain nothing may lead to one that does.
  void refine(Found &found) const {
    Found at = found;
    for (std::size_t idle = 0; idle <= kIdle;) {
      std::optional<Found> best;
      for (std::size_t tile = 0; tile < jobs_.tiles.size(); ++tile) {
        if (jobs_.tiles[tile].over != kOwnPlace) continue;
        ItemCut cut = at.cut;
        ++cut.buffers[tile];
        if (cut.buffers[tile] > kMostBuffers || !fits(cut)) continue;
        if (const std::uint64_t taken = cycles(cut); !best || taken < best->cycles) best = {std::move(cut), taken};
      }
      if (!best) return;
      at = std::move(*best);
      idle = at.cycles < found.cycles ? 0 : idle + 1;
      if (at.cycles < found.cycles) found = at;
    }
  }

  ItemJobs jobs_;
  const std::vector<ItemPlace> &places_;
  const Machine &npu_;
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
