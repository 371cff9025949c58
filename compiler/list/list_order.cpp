#include "compiler/list/list_order.hpp"

#include "compiler/cost/cost.hpp"
#include "compiler/lower/tiling.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace gradweave::compiler::list {
namespace {

constexpr std::size_t kMostCores = 8;
constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// What does not change while products are taken.
struct Work {
  Work(const TileWalk &walk, const std::vector<TileProduct> &products);

  const TileTable &table;
  const Machine &npu;
  std::vector<std::uint8_t> home;                 ///< the core that each product prefers
  std::vector<double> cycles;                     ///< of the array, of each product
  std::vector<std::uint32_t> before;              ///< in its chain of sums; kNone: it begins one
  std::vector<std::vector<std::uint32_t>> users;  ///< products of each tile, ascending
  std::vector<double> moving;                     ///< cycles that memory takes for each tile
  std::vector<bool> leaves;                       ///< of each product: its result is complete
  double mean_cycles = 0, latency = 0, drain = 0; ///< of a product; of memory; of the array
};

Work::Work(const TileWalk &walk, const std::vector<TileProduct> &products)
    : table(walk.table()), npu(walk.npu()), before(products.size(), kNone), users(table.tiles.size()),
      leaves(products.size(), false) {
  std::vector<std::uint32_t> writer(table.tiles.size(), kNone);
  for (std::uint32_t i = 0; i < products.size(); ++i) {
    const auto &tile = table.needs[i].tile;
    home.push_back(products[i].core);
    cycles.push_back(static_cast<double>(product_cycles(products[i], walk.layers()[products[i].layer], npu)));
    mean_cycles += cycles.back() / static_cast<double>(products.size());
    if (tile[Needs::kCin] >= 0) before[i] = writer[static_cast<std::size_t>(tile[Needs::kCin])];
    writer[static_cast<std::size_t>(tile[Needs::kCout])] = i;
    for (const std::int32_t t : tile)
      if (t >= 0 && (users[static_cast<std::size_t>(t)].empty() || users[static_cast<std::size_t>(t)].back() != i))
        users[static_cast<std::size_t>(t)].push_back(i);
  }
  for (std::uint32_t i = 0; i < products.size(); ++i)
    leaves[i] = users[static_cast<std::size_t>(table.needs[i].tile[Needs::kCout])].back() == i;
  const double rate = static_cast<double>(npu.memory.bytes_num) / static_cast<double>(npu.memory.bytes_den);
  for (const Tile &t : table.tiles)
    moving.push_back(static_cast<double>(t.rect.rows) * t.rect.cols * (t.fp32 ? 4 : 2) / rate);
  latency = npu.memory.latency_cycles;
  drain = shortest_block(npu);
}

/// A tile that the scratchpad has.
struct Resident {
  std::int32_t tile = -1;
  double busy = 0; ///< when its last use ends
};

/// What taking a product would cost.
struct Cost {
  double start = 0, loaded = 0; ///< when its core begins, and when the memory is free again
  double value = std::numeric_limits<double>::infinity();
};

/// The first products, taken.
class Partial {
public:
  explicit Partial(const Work &work)
      : work_(&work), taken_(work.cycles.size(), false), arrival_(work.moving.size(), -1), next_(work.moving.size(), 0),
        done_(work.cycles.size(), 0), free_(work.npu.spm_rows()) {}

  bool complete() const { return turns_.size() == taken_.size(); }
  /// Takes so many products, or all that are left.
  void run(std::uint32_t count, const Weights &weights, std::uint32_t ahead);
  /// When cores and memory are done with what was taken, and how far they are from each other.
  double time() const {
    double all = 0;
    for (std::size_t c = 0; c < work_->npu.cores; ++c)
      all += core_[c];
    return std::max(all / work_->npu.cores, memory_);
  }
  double end() const { return std::max(*std::max_element(core_.begin(), core_.end()), memory_); }
  std::vector<Turn> &turns() { return turns_; }

private:
  bool is_resident(std::int32_t t) const { return arrival_[static_cast<std::size_t>(t)] >= 0; }
  std::uint32_t next_user(std::int32_t t);
  void sort_victims();
  Cost cost_of(std::uint32_t product, std::size_t core, const Weights &weights, std::uint32_t overtaken) const;
  void make_room(std::uint32_t product);
  void take(std::uint32_t product, std::size_t core, const Cost &cost);
  bool needs(std::uint32_t product, std::int32_t t) const {
    const auto &tile = work_->table.needs[product].tile;
    return std::find(tile.begin(), tile.end(), t) != tile.end();
  }
  std::uint32_t rows(std::int32_t t) const { return work_->table.tiles[static_cast<std::size_t>(t)].rows; }
  /// Whether a tile that is not there has to come from memory.
  bool comes(std::int32_t t) const {
    const Tile &tile = work_->table.tiles[static_cast<std::size_t>(t)];
    return !tile.computed || (tile.role == TileRole::kPartial && next_[static_cast<std::size_t>(t)] > 0);
  }
  /// The distinct tiles of a product that are not there, the results last.
  template <typename Visit> void visit_missing(std::uint32_t product, Visit visit) const {
    const auto &tile = work_->table.needs[product].tile;
    for (std::size_t i = 0; i < tile.size(); ++i)
      if (tile[i] >= 0 && !is_resident(tile[i]) &&
          std::find(tile.begin(), tile.begin() + static_cast<std::ptrdiff_t>(i), tile[i]) ==
              tile.begin() + static_cast<std::ptrdiff_t>(i))
        visit(tile[i]);
  }

  const Work *work_;
  std::vector<Turn> turns_;
  std::vector<bool> taken_;
  std::uint32_t first_ = 0;         ///< that is not taken
  std::vector<double> arrival_;     ///< of each tile; negative: not in the scratchpad
  std::vector<std::uint32_t> next_; ///< of each tile, index of the first user that may not be taken
  std::vector<double> done_;        ///< when each product that is taken ends
  std::vector<Resident> residents_; ///< victims first, once they are sorted
  std::uint32_t free_;              ///< rows
  std::array<double, kMostCores> core_{};
  double memory_ = 0;
};

/// The product that is to use the tile next; kNone: none.
std::uint32_t Partial::next_user(std::int32_t t) {
  const std::vector<std::uint32_t> &users = work_->users[static_cast<std::size_t>(t)];
  std::uint32_t &next = next_[static_cast<std::size_t>(t)];
  while (next < users.size() && taken_[users[next]])
    ++next;
  return next < users.size() ? users[next] : kNone;
}

/// Those needed no more come first, the one whose last use ends first before others; then those needed last.
void Partial::sort_victims() {
  std::vector<std::pair<std::pair<std::uint32_t, double>, Resident>> keyed;
  keyed.reserve(residents_.size());
  for (const Resident &r : residents_)
    keyed.push_back({{kNone - next_user(r.tile), r.busy}, r});
  std::sort(keyed.begin(), keyed.end(), [](const auto &x, const auto &y) { return x.first < y.first; });
  for (std::size_t i = 0; i < keyed.size(); ++i)
    residents_[i] = keyed[i].second;
}

Cost Partial::cost_of(std::uint32_t product, std::size_t core, const Weights &weights, std::uint32_t overtaken) const {
  const auto &tile = work_->table.needs[product].tile;
  double loads = 0, space = 0, again = 0, operands = 0;
  std::uint32_t wanted = 0;
  visit_missing(product, [&](std::int32_t t) {
    wanted += rows(t);
    if (comes(t)) loads += work_->moving[static_cast<std::size_t>(t)];
  });
  std::uint32_t open = free_;
  for (std::size_t i = 0; i < residents_.size() && open < wanted; ++i) {
    const Resident &r = residents_[i];
    if (needs(product, r.tile)) continue;
    open += rows(r.tile);
    space = std::max(space, r.busy);
    const auto t = static_cast<std::size_t>(r.tile);
    if (next_[t] == work_->users[t].size()) continue;
    again += work_->moving[t] * (work_->table.tiles[t].role == TileRole::kPartial ? 2 : 1);
  }
  for (const std::int32_t t : tile)
    if (t >= 0 && is_resident(t)) operands = std::max(operands, arrival_[static_cast<std::size_t>(t)]);
  if (const std::uint32_t before = work_->before[product]; before != kNone)
    operands = std::max(operands, done_[before]);
  Cost cost;
  cost.loaded = loads > 0 ? std::max(memory_, space) + loads : memory_;
  cost.start = std::max({core_[core], operands, loads > 0 ? cost.loaded + work_->latency : space});
  cost.value =
      cost.start - core_[core] + weights.moved * (loads + again) + weights.order * overtaken * work_->mean_cycles;
  return cost;
}

void Partial::make_room(std::uint32_t product) {
  std::uint32_t wanted = 0;
  visit_missing(product, [&](std::int32_t t) { wanted += rows(t); });
  std::size_t kept = 0;
  for (const Resident &r : residents_) {
    if (free_ >= wanted || needs(product, r.tile)) {
      residents_[kept++] = r;
      continue;
    }
    free_ += rows(r.tile);
    arrival_[static_cast<std::size_t>(r.tile)] = -1;
    const auto t = static_cast<std::size_t>(r.tile);
    if (next_[t] < work_->users[t].size() && work_->table.tiles[t].role == TileRole::kPartial)
      memory_ += work_->moving[t];
  }
  residents_.resize(kept);
}

void Partial::take(std::uint32_t product, std::size_t core, const Cost &cost) {
  make_room(product);
  memory_ = std::max(memory_, cost.loaded);
  visit_missing(product, [&](std::int32_t t) {
    free_ -= std::min(free_, rows(t));
    arrival_[static_cast<std::size_t>(t)] = cost.start;
    residents_.push_back({t, 0});
  });
  const double end = cost.start + work_->cycles[product];
  const auto &tile = work_->table.needs[product].tile;
  for (Resident &r : residents_)
    if (needs(product, r.tile)) r.busy = std::max(r.busy, end);
  core_[core] = end;
  done_[product] = end + work_->drain;
  taken_[product] = true;
  turns_.push_back({product, static_cast<std::uint8_t>(core)});
  if (work_->leaves[product]) memory_ += work_->moving[static_cast<std::size_t>(tile[Needs::kCout])];
}

void Partial::run(std::uint32_t count, const Weights &weights, std::uint32_t ahead) {
  const auto all = static_cast<std::uint32_t>(taken_.size());
  for (; count > 0 && !complete(); --count) {
    const auto core =
        static_cast<std::size_t>(std::min_element(core_.begin(), core_.begin() + work_->npu.cores) - core_.begin());
    sort_victims();
    while (taken_[first_])
      ++first_;
    Cost best;
    std::uint32_t chosen = first_, looked_at = 0, overtaken = 0;
    for (std::uint32_t i = first_; i < all && looked_at < ahead; ++i) {
      if (taken_[i]) continue;
      const std::uint32_t before = work_->before[i];
      if (before == kNone || taken_[before]) {
        const Cost cost = cost_of(i, core, weights, overtaken);
        if (cost.value < best.value) {
          best = cost;
          chosen = i;
        }
        ++looked_at;
      }
      ++overtaken;
    }
    take(chosen, core, best);
  }
}

} // namespace

ListedOrder list_order(const TileWalk &walk, const std::vector<TileProduct> &products, const ListOptions &options) {
  const Work work(walk, products);
  std::vector<Partial> kept{Partial(work)};
  while (!kept.front().complete()) {
    std::vector<Partial> longer;
    for (const Partial &partial : kept)
      for (const Weights &weights : options.weights) {
        longer.push_back(partial);
        longer.back().run(options.stretch, weights, options.ahead);
      }
    std::vector<std::pair<double, std::size_t>> by_time; // of equal ones the first
    for (std::size_t i = 0; i < longer.size(); ++i)
      by_time.emplace_back(longer[i].time(), i);
    std::sort(by_time.begin(), by_time.end());
    kept.clear();
    for (std::size_t i = 0; i < std::min<std::size_t>(options.beam, by_time.size()); ++i)
      kept.push_back(std::move(longer[by_time[i].second]));
  }
  return {std::move(kept.front().turns()), kept.front().end()};
}

} // namespace gradweave::compiler::list
