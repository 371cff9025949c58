#include "compiler/flexer/list_schedule.hpp"

#include "compiler/cost/cost.hpp"
#include "compiler/flexer/block_map.hpp"
#include "compiler/flexer/tile_dag.hpp"
#include "compiler/spm/action_writer.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace gradweave::compiler::flexer {
namespace {

/// A set with what it would take to issue it.
struct Trial {
  OperationSet set;
  SetValue value;
  BlockMap map;
  std::vector<std::pair<std::int32_t, std::uint32_t>> placed; ///< tiles and their first rows
  std::vector<std::int32_t> victims;                          ///< tiles that are still to be read
  bool repacked = false;
};

std::uint64_t bytes_of(const Tile &t) { return std::uint64_t{t.rect.rows} * t.rect.cols * (t.fp32 ? 4 : 2); }

class ListScheduler {
public:
  ListScheduler(const std::vector<PhasePlan> &plans, const TileWalk &walk, const Policy &policy, std::uint32_t cores)
      : plans_(plans), walk_(walk), policy_(policy), cores_(cores), table_(walk.table()), dag_(plans, walk),
        resident_(table_.tiles.size(), false), map_(walk.npu().spm_rows()), load_(cores, 0),
        writer_(program_, table_.tiles, table_.forms, walk.layout(), walk.npu()) {
    uses_.remaining = dag_.uses();
    uses_.pinned.assign(table_.tiles.size(), 0);
    program_.layers = walk.layers();
    program_.reductions = walk.reductions();
    program_.dram_bytes = walk.layout().bytes;
    program_.products.reserve(dag_.operations().size());
    for (const PhasePlan &plan : plans_)
      products_.insert(products_.end(), plan.products.begin(), plan.products.end());
    for (std::size_t t = 0; t < table_.tiles.size(); ++t)
      if (is_input(table_.tiles[t]) && uses_.remaining[t] > 0) to_move_ += bytes_of(table_.tiles[t]);
    for (const Operation &o : dag_.operations())
      if (o.next == Operation::kNone) to_move_ += bytes_of(tile(o.result));
  }

  std::optional<Program> run(std::uint64_t most_bytes, const ListObserver &observer, const SetChoice &choice);

private:
  const Operation &operation(std::int32_t id) const { return dag_.operations()[static_cast<std::size_t>(id)]; }
  Tile &tile(std::int32_t id) { return table_.tiles[static_cast<std::size_t>(id)]; }
  const Tile &tile(std::int32_t id) const { return table_.tiles[static_cast<std::size_t>(id)]; }
  bool is_resident(std::int32_t id) const { return resident_[static_cast<std::size_t>(id)]; }

  /// A result, or a sum that is not begun, is not in memory.
  bool needs_load(std::int32_t id) const {
    return uses_.of(id) > 0 && (tile(id).role == TileRole::kElements || tile(id).dirty);
  }

  static bool is_input(const Tile &t) { return t.role == TileRole::kElements && !t.computed; }
  /// Counts what is loaded or stored; what had to be in any case no more.
  void count(const Tile &t, bool in_any_case) {
    moved_ += bytes_of(t);
    if (in_any_case) to_move_ -= bytes_of(t);
  }
  void pin(const OperationSet &set);
  std::vector<std::int32_t> missing(const OperationSet &set, bool all) const;
  std::uint64_t reused_rows(const OperationSet &set) const;
  std::optional<Trial> weigh(const OperationSet &set);
  std::optional<Trial> repack(const OperationSet &set);
  bool is_better(const SetValue &x, const SetValue &y) const;
  std::optional<Trial> best_of(const std::vector<OperationSet> &sets, ListStep &step);
  std::optional<Trial> choose(ListStep &step);
  std::optional<Trial> take(const OperationSet &set);
  void move(const Trial &trial, ListStep &step);
  void issue(const Trial &trial, ListStep &step);
  void compute(std::int32_t id, std::uint32_t core);

  const std::vector<PhasePlan> &plans_;
  const TileWalk &walk_;
  const Policy &policy_;
  std::uint32_t cores_;
  TileTable table_;
  TileDag dag_;
  std::vector<TileProduct> products_; ///< of all phases
  TileUses uses_;
  std::vector<bool> resident_; ///< tiles that are in the scratchpad and still of use
  BlockMap map_;
  std::vector<std::int32_t> ready_; ///< ascending
  std::vector<std::uint64_t> load_; ///< array cycles given to each core
  std::uint64_t moved_ = 0;         ///< bytes
  std::uint64_t to_move_ = 0;       ///< bytes at least: inputs that were not loaded yet, and results
  Program program_;
  ActionWriter writer_;
};

void ListScheduler::pin(const OperationSet &set) {
  ++uses_.set;
  for (std::uint32_t i = 0; i < set.count; ++i) {
    const Operation &o = operation(set.operations[i]);
    for (const std::int32_t t : {o.operands[0], o.operands[1], o.sum, o.result})
      if (t >= 0) uses_.pinned[static_cast<std::size_t>(t)] = uses_.set;
  }
}

/// Tiles of the set that have no place, or all of them; the largest first.
std::vector<std::int32_t> ListScheduler::missing(const OperationSet &set, bool all) const {
  std::vector<std::int32_t> tiles;
  for (std::uint32_t i = 0; i < set.count; ++i) {
    const Operation &o = operation(set.operations[i]);
    for (const std::int32_t t : {o.operands[0], o.operands[1], o.sum, o.result})
      if (t >= 0 && (all || !is_resident(t)) && std::find(tiles.begin(), tiles.end(), t) == tiles.end())
        tiles.push_back(t);
  }
  std::sort(tiles.begin(), tiles.end(),
            [&](auto x, auto y) { return std::make_pair(tile(y).rows, x) < std::make_pair(tile(x).rows, y); });
  return tiles;
}

/// What each operation finds in the scratchpad.
std::uint64_t ListScheduler::reused_rows(const OperationSet &set) const {
  std::uint64_t rows = 0;
  for (std::uint32_t i = 0; i < set.count; ++i) {
    const Operation &o = operation(set.operations[i]);
    for (const std::int32_t t : {o.operands[0], o.operands[1], o.sum})
      if (t >= 0 && is_resident(t)) rows += tile(t).rows;
  }
  return rows;
}

/// Nothing if its tiles find no room.
std::optional<Trial> ListScheduler::weigh(const OperationSet &set) {
  pin(set);
  Trial trial{set, {}, map_, {}, {}};
  trial.value.benefit = static_cast<double>(reused_rows(set));
  for (const std::int32_t id : missing(set, false)) {
    const Tile &t = tile(id);
    const auto row = trial.map.place(id, t.rows, policy_, uses_, trial.victims);
    if (!row) return std::nullopt;
    trial.placed.emplace_back(id, *row);
    if (needs_load(id)) trial.value.moved += bytes_of(t);
  }
  for (const std::int32_t id : trial.victims) {
    const Tile &t = tile(id);
    const double references = std::min(cores_, uses_.of(id));
    trial.value.spilled += t.rows;
    trial.value.benefit -= policy_.weight == SpillWeight::kDivided ? t.rows / references : t.rows * references;
    if (t.role == TileRole::kPartial) trial.value.moved += bytes_of(t);
  }
  trial.value.utility = trial.map.live_rows(uses_);
  return trial;
}

/// The set in a scratchpad that is empty but for it; nothing if that does not hold it either.
std::optional<Trial> ListScheduler::repack(const OperationSet &set) {
  Trial trial{set, {}, map_, {}, {}, true};
  trial.map.clear();
  for (const BlockMap::Block &b : map_.blocks())
    if (b.tile != BlockMap::kFree && uses_.of(b.tile) > 0) trial.victims.push_back(b.tile);
  std::uint32_t row = 0;
  for (const std::int32_t id : missing(set, true)) {
    if (row + tile(id).rows > walk_.npu().spm_rows()) return std::nullopt;
    trial.map.put(id, {row, tile(id).rows});
    trial.placed.emplace_back(id, row);
    row += tile(id).rows;
  }
  return trial;
}

bool ListScheduler::is_better(const SetValue &x, const SetValue &y) const {
  if (policy_.priority == SetPriority::kBenefit && x.benefit != y.benefit) return x.benefit > y.benefit;
  if (policy_.priority == SetPriority::kMinTransfer && x.moved != y.moved) return x.moved < y.moved;
  if (policy_.priority == SetPriority::kMinSpilling && x.spilled != y.spilled) return x.spilled < y.spilled;
  if (x.utility != y.utility) return x.utility > y.utility;
  return x.moved < y.moved;
}

/// The set of the highest priority that finds room; of equal ones the first.
std::optional<Trial> ListScheduler::best_of(const std::vector<OperationSet> &sets, ListStep &step) {
  std::vector<std::pair<std::uint64_t, const OperationSet *>> by_reuse;
  for (const OperationSet &set : sets)
    by_reuse.emplace_back(reused_rows(set), &set);
  const bool by_benefit = policy_.priority == SetPriority::kBenefit;
  if (by_benefit)
    std::sort(by_reuse.begin(), by_reuse.end(), [](const auto &x, const auto &y) {
      return std::make_pair(y.first, x.second) < std::make_pair(x.first, y.second);
    });
  std::optional<Trial> best;
  for (const auto &[reused, set] : by_reuse) {
    if (by_benefit && best && static_cast<double>(reused) < best->value.benefit)
      break; // what is spilled counts against it
    std::optional<Trial> trial = weigh(*set);
    step.weighed.push_back({*set, trial ? trial->value : SetValue{}, trial.has_value()});
    if (trial && (!best || is_better(trial->value, best->value))) best = std::move(trial);
  }
  return best;
}

/// As many operations as there are cores; fewer only if so many do not fit the scratchpad together.
std::optional<Trial> ListScheduler::choose(ListStep &step) {
  for (auto size = static_cast<std::uint32_t>(std::min<std::size_t>(cores_, ready_.size())); size > 0; --size) {
    const std::vector<OperationSet> sets = make_sets(ready_, size, dag_, resident_, true, 2, &step.sets);
    const OperationSet &first = sets.front();
    if (std::optional<Trial> best = best_of(sets, step)) return best;
    if (std::optional<Trial> packed = repack(first)) return packed;
  }
  return std::nullopt;
}

std::optional<Trial> ListScheduler::take(const OperationSet &set) {
  std::optional<Trial> trial = weigh(set);
  return trial ? trial : repack(set);
}

/// Stores what loses its place, and loads what is read of what has got one.
void ListScheduler::move(const Trial &trial, ListStep &step) {
  for (const std::int32_t id : trial.victims) {
    Tile &t = tile(id);
    const bool stored = t.role == TileRole::kPartial;
    step.victims.push_back({id, uses_.of(id), stored});
    if (stored) {
      writer_.move(Action::Kind::kStore, t, t.at, true);
      count(t, false);
    }
    resident_[static_cast<std::size_t>(id)] = false;
  }
  for (const auto &[id, row] : trial.placed) {
    Tile &t = tile(id);
    const bool is_first = t.at < 0;
    t.at = static_cast<std::int32_t>(row);
    resident_[static_cast<std::size_t>(id)] = true;
    step.placed.push_back({id, row, needs_load(id)});
    if (!needs_load(id)) continue;
    writer_.move(Action::Kind::kLoad, t, t.at, t.role == TileRole::kPartial);
    count(t, is_first && is_input(t));
  }
}

void ListScheduler::compute(std::int32_t id, std::uint32_t core) {
  TileProduct product = products_[static_cast<std::size_t>(id)];
  product.core = static_cast<std::uint8_t>(core);
  load_[core] += product_cycles(product, walk_.layers()[product.layer], walk_.npu());
  writer_.compute(product, table_.needs[static_cast<std::size_t>(id)]);
  const Operation &o = operation(id);
  for (const std::int32_t t : {o.operands[0], o.operands[1], o.sum})
    if (t >= 0) --uses_.remaining[static_cast<std::size_t>(t)];
  Tile &result = tile(o.result);
  result.dirty = true; // begun
  if (o.next == Operation::kNone) {
    writer_.move(Action::Kind::kStore, result, result.at, false);
    count(result, true);
  }
  program_.products.push_back(product);
  writer_.next_product();
}

/// Gives the set's operations to the cores, the longest to the one that has done least, and wakes those that wait.
void ListScheduler::issue(const Trial &trial, ListStep &step) {
  std::vector<std::int32_t> operations(trial.set.operations.begin(), trial.set.operations.begin() + trial.set.count);
  std::vector<std::uint32_t> cores(cores_);
  for (std::uint32_t c = 0; c < cores_; ++c)
    cores[c] = c;
  std::sort(cores.begin(), cores.end(),
            [&](auto x, auto y) { return std::make_pair(load_[x], x) < std::make_pair(load_[y], y); });
  const auto cycles = [&](std::int32_t id) {
    const TileProduct &product = products_[static_cast<std::size_t>(id)];
    return product_cycles(product, walk_.layers()[product.layer], walk_.npu());
  };
  std::sort(operations.begin(), operations.end(),
            [&](auto x, auto y) { return std::make_pair(cycles(y), x) < std::make_pair(cycles(x), y); });
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const std::int32_t id = operations[i];
    compute(id, cores[i]);
    step.issued.push_back({id, cores[i]});
    ready_.erase(std::lower_bound(ready_.begin(), ready_.end(), id));
    if (const std::int32_t next = operation(id).next; next != Operation::kNone)
      ready_.insert(std::lower_bound(ready_.begin(), ready_.end(), next), next);
  }
}

std::optional<Program> ListScheduler::run(std::uint64_t most_bytes, const ListObserver &observer,
                                          const SetChoice &choice) {
  for (std::uint32_t phase = 0; phase < plans_.size(); ++phase) {
    ready_ = dag_.sources(phase);
    while (!ready_.empty()) {
      if (moved_ + to_move_ > most_bytes) return std::nullopt;
      ListStep step;
      step.ready = ready_.size();
      std::optional<Trial> trial = choice ? take(choice(ready_)) : choose(step);
      if (!trial) return std::nullopt;
      move(*trial, step);
      map_ = std::move(trial->map);
      issue(*trial, step);
      if (!observer) continue;
      step.set = trial->set;
      step.value = trial->value;
      step.repacked = trial->repacked;
      observer(step);
    }
  }
  if (moved_ > most_bytes) return std::nullopt;
  return std::move(program_);
}

} // namespace

std::optional<Program> list_schedule(const std::vector<PhasePlan> &plans, const TileWalk &walk, const Policy &policy,
                                     std::uint32_t cores, std::uint64_t most_bytes, const ListObserver &observer,
                                     const SetChoice &choice) {
  return ListScheduler(plans, walk, policy, cores).run(most_bytes, observer, choice);
}

} // namespace gradweave::compiler::flexer
