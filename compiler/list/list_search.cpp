#include "compiler/list/list_search.hpp"

#include "compiler/cost/cost.hpp"
#include "compiler/ir/contraction.hpp"
#include "compiler/list/block_plans.hpp"
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

/// Plans that changes are made to.
constexpr std::size_t kKept = 8;

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
  for (ListPlan &plan : block_plans(kind_, layers_, layout_, npu_))
    for (const bool listed : {false, true}) {
      if (listed) plan.options = ListOptions{};
      play(plan);
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
