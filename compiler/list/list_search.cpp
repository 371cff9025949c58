#include "compiler/list/list_search.hpp"

#include "compiler/cost/cost.hpp"
#include "compiler/cost/estimate.hpp"
#include "compiler/cost/splits.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/contraction.hpp"
#include "compiler/lower/order.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/spm/residency.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <utility>

namespace gradweave::compiler::list {
namespace {

/// Tilings with blocks that are scheduled, those of the best estimates.
constexpr std::size_t kTried = 40;
/// Of those, with blocks of one size.
constexpr std::uint32_t kAlike = 3;
/// Plans that changes are made to.
constexpr std::size_t kKept = 8;
/// Products of a phase at most: more take too long, and each is too short.
constexpr std::uint64_t kMostListed = 10'000;
constexpr std::array<std::uint32_t, 7> kTimes{1, 2, 3, 4, 6, 8, 12};
constexpr std::uint32_t kMostSums = 24; ///< tiles of a block

struct Candidate {
  TileShape tile;
  Block block;
  RoughEstimate rough;
  double cycles = 0;
};

/// Of a block as one tile whose products all cores compute together.
/// `shared`: the machine with so large a scratchpad that a core's part is the whole.
Candidate estimate(PhaseKind kind, const TileShape &tile, const Block &block, const Layer &layer, const Machine &npu,
                   const Machine &shared) {
  const Contraction &c = contraction_of(form_of(kind).results.front());
  Candidate found{tile, block, {}, 0};
  const LoopOrder loops = block.down ? LoopOrder{c.col, c.row, c.red} : LoopOrder{c.row, c.col, c.red};
  TileShape large = together(kind, tile, block);
  const TileShape largest = largest_tile(kind, layer);
  large = {std::min(large.m, largest.m), std::min(large.k, largest.k), std::min(large.n, largest.n)};
  found.rough = rough_estimate(kind, loops, large, layer, shared, npu.cores);
  const double sums = block.rows * block.cols;
  const double turns = static_cast<double>(divide_up(block.rows * block.cols, npu.cores)) * npu.cores / sums;
  const double arrays = static_cast<double>(phase_cycles(kind, tile, layer, npu)) / npu.cores;
  found.cycles = std::max(found.rough.cycles / npu.cores, arrays * (1 + 0.25 * (turns - 1)));
  return found;
}

/// In the order that the plan prefers.
std::vector<TileProduct> preferred_products(const ListPlan &plan, const Layer &layer, const Machine &npu) {
  return plan.block ? blocked_products(plan.phase.kind, plan.phase.tile, *plan.block, layer, npu.cores)
                    : plan_products(plan.phase, layer, npu);
}

/// In the order in which they come off the list.
std::vector<TileProduct> in_turn(const std::vector<TileProduct> &products, const TileWalk &walk,
                                 const ListOptions &options) {
  const ListedOrder listed = list_order(walk, products, options);
  std::vector<TileProduct> in_turn;
  in_turn.reserve(products.size());
  for (const Turn &t : listed.turns) {
    in_turn.push_back(products[t.product]);
    in_turn.back().core = t.core;
  }
  return in_turn;
}

class ListSearch {
public:
  ListSearch(PhaseKind kind, const Layer &layer, const Layout &layout, const Machine &npu,
             const ListSearchOptions &options, const std::function<void()> &tried)
      : kind_(kind), layers_{layer}, layout_(layout), npu_(npu), options_(options), tried_(tried),
        random_(options.seed) {}

  std::optional<ListPlan> run();

private:
  const Layer &layer() const { return layers_.front(); }
  std::vector<Candidate> candidates() const;
  bool place(Candidate &c) const;
  void play(ListPlan plan);
  std::uint64_t cycles_of(const ListPlan &plan, std::uint64_t most);
  std::uint64_t time(const Program &program, std::uint64_t most);
  void change(ListPlan &plan);
  void change_tile(TileShape &tile);
  void change_order(ListPlan &plan);
  void change_list(ListPlan &plan);
  void change_split(SpmSplit &split);
  std::uint32_t pick(std::size_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  template <typename T, std::size_t kCount> T any_of(const std::array<T, kCount> &all) { return all.at(pick(kCount)); }
  /// From so many cycles on a plan is of no use.
  std::uint64_t limit() const { return kept_.size() < kKept ? kTooSlow : kept_.back().cycles; }

  PhaseKind kind_;
  std::vector<Layer> layers_;
  const Layout &layout_;
  const Machine &npu_;
  const ListSearchOptions &options_;
  const std::function<void()> &tried_;
  std::mt19937_64 random_;
  std::vector<ListPlan> kept_; ///< best first
  /// What timing under a limit came to: cycles, or kTooSlow, which they are not below.
  struct Timed {
    std::uint64_t limit = 0, cycles = kTooSlow;

    bool tells(std::uint64_t most) const { return cycles != kTooSlow || most <= limit; }
    std::uint64_t within(std::uint64_t most) const { return cycles < most ? cycles : kTooSlow; }
  };
  std::map<std::vector<double>, Timed> plans_; ///< by all that tells plans apart
  std::map<ProgramKey, Timed> programs_;
};

/// Everything that distinguishes plans, in plain numbers.
std::vector<double> numbers_of(const ListPlan &plan) {
  const PhasePlan &p = plan.phase;
  std::vector<double> numbers;
  for (const std::uint32_t v :
       {p.tile.m, p.tile.k, p.tile.n, p.split.shared.first, p.split.shared.rows, p.split.other.first,
        p.split.other.rows, p.split.result.first, p.split.result.rows, p.window, p.parts.count, p.parts.cores})
    numbers.push_back(v);
  for (const Dim d : {p.loops[0], p.loops[1], p.loops[2], p.parts.dim})
    numbers.push_back(static_cast<double>(d));
  numbers.insert(numbers.end(), {p.policy.reload, p.policy.conflict, static_cast<double>(p.parts.reduction),
                                 static_cast<double>(p.parts.sharing)});
  numbers.push_back(plan.block ? 1 : 0);
  if (plan.block)
    numbers.insert(numbers.end(), {static_cast<double>(plan.block->rows), static_cast<double>(plan.block->cols),
                                   plan.block->down ? 1.0 : 0.0});
  if (!plan.options) return numbers;
  const auto &[weights, beam, stretch, ahead] = *plan.options;
  for (const std::uint32_t v : {beam, stretch, ahead})
    numbers.push_back(v);
  for (const Weights &w : weights)
    numbers.insert(numbers.end(), {w.moved, w.order, w.home});
  return numbers;
}

/// What a step of a block's reduction takes of the scratchpad, the sums that stay and one result included.
struct StepRows {
  std::uint32_t shared = 0, other = 0, sums = 0;
};

StepRows rows_of_step(const std::vector<TileProduct> &products, const TileTable &table) {
  StepRows rows;
  const Contraction &c = contraction_of(products.front().result);
  for (std::size_t i = 0; i < products.size(); ++i) {
    const Needs &needs = table.needs[i];
    const auto count = [&](std::size_t slot, std::uint32_t &sum) {
      const Tile &t = table.tiles[static_cast<std::size_t>(needs.tile[slot])];
      if (t.first_use == i) sum += t.rows;
    };
    count(Needs::kA, c.a == c.shared ? rows.shared : rows.other);
    count(Needs::kB, c.a == c.shared ? rows.other : rows.shared);
    count(Needs::kCout, rows.sums);
  }
  return rows;
}

/// The candidate's areas, if a step of its first block fits with the operands of half of the next.
bool ListSearch::place(Candidate &c) const {
  std::vector<PhasePlan> phases(1);
  phases.front().kind = kind_;
  phases.front().tile = c.tile;
  std::vector<TileProduct> &products = phases.front().products;
  products = first_step(kind_, c.tile, c.block, layer());
  const TileWalk walk(phases, layers_, layout_, npu_);
  const StepRows rows = rows_of_step(products, walk.table());
  const std::uint32_t operands = rows.shared + rows.other;
  const auto all = static_cast<double>(npu_.spm_rows());
  if (rows.sums + 1.5 * operands > all) return false;
  const double spare = std::min(1.0, (all - rows.sums) / operands - 1); // share of the next operands that can be there
  c.rough.shared_rows = (1 + spare) * rows.shared;
  c.rough.other_rows = (1 + spare) * rows.other;
  c.rough.result_rows = rows.sums;
  return true;
}

std::vector<Candidate> ListSearch::candidates() const {
  const auto sides = [&](Dim dim) { return sides_along(kind_, dim, layer(), npu_); };
  const std::vector<std::uint32_t> ms = sides(Dim::kM), ks = sides(Dim::kK), ns = sides(Dim::kN);
  const Contraction &c = contraction_of(form_of(kind_).results.front());
  Machine shared = npu_;
  shared.spm_bytes *= npu_.cores;
  std::vector<Candidate> found;
  for (const std::uint32_t m : ms)
    for (const std::uint32_t k : ks)
      for (const std::uint32_t n : ns) {
        const TileShape tile{m, k, n};
        if (product_count(kind_, tile, layer()) > kMostListed) continue;
        for (const std::uint32_t rows : kTimes)
          for (const std::uint32_t cols : kTimes) {
            const std::uint64_t sums = 4ULL * rows * cols * side_of(tile, c.row) * side_of(tile, c.col);
            if (rows * cols > kMostSums || sums > npu_.spm_bytes) continue;
            for (const bool down : {false, true})
              found.push_back(estimate(kind_, tile, {rows, cols, down}, layer(), npu_, shared));
          }
      }
  std::sort(found.begin(), found.end(), [](const Candidate &x, const Candidate &y) { return x.cycles < y.cycles; });
  std::vector<Candidate> best;
  std::map<std::array<std::uint32_t, 3>, std::uint32_t> alike; // of one block, whatever its tiles
  for (Candidate &one : found) {
    if (best.size() == kTried) break;
    const TileShape large = together(kind_, one.tile, one.block);
    std::uint32_t &count = alike[{large.m, large.k, large.n}];
    if (count == kAlike || !place(one)) continue;
    ++count;
    best.push_back(one);
  }
  return best;
}

/// Of the program, if they are fewer than `most`; else kTooSlow. Many plans come to the same program.
std::uint64_t ListSearch::time(const Program &program, std::uint64_t most) {
  if (program_bound(program, npu_) >= most) return kTooSlow;
  Timed &known = programs_[key_of(program)];
  if (!known.tells(most)) known = {most, program_cycles(program, npu_, most)};
  return known.within(most);
}

/// Of the plan, if they are fewer than `most`; else kTooSlow, often before anything is placed or even ordered.
std::uint64_t ListSearch::cycles_of(const ListPlan &plan, std::uint64_t most) {
  std::vector<PhasePlan> phases{plan.phase};
  std::vector<TileProduct> &products = phases.front().products;
  products = preferred_products(plan, layer(), npu_);
  std::uint64_t arrays = 0;
  for (const TileProduct &p : products)
    arrays += product_cycles(p, layer(), npu_);
  if (most != kTooSlow && arrays / npu_.cores >= most) return kTooSlow;
  const TrafficLimit limit = traffic_limit(most, true, npu_);
  TileWalk walk(phases, layers_, layout_, npu_);
  if (least_traffic(walk, limit.command_bytes) >= limit.bytes) return kTooSlow;
  if (plan.options) products = in_turn(products, walk, *plan.options);
  const auto program =
      plan.options ? allocate(phases, layers_, layout_, npu_, limit) : allocate(phases, std::move(walk), limit);
  if (!program || program->room().bytes() > npu_.memory.size_bytes) return kTooSlow;
  return time(*program, most);
}

void ListSearch::play(ListPlan plan) {
  if (tried_) tried_();
  if (!fits(kind_, plan.phase.tile, plan.phase.split, part_of(layer(), plan.phase.parts, npu_), npu_,
            plan.phase.parts) ||
      product_count(kind_, plan.phase.tile, layer()) > kMostListed)
    return;
  const std::uint64_t most = limit();
  Timed &known = plans_[numbers_of(plan)];
  if (!known.tells(most)) known = {most, cycles_of(plan, most)};
  plan.cycles = known.within(most);
  if (plan.cycles == kTooSlow) return;
  const auto at = std::upper_bound(kept_.begin(), kept_.end(), plan.cycles,
                                   [](std::uint64_t c, const ListPlan &other) { return c < other.cycles; });
  kept_.insert(at, std::move(plan));
  if (kept_.size() > kKept) kept_.pop_back();
}

void ListSearch::change_tile(TileShape &tile) {
  const Dim dim = any_of(std::array<Dim, 3>{Dim::kM, Dim::kK, Dim::kN});
  const std::vector<std::uint32_t> sides = sides_along(kind_, dim, layer(), npu_);
  std::uint32_t &side = dim == Dim::kM ? tile.m : dim == Dim::kK ? tile.k : tile.n;
  const auto at = static_cast<std::size_t>(
      std::lower_bound(sides.begin(), sides.end(), side, [](auto x, auto y) { return x > y; }) - sides.begin());
  const std::size_t step = 1 + pick(2);
  const std::size_t now = pick(2) == 0 ? at + step : at - std::min(at, step);
  side = sides[std::min(now, sides.size() - 1)];
}

/// Moves a border between areas by a macro-bank or two.
void ListSearch::change_split(SpmSplit &split) {
  const std::uint32_t bank = npu_.bank_rows(), rows = npu_.spm_rows();
  std::uint32_t first = split.other.first, second = split.result.first;
  std::uint32_t &border = pick(2) == 0 ? first : second;
  const std::uint32_t by = (1 + pick(2)) * bank;
  border = pick(2) == 0 ? border + by : border - std::min(border, by);
  if (first < bank || second < first + bank || second + bank > rows) return;
  split = {{0, first}, {first, second - first}, {second, rows - second}};
}

/// Of the order that is preferred.
void ListSearch::change_order(ListPlan &plan) {
  if (!plan.block) {
    const PhaseForm &form = form_of(kind_);
    plan.phase.loops = form.loops[pick(form.loops.size())];
    return;
  }
  switch (pick(3)) {
  case 0:
    plan.block->rows = std::max(1U, plan.block->rows + pick(3) - 1);
    return;
  case 1:
    plan.block->cols = std::max(1U, plan.block->cols + pick(3) - 1);
    return;
  default:
    plan.block->down = !plan.block->down;
  }
}

void ListSearch::change_list(ListPlan &plan) {
  if (pick(3) == 0) {
    plan.options.reset();
    return;
  }
  ListOptions options;
  options.ahead = any_of(std::array<std::uint32_t, 5>{1, 4, 8, 16, 32});
  options.weights = {{any_of(std::array<double, 4>{0, 0.25, 0.5, 1}),
                      any_of(std::array<double, 5>{0.02, 0.05, 0.1, 0.3, 1}),
                      any_of(std::array<double, 3>{0.5, 2, 20})}};
  if (pick(4) == 0) { // several weights, which a beam chooses among
    options.beam = 3;
    options.weights.push_back({0, 0.3, 2});
    options.weights.push_back({1, 0.05, 2});
  }
  plan.options = options;
}

void ListSearch::change(ListPlan &plan) {
  switch (pick(6)) {
  case 0:
    return change_tile(plan.phase.tile);
  case 1:
    return change_order(plan);
  case 2:
    return change_list(plan);
  case 3:
    plan.phase.window = any_of(std::array<std::uint32_t, 8>{1, 2, 3, 4, 6, 8, 12, 16});
    return;
  case 4:
    plan.phase.policy = {any_of(std::array<double, 4>{1, 4, 16, 32}), any_of(std::array<double, 4>{0.3, 1, 3, 10})};
    return;
  default:
    return change_split(plan.phase.split);
  }
}

std::optional<ListPlan> ListSearch::run() {
  for (const PhasePlan &phase : options_.from)
    for (const bool listed : {false, true}) {
      ListPlan plan;
      plan.phase = phase;
      if (listed) plan.options = ListOptions{};
      play(std::move(plan));
    }
  const Contraction &result = contraction_of(form_of(kind_).results.front());
  for (const Candidate &c : candidates())
    for (const SpmSplit &split : splits_near(c.rough, npu_, 0)) {
      ListPlan plan;
      plan.phase.kind = kind_;
      plan.phase.tile = c.tile;
      plan.phase.split = split;
      plan.phase.window = npu_.cores;
      plan.phase.loops = {result.row, result.col, result.red};
      plan.block = c.block;
      plan.options = ListOptions{};
      play(std::move(plan));
    }
  if (kept_.empty()) return std::nullopt;
  for (std::uint64_t i = 0; i < options_.plans; ++i) {
    ListPlan plan = kept_[std::min(pick(kept_.size()), pick(kept_.size()))];
    for (std::uint32_t changes = 1 + pick(3); changes > 0; --changes)
      change(plan);
    play(std::move(plan));
  }
  return kept_.front();
}

} // namespace

std::vector<TileProduct> list_products(const ListPlan &plan, const std::vector<Layer> &layers, const Layout &layout,
                                       const Machine &npu) {
  std::vector<PhasePlan> phases{plan.phase};
  std::vector<TileProduct> &products = phases.front().products;
  products = preferred_products(plan, layers[plan.phase.layer], npu);
  if (!plan.options) return std::move(products);
  return in_turn(products, TileWalk(phases, layers, layout, npu), *plan.options);
}

std::optional<ListPlan> search_list(PhaseKind kind, const Layer &layer, const Layout &layout, const Machine &npu,
                                    const ListSearchOptions &options, const std::function<void()> &tried) {
  return ListSearch(kind, layer, layout, npu, options, tried).run();
}

} // namespace gradweave::compiler::list
