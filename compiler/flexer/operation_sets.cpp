#include "compiler/flexer/operation_sets.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::compiler::flexer {
namespace {

/// The tiles of an operation by kind: A, B, and the sum that it continues, or the result that it begins.
std::array<std::int32_t, 3> tiles_of(const Operation &o) {
  return {o.operands[0], o.operands[1], o.sum >= 0 ? o.sum : o.result};
}

} // namespace

DataflowMap::DataflowMap(const OperationSet &set, const TileDag &dag, const std::vector<bool> &resident) {
  std::array<std::array<std::int32_t, 3>, kMostCores> tiles{};
  for (std::uint32_t i = 0; i < set.count; ++i)
    tiles[i] = tiles_of(dag.operations()[static_cast<std::size_t>(set.operations[i])]);
  for (std::size_t kind = 0; kind < 3; ++kind)
    for (std::uint32_t i = 0; i < set.count; ++i) {
      const std::int32_t tile = tiles[i][kind];
      std::uint32_t before = 0, uses = 0;
      for (std::uint32_t other = 0; other < set.count; ++other) {
        const bool same = tiles[other][kind] == tile;
        uses += same ? 1 : 0;
        before += same && other < i ? 1 : 0;
      }
      if (before > 0) continue; // counted
      const std::size_t state = resident[static_cast<std::size_t>(tile)] ? 0 : 1;
      counts_[2 * kind + state] += 1U << (kBits * (uses - 1));
    }
}

namespace {

/// What is kept of each data-flow map: its sets, by index. Open addressing: a schedule asks millions of times.
class KnownMaps {
public:
  struct Kept {
    DataflowMap map;
    std::vector<std::size_t> sets;
  };

  Kept &of(const DataflowMap &map) {
    if (2 * kept_.size() >= slots_.size()) grow();
    std::uint32_t &slot = find(map);
    if (slot == kEmpty) {
      slot = static_cast<std::uint32_t>(kept_.size());
      kept_.push_back({map, {}});
    }
    return kept_[slot];
  }

private:
  static constexpr std::uint32_t kEmpty = ~std::uint32_t{0};

  std::uint32_t &find(const DataflowMap &map) {
    std::size_t at = map.hash() & (slots_.size() - 1);
    while (slots_[at] != kEmpty && !(kept_[slots_[at]].map == map))
      at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
  void grow() {
    slots_.assign(std::max<std::size_t>(64, 4 * slots_.size()), kEmpty);
    for (std::size_t i = 0; i < kept_.size(); ++i)
      find(kept_[i].map) = static_cast<std::uint32_t>(i);
  }

  std::vector<Kept> kept_;
  std::vector<std::uint32_t> slots_;
};

/// Grows sets level by level.
class SetGrower {
public:
  SetGrower(const std::vector<std::int32_t> &ready, const TileDag &dag, const std::vector<bool> &resident,
            std::uint32_t keep)
      : dag_(dag), resident_(resident), keep_(keep), first_reader_(resident.size() + 1, 0), seen_(ready.size(), 0) {
    ready_.reserve(ready.size());
    for (const std::int32_t id : ready) {
      const Operation &o = dag_.operations()[static_cast<std::size_t>(id)];
      ready_.push_back({id, o.operands, state_of(o)});
      alike_[ready_.back().state].push_back(static_cast<std::uint32_t>(ready_.size() - 1));
      for (const std::int32_t t : o.operands)
        if (t >= 0) ++first_reader_[static_cast<std::size_t>(t) + 1];
    }
    for (std::size_t t = 1; t < first_reader_.size(); ++t)
      first_reader_[t] += first_reader_[t - 1];
    readers_.resize(first_reader_.back());
    std::vector<std::uint32_t> next(first_reader_.begin(), first_reader_.end() - 1);
    for (std::uint32_t i = 0; i < ready_.size(); ++i)
      for (const std::int32_t t : ready_[i].operands)
        if (t >= 0) readers_[next[static_cast<std::size_t>(t)]++] = i;
  }

  std::vector<OperationSet> run(std::uint32_t size) {
    std::vector<OperationSet> sets{OperationSet{}};
    for (std::uint32_t level = 1; level <= size; ++level)
      sets = grow(sets, level == size ? 1 : keep_);
    return sets;
  }
  std::uint64_t looked_at() const { return looked_at_; }

private:
  struct Ready {
    std::int32_t id;
    std::array<std::int32_t, 2> operands;
    std::uint32_t state;
  };
  /// An operation's state, and which of its operands the set uses, too.
  struct Join {
    std::uint32_t state;
    std::int32_t a, b;
    std::uint32_t count; ///< operations that join like this

    bool is(const Join &o) const { return state == o.state && a == o.a && b == o.b; }
  };
  static constexpr std::size_t kStates = 16;

  /// Which of an operation's tiles are in the scratchpad, and whether it continues a sum.
  std::uint32_t state_of(const Operation &o) const {
    std::uint32_t state = 0;
    for (const std::int32_t t : tiles_of(o))
      state = 2 * state + (t >= 0 && resident_[static_cast<std::size_t>(t)] ? 1 : 0);
    return 2 * state + (o.sum >= 0 ? 1 : 0);
  }
  const Operation &operation(std::int32_t id) const { return dag_.operations()[static_cast<std::size_t>(id)]; }
  /// Whether the tile is operand A (0) or B (1) of an operation of the set.
  bool uses(const OperationSet &set, std::size_t operand, std::int32_t tile) const {
    for (std::uint32_t i = 0; i < set.count; ++i)
      if (operation(set.operations[i]).operands[operand] == tile) return true;
    return false;
  }
  static bool contains(const OperationSet &set, std::int32_t id) {
    const auto end = set.operations.begin() + set.count;
    return std::find(set.operations.begin(), end, id) != end;
  }

  std::vector<OperationSet> grow(const std::vector<OperationSet> &sets, std::uint32_t keep) {
    KnownMaps known;
    std::vector<OperationSet> grown;
    for (const OperationSet &set : sets)
      for (const std::int32_t id : candidates(set, keep)) {
        OperationSet larger = set;
        std::uint32_t at = larger.count++;
        for (; at > 0 && larger.operations[at - 1] > id; --at)
          larger.operations[at] = larger.operations[at - 1];
        larger.operations[at] = id;
        ++looked_at_;
        std::vector<std::size_t> &kept = known.of(DataflowMap(larger, dag_, resident_)).sets;
        if (kept.size() == keep) continue;
        const auto same = [&](std::size_t i) { return grown[i].operations == larger.operations; };
        if (std::any_of(kept.begin(), kept.end(), same)) continue;
        kept.push_back(grown.size());
        grown.push_back(larger);
      }
    return grown;
  }

  /// Operations that could join the set, `keep` for each map that it could have then: of those that share tiles with
  /// it, and of those that share none, the first of each state.
  const std::vector<std::int32_t> &candidates(const OperationSet &set, std::uint32_t keep) {
    found_.clear();
    joins_.clear();
    ++turn_;
    const auto add = [&](std::uint32_t at) {
      if (std::exchange(seen_[at], turn_) == turn_) return;
      const Ready &o = ready_[at];
      if (contains(set, o.id)) return;
      const Join join{o.state, uses(set, 0, o.operands[0]) ? o.operands[0] : Operation::kNone,
                      uses(set, 1, o.operands[1]) ? o.operands[1] : Operation::kNone, 0};
      const auto known = std::find_if(joins_.begin(), joins_.end(), [&](const Join &j) { return j.is(join); });
      Join &counted = known != joins_.end() ? *known : joins_.emplace_back(join);
      if (counted.count++ < keep) found_.push_back(o.id);
    };
    for (std::uint32_t i = 0; i < set.count; ++i)
      for (const std::int32_t t : operation(set.operations[i]).operands)
        if (t >= 0)
          for (std::uint32_t r = first_reader_[static_cast<std::size_t>(t)],
                             end = first_reader_[static_cast<std::size_t>(t) + 1];
               r < end; ++r)
            add(readers_[r]);
    for (const std::vector<std::uint32_t> &alike : alike_) {
      std::uint32_t count = 0;
      for (auto at = alike.begin(); at != alike.end() && count < keep; ++at) {
        const Ready &o = ready_[*at];
        if (uses(set, 0, o.operands[0]) || uses(set, 1, o.operands[1])) continue;
        add(*at);
        ++count;
      }
    }
    std::sort(found_.begin(), found_.end());
    return found_;
  }

  const TileDag &dag_;
  const std::vector<bool> &resident_;
  std::uint32_t keep_;
  std::vector<Ready> ready_;
  /// Ready operations of each operand, one operand after the other, and where each begins.
  std::vector<std::uint32_t> readers_, first_reader_;
  std::array<std::vector<std::uint32_t>, kStates> alike_; ///< ready operations of each state
  std::uint64_t looked_at_ = 0;
  // Of the last candidates():
  std::vector<std::int32_t> found_;
  std::vector<Join> joins_;
  std::vector<std::uint32_t> seen_; ///< of each ready operation: when it was looked at last
  std::uint32_t turn_ = 0;
};

std::vector<OperationSet> all_sets(const std::vector<std::int32_t> &ready, std::uint32_t size) {
  std::vector<OperationSet> sets;
  std::vector<std::size_t> pick(size);
  for (std::size_t i = 0; i < size; ++i)
    pick[i] = i;
  for (;;) {
    OperationSet set;
    for (const std::size_t i : pick)
      set.operations[set.count++] = ready[i];
    sets.push_back(set);
    std::size_t at = size;
    while (at > 0 && pick[at - 1] == ready.size() - size + at - 1)
      --at;
    if (at == 0) return sets;
    ++pick[at - 1];
    for (std::size_t i = at; i < size; ++i)
      pick[i] = pick[i - 1] + 1;
  }
}

} // namespace

std::vector<OperationSet> make_sets(const std::vector<std::int32_t> &ready, std::uint32_t size, const TileDag &dag,
                                    const std::vector<bool> &resident, bool prune, std::uint32_t keep,
                                    std::uint64_t *looked_at) {
  if (size == 0 || size > ready.size()) return {};
  if (!prune) {
    std::vector<OperationSet> sets = all_sets(ready, size);
    if (looked_at != nullptr) *looked_at += sets.size();
    return sets;
  }
  SetGrower grower(ready, dag, resident, keep);
  std::vector<OperationSet> sets = grower.run(size);
  if (looked_at != nullptr) *looked_at += grower.looked_at();
  return sets;
}

} // namespace gradweave::compiler::flexer
