#include "compiler/vector_stream/cut/uneven_cut.hpp"

#include "compiler/vector_stream/cut/cut_size.hpp"
#include "compiler/vector_stream/cut/pack_areas.hpp"
#include "compiler/vector_stream/stage/places.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

namespace gradweave::compiler {
namespace {

constexpr std::size_t kMostAreas = 4; ///< that are looked at: more overlap well
constexpr std::size_t kSizes = 16;    ///< of an area
constexpr double kLatency = 240;      ///< of the first LOAD, in cycles
constexpr double kWorth = 0.98;       ///< of the cycles of areas of one size

/// Nearly what areas in two places take: LOADs and STOREs share the memory, runs go one after the other.
class Pipeline {
public:
  /// Cycles of a run, and of transfers for each lane. `over`: a place is loaded when its results are stored.
  struct Costs {
    double load = 0, store = 0;
    std::function<double(std::size_t)> run;
    bool over = false;
  };

  Pipeline(const Costs &costs, const std::vector<std::size_t> &lanes) : costs_(costs), lanes_(lanes) {}

  double cycles() {
    while (stored_.size() < lanes_.size()) {
      start();
      const double share = load_ && store_ ? 2 : 1;
      double next = run_ ? *run_ : now_ + 2 * share * (load_ ? *load_ : *store_);
      if (load_) next = std::min(next, now_ + share * *load_);
      if (store_) next = std::min(next, now_ + share * *store_);
      const double passed = (next - now_) / share;
      now_ = next;
      finish(load_, passed, loaded_);
      finish(store_, passed, stored_);
      if (run_ && *run_ <= now_) {
        ran_.push_back(now_);
        run_.reset();
      }
    }
    return now_ + kLatency;
  }

private:
  void start() {
    const std::vector<double> &free = costs_.over ? stored_ : ran_;
    const std::size_t load = loaded_.size(), run = ran_.size(), store = stored_.size();
    if (!load_ && load < lanes_.size() && load < free.size() + 2) load_ = costs_.load * lanes_[load];
    if (!run_ && run < loaded_.size() && run < stored_.size() + 2) run_ = now_ + costs_.run(lanes_[run]);
    if (!store_ && store < ran_.size()) store_ = costs_.store * lanes_[store];
  }

  void finish(std::optional<double> &left, double passed, std::vector<double> &done) const {
    if (!left) return;
    *left -= passed;
    if (*left > 1e-6) return;
    left.reset();
    done.push_back(now_);
  }

  const Costs &costs_;
  const std::vector<std::size_t> &lanes_;
  double now_ = 0;
  std::optional<double> load_, store_, run_; ///< cycles of memory that are left; when the run ends
  std::vector<double> loaded_, ran_, stored_;
};

bool same_shape(const AreaTile &a, const AreaTile &b) {
  return a.rows == b.rows && a.cols == b.cols && a.fp32 == b.fp32 && a.period == b.period;
}

/// The operand's tile that a result of a stage may take the place of.
std::optional<std::size_t> replaced(const JobGroup &group, const GroupTiles &all, std::size_t s, std::size_t result) {
  const Stage &stage = group.stages[s];
  const StridedTile &r = stage.results[result];
  for (std::size_t o = 0; o < stage.operands.size(); ++o) {
    const std::size_t tile = all.operands[s][o];
    std::size_t readers = 0;
    for (const auto &operands : all.operands)
      readers += static_cast<std::size_t>(std::count(operands.begin(), operands.end(), tile));
    const StridedTile &t = stage.operands[o];
    if (all.loaded[tile] && readers == 1 && t.lane == r.lane && t.step == r.step && t.step != 0 && !stage.across &&
        same_shape(all.tiles[tile], all.tiles[all.results[s][result]]) && reads_before(*stage.program, o, result))
      return tile;
  }
  return std::nullopt;
}

double moved_of(const GroupTiles &all, const std::vector<bool> &moved) {
  double sum = 0;
  for (std::size_t i = 0; i < all.tiles.size(); ++i)
    if (moved[i]) sum += double(all.tiles[i].rows) * all.tiles[i].cols * (all.tiles[i].fp32 ? 4 : 2);
  return sum;
}

/// All sizes of `count` areas, in units, of which none is larger than `most`.
template <typename F>
void for_sizes(std::vector<std::size_t> &sizes, std::size_t count, std::size_t left, std::size_t most, const F &f) {
  if (count == 1) {
    if (left > most) return;
    sizes.push_back(left);
    f(sizes);
    sizes.pop_back();
    return;
  }
  for (std::size_t size = 1; size <= most && size + count - 1 <= left; ++size) {
    sizes.push_back(size);
    for_sizes(sizes, count - 1, left - size, most, f);
    sizes.pop_back();
  }
}

} // namespace

GroupTiles tiles_over(const JobGroup &group, const StridedArea &area, const NpuConfig &npu) {
  GroupTiles all = tiles_of(group, area, npu);
  std::vector<std::optional<std::size_t>> over(all.tiles.size());
  std::vector<bool> taken(all.tiles.size());
  for (std::size_t s = 0; s < group.stages.size(); ++s)
    for (std::size_t r = 0; r < group.stages[s].results.size(); ++r)
      if (const auto tile = replaced(group, all, s, r); tile && !taken[*tile]) {
        over[all.results[s][r]] = tile;
        taken[*tile] = true;
      }
  all.rows = 0;
  for (std::size_t i = 0; i < all.tiles.size(); ++i) {
    if (over[i]) continue;
    all.rows += all.rows % 2;
    all.tiles[i].spm.row = static_cast<std::uint32_t>(all.rows);
    all.rows += std::size_t{all.tiles[i].spm.pstride} * divide_up(all.tiles[i].cols, npu.lanes());
  }
  for (std::size_t i = 0; i < all.tiles.size(); ++i)
    if (over[i]) all.tiles[i].spm.row = all.tiles[*over[i]].spm.row;
  return all;
}

UnevenCut uneven_cut(const JobGroup &group, std::size_t even, const Machine &npu) {
  const std::size_t all = group.lanes(), steps = group.steps();
  UnevenCut best;
  if (group.windows || all <= even || divide_up(all, even) > kMostAreas) return best;
  const GroupTiles whole = tiles_of(group, {0, all, 0, steps}, npu);
  const double bandwidth = static_cast<double>(npu.memory.bytes_num) / static_cast<double>(npu.memory.bytes_den);
  const double bytes = bandwidth * static_cast<double>(all);
  Pipeline::Costs costs{moved_of(whole, whole.loaded) / bytes, moved_of(whole, whole.stored) / bytes, {}, false};
  std::map<std::size_t, double> runs;
  costs.run = [&](std::size_t lanes) {
    const auto [known, is_new] = runs.try_emplace(lanes);
    for (std::size_t s = 0; is_new && s < group.stages.size(); ++s)
      known->second += static_cast<double>(walk_of(group.stages[s], lanes, group.stages[s].steps, npu).cycles);
    return known->second;
  };
  std::vector<std::size_t> alike;
  for (std::size_t lane = 0; lane < all; lane += even)
    alike.push_back(std::min(even, all - lane));
  double least = kWorth * Pipeline(costs, alike).cycles();
  costs.over = true;
  const std::size_t unit = whole_beats(std::max<std::size_t>(divide_up(all, 2 * kSizes), npu.bus_bytes / 2), all, npu);
  const std::size_t most = largest(std::min(divide_up(all, unit), kSizes), [&](std::size_t units) {
    return tiles_over(group, {0, std::min(all, units * unit), 0, steps}, npu).rows <= place_rows(npu);
  });
  std::vector<std::size_t> sizes;
  for (std::size_t count = 2; count <= kMostAreas; ++count)
    for_sizes(sizes, count, divide_up(all, unit), most, [&](const std::vector<std::size_t> &units) {
      std::vector<std::size_t> lanes;
      std::size_t left = all;
      for (const std::size_t u : units) {
        lanes.push_back(std::min(left, u * unit));
        left -= lanes.back();
      }
      const std::size_t fewest = *std::min_element(lanes.begin(), lanes.end());
      if (static_cast<double>(fewest) * (costs.load + costs.store) * bandwidth < kPackBytes) return;
      const double cycles = Pipeline(costs, lanes).cycles();
      if (cycles >= least) return;
      least = cycles;
      best = {lanes, *std::max_element(lanes.begin(), lanes.end())};
    });
  return best;
}

} // namespace gradweave::compiler
