#include "compiler/flexer/operation_sets.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

namespace gradweave::compiler::flexer {
namespace {

/// The tiles of an operation by kind: A, B, and the sum that it continues, or the result that it begins.
std::array<std::int32_t, 3> tiles_of(const Operation &o) {
  return {o.operands[0], o.operands[1], o.sum >= 0 ? o.sum : o.result};
}

} // namespace

DataflowMap::DataflowMap(const OperationSet &set, const TileDag &dag, const std::vector<bool> &resident) {
  for (std::size_t kind = 0; kind < 3; ++kind) {
    std::array<std::int32_t, kMostCores> tiles{};
    for (std::uint32_t i = 0; i < set.count; ++i)
      tiles[i] = tiles_of(dag.operations()[static_cast<std::size_t>(set.operations[i])])[kind];
    const auto end = tiles.begin() + set.count;
    std::sort(tiles.begin(), end);
    std::array<std::size_t, 2> next{};
    for (auto at = tiles.begin(); at != end;) {
      const auto after = std::find_if(at, end, [&](std::int32_t t) { return t != *at; });
      const std::size_t state = resident[static_cast<std::size_t>(*at)] ? 0 : 1;
      counts_[2 * kind + state][next[state]++] = static_cast<std::uint8_t>(after - at);
      at = after;
    }
    for (std::size_t state = 0; state < 2; ++state)
      std::sort(counts_[2 * kind + state].begin(), counts_[2 * kind + state].end(), std::greater<>());
  }
}

namespace {

/// Grows sets level by level.
class SetGrower {
public:
  SetGrower(const std::vector<std::int32_t> &ready, const TileDag &dag, const std::vector<bool> &resident,
            std::uint32_t keep)
      : ready_(ready), dag_(dag), resident_(resident), keep_(keep) {
    for (const std::int32_t id : ready_) {
      const Operation &o = dag_.operations()[static_cast<std::size_t>(id)];
      for (const std::int32_t t : o.operands)
        if (t >= 0) readers_[t].push_back(id);
      alike_[state_of(o)].push_back(id);
    }
  }

  std::vector<OperationSet> run(std::uint32_t size) {
    std::vector<OperationSet> sets{OperationSet{}};
    for (std::uint32_t level = 1; level <= size; ++level)
      sets = grow(sets, level == size ? 1 : keep_);
    return sets;
  }
  std::uint64_t looked_at() const { return looked_at_; }

private:
  /// An operation's state, and which of its operands the set uses, too.
  using Join = std::tuple<std::uint32_t, std::int32_t, std::int32_t>;

  /// Which of an operation's tiles are in the scratchpad.
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
  bool contains(const OperationSet &set, std::int32_t id) const {
    return std::find(set.operations.begin(), set.operations.begin() + set.count, id) !=
           set.operations.begin() + set.count;
  }

  std::vector<OperationSet> grow(const std::vector<OperationSet> &sets, std::uint32_t keep) {
    std::map<DataflowMap, std::uint32_t> known;
    std::vector<OperationSet> grown;
    for (const OperationSet &set : sets)
      for (const std::int32_t id : candidates(set, keep)) {
        OperationSet larger = set;
        larger.operations[larger.count++] = id;
        std::sort(larger.operations.begin(), larger.operations.begin() + larger.count);
        ++looked_at_;
        std::uint32_t &kept = known[DataflowMap(larger, dag_, resident_)];
        if (kept == keep) continue;
        const auto same = [&](const OperationSet &o) { return o.operations == larger.operations; };
        if (std::any_of(grown.begin(), grown.end(), same)) continue;
        ++kept;
        grown.push_back(larger);
      }
    return grown;
  }

  /// Operations that could join the set, `keep` for each map that it could have then: of those that share tiles with
  /// it, and of those that share none, the first of each state.
  std::vector<std::int32_t> candidates(const OperationSet &set, std::uint32_t keep) const {
    std::vector<std::int32_t> found;
    std::map<Join, std::uint32_t> known;
    const auto add = [&](std::int32_t id) {
      if (contains(set, id) || std::find(found.begin(), found.end(), id) != found.end()) return;
      const Operation &o = operation(id);
      const Join join{state_of(o), uses(set, 0, o.operands[0]) ? o.operands[0] : Operation::kNone,
                      uses(set, 1, o.operands[1]) ? o.operands[1] : Operation::kNone};
      if (known[join]++ < keep) found.push_back(id);
    };
    for (std::uint32_t i = 0; i < set.count; ++i)
      for (const std::int32_t t : operation(set.operations[i]).operands)
        if (t >= 0)
          for (const std::int32_t id : readers_.at(t))
            add(id);
    for (const auto &[state, ids] : alike_) {
      const auto apart = [&](std::int32_t id) {
        return !uses(set, 0, operation(id).operands[0]) && !uses(set, 1, operation(id).operands[1]);
      };
      std::uint32_t count = 0;
      for (auto at = ids.begin(); at != ids.end() && count < keep; ++at)
        if (apart(*at)) {
          add(*at);
          ++count;
        }
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  const std::vector<std::int32_t> &ready_;
  const TileDag &dag_;
  const std::vector<bool> &resident_;
  std::uint32_t keep_;
  std::map<std::int32_t, std::vector<std::int32_t>> readers_; ///< ready operations of each operand
  std::map<std::uint32_t, std::vector<std::int32_t>> alike_;  ///< and of each state
  std::uint64_t looked_at_ = 0;
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
