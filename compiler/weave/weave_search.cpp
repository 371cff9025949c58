#include "compiler/weave/weave_search.hpp"

#include "base/process/parallel.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/ir/fused.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/request/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace gradweave::compiler {
namespace {

/// What a cycle of the memory counts in cycles of the array, for plans to begin with.
constexpr std::array<double, 3> kMemoryPrices{0.3, 1, 3};
/// Pieces of a pace.
constexpr std::size_t kPacePieces = 64;
/// WovenOrder::balance that are tried.
constexpr std::array<std::uint32_t, 4> kPieces{24, 48, 96, 192};
constexpr std::uint32_t kWidestWindows = 8;
/// Orders that are tried at the same time, whatever the threads: the fastest of them is kept, if it is faster.
constexpr std::size_t kTriedTogether = 2;
/// A walk goes one part of so many of the changes before half of them are given up.
constexpr std::uint64_t kParts = 16;
/// Changes that change nothing are drawn anew so often at most.
constexpr std::uint32_t kMostDraws = 20;
/// Of the rules of `tiles`: a small lead.
constexpr std::size_t kUsualRule = 2;
/// Of all jobs' cycles alone, what a turn takes at least: a tile product, more of them, a section.
constexpr std::array<double, 4> kTurns{0, 0.002, 0.02, HUGE_VAL};

} // namespace

WeaveSearch::WeaveSearch(const JobSet &jobs, JobPlans &plans, const WeaveOptions &options)
    : jobs_(jobs), plans_(plans), options_(options), player_(jobs, plans), changer_(jobs.tile_npu(), options.seed),
      rules_(rules_of(options.policy)) {
  find_links();
}

/// The fastest becomes the walk's if it is faster; of equally fast ones the first.
bool WeaveSearch::consider_together(Walk &walk, const WovenOrder *orders, std::size_t count) {
  tried_ += count;
  std::vector<std::uint64_t> cycles(count);
  for_each_in_parallel(count, options_.threads,
                       [&](std::size_t i) { cycles[i] = player_.cycles(orders[i], walk.cycles); });
  const auto least = static_cast<std::size_t>(std::min_element(cycles.begin(), cycles.end()) - cycles.begin());
  if (cycles[least] >= walk.cycles) return false;
  walk = {orders[least], cycles[least]};
  return true;
}

bool WeaveSearch::consider(Walk &walk, const std::vector<WovenOrder> &orders) {
  bool faster = false;
  for (std::size_t i = 0; i < orders.size(); i += kTriedTogether)
    faster |= consider_together(walk, &orders[i], std::min(kTriedTogether, orders.size() - i));
  return faster;
}

WovenOrder WeaveSearch::with_plans(const std::function<std::size_t(std::size_t, std::size_t)> &plan) const {
  WovenOrder order;
  order.turn = HUGE_VAL;
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    order.sections.emplace_back();
    for (std::size_t s = 0; s < jobs_.sections(job).size(); ++s) {
      SectionChoice choice;
      choice.plan = plan(job, plans_.shape_of(job, s));
      choice.shift = job % 2 == 0 ? 0 : jobs_.tile_npu().spm_banks;
      order.sections.back().push_back(choice);
    }
  }
  return order;
}

/// The cheapest plans, if the memory counts so much.
WovenOrder WeaveSearch::priced(double memory) const {
  return with_plans([&](std::size_t, std::size_t shape) {
    const std::vector<PricedPlan> &all = plans_.of(shape);
    const auto cost = [memory](const PricedPlan &p) { return p.array + memory * p.memory; };
    return static_cast<std::size_t>(
        std::min_element(all.begin(), all.end(),
                         [&](const PricedPlan &x, const PricedPlan &y) { return cost(x) < cost(y); }) -
        all.begin());
  });
}

/// The fastest plans that lie in the first macro-banks, of every other job in those that are left; where there is none,
/// the fastest of all.
WovenOrder WeaveSearch::shared_out(std::uint32_t banks) const {
  return with_plans([&](std::size_t job, std::size_t shape) {
    const std::vector<PricedPlan> &all = plans_.of(shape);
    const std::uint32_t most = job % 2 == 0 ? banks : jobs_.tile_npu().spm_banks - banks;
    const auto found = std::find_if(all.begin(), all.end(), [most](const PricedPlan &p) { return p.banks <= most; });
    return found == all.end() ? std::size_t{0} : static_cast<std::size_t>(found - all.begin());
  });
}

/// All plans to begin with, in all areas, of one job or of all.
std::vector<WovenOrder> WeaveSearch::beginnings() const {
  std::vector<WovenOrder> plans{with_plans([](std::size_t, std::size_t) { return std::size_t{0}; })};
  for (const double price : kMemoryPrices)
    plans.push_back(priced(price));
  if (jobs_.size() > 1)
    for (const std::uint32_t eighths : {3U, 5U})
      plans.push_back(shared_out(jobs_.tile_npu().spm_banks * eighths / 8));
  std::vector<WovenOrder> all;
  for (const WovenOrder &order : plans)
    for (const Areas areas : {Areas::kAnywhere, Areas::kPlanned, Areas::kAlone}) {
      all.push_back(order);
      for (std::vector<SectionChoice> &job : all.back().sections)
        for (SectionChoice &section : job)
          section.areas = areas;
    }
  return all;
}

/// The fastest of all plans and areas to begin with, and then of all rules.
WeaveSearch::Walk WeaveSearch::begin_with(const weave_model::Rule &rule, double turn) {
  Walk walk;
  std::vector<WovenOrder> orders;
  for (WovenOrder order : beginnings()) {
    order.rule = rule;
    order.turn = turn;
    // Of turns that are no sections, alone is as planned.
    if (std::isinf(turn) || order.sections.front().front().areas != Areas::kAlone) orders.push_back(std::move(order));
  }
  consider(walk, orders);
  if (walk.cycles == kTooSlow) return walk;
  orders.assign(rules_.size(), walk.order);
  for (std::size_t i = 0; i < rules_.size(); ++i)
    orders[i].rule = rules_[i];
  consider(walk, orders);
  if (!weaves_tiles() || std::isinf(turn)) return walk;
  orders.assign(kPieces.size(), walk.order);
  for (std::size_t i = 0; i < kPieces.size(); ++i)
    orders[i].balance = kPieces[i];
  consider(walk, orders);
  return walk;
}

/// Each job with all the others' beginnings by itself: what suits one need not suit another.
void WeaveSearch::choose_by_job(Walk &walk) {
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    std::vector<WovenOrder> orders;
    for (const WovenOrder &other : beginnings()) {
      orders.push_back(walk.order);
      orders.back().sections[job] = other.sections[job];
    }
    consider(walk, orders);
  }
}

bool WeaveSearch::begin() {
  walks_ = {begin_with(rules_.front(), HUGE_VAL)};
  if (cycles() == kTooSlow) return false;
  double alone = 0;
  for (std::size_t job = 0; job < jobs_.size(); ++job)
    for (const std::size_t shape : plans_.shapes_of(job))
      alone += static_cast<double>(plans_.of(shape).front().cycles);
  for (const double share : kTurns)
    turns_.push_back(share * alone);
  if (jobs_.size() == 1) return true;
  if (weaves_tiles())
    for (const double turn : turns_)
      walks_.push_back(begin_with(rules_[kUsualRule], turn));
  sort_walks();
  for (std::size_t i = 0; i < std::min<std::size_t>(walks_.size(), 2); ++i)
    choose_by_job(walks_[i]);
  sort_walks();
  return true;
}

/// The fastest first; of equally fast ones, the first.
void WeaveSearch::sort_walks() {
  std::vector<Walk> sorted;
  for (Walk &walk : walks_) {
    const auto at = std::upper_bound(sorted.begin(), sorted.end(), walk.cycles,
                                     [](std::uint64_t cycles, const Walk &other) { return cycles < other.cycles; });
    sorted.insert(at, std::move(walk));
  }
  walks_ = std::move(sorted);
}

/// All walks go a part of the way, the faster half of them another one, and so on; the fastest goes to the end.
void WeaveSearch::run() {
  if (!weaves_tiles()) return;
  const std::uint64_t part = options_.changes / kParts;
  while (changes_ < options_.changes) {
    const std::uint64_t each = walks_.size() == 1 ? options_.changes : part;
    for (Walk &walk : walks_)
      for (std::uint64_t i = 0; i < each && changes_ < options_.changes; i += kTriedTogether) {
        if (options_.progress) options_.progress(changes_, options_.changes);
        const std::uint64_t count = std::min<std::uint64_t>(kTriedTogether, options_.changes - changes_);
        changes_ += count;
        change(walk, count);
      }
    sort_walks();
    walks_.resize((walks_.size() + 1) / 2);
  }
}

/// Sections of a job that read or write a tensor of activations that another one does. Networks repeat their layers: of
/// each pair of shapes one, as all sections of a shape are cut alike.
void WeaveSearch::find_links() {
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    std::set<std::pair<std::size_t, std::size_t>> known;    // shapes
    std::map<std::int32_t, std::vector<std::size_t>> users; // by tensor
    for (std::size_t s = 0; s < jobs_.sections(job).size(); ++s) {
      const JobSection &section = jobs_.sections(job)[s];
      if (is_in_section(jobs_.layers(), section.layer)) continue; // it finds its operands in memory
      for (const Tensor t : activation_tensors())
        if (const std::int32_t place = jobs_.layout().place(section.layer, t);
            place != Layout::kNone && used_in(t, section.pass))
          users[place].push_back(s);
    }
    for (const auto &[tensor, sections] : users)
      for (std::size_t i = 1; i < sections.size(); ++i)
        if (known.emplace(plans_.shape_of(job, sections[i - 1]), plans_.shape_of(job, sections[i])).second)
          links_.push_back({{job, sections[i - 1]}, {job, sections[i]}});
  }
}

std::vector<WeaveSearch::Place> WeaveSearch::all_alike(const Place &place) const {
  std::vector<Place> alike;
  for (std::size_t s = 0; s < jobs_.sections(place.job).size(); ++s)
    if (plans_.shape_of(place.job, s) == plans_.shape_of(place.job, place.section)) alike.push_back({place.job, s});
  return alike;
}

/// A section, or all of the job that are of its shape: networks repeat their layers.
std::vector<WeaveSearch::Place> WeaveSearch::pick_alike() {
  const std::size_t job = changer_.pick(jobs_.size()), one = changer_.pick(jobs_.sections(job).size());
  if (changer_.pick(4) == 0) return {{job, one}};
  return all_alike({job, one});
}

void WeaveSearch::change_plan(WovenOrder &order) {
  const std::vector<Place> places = pick_alike();
  const std::size_t plan = changer_.pick(plans_.of(plans_.shape_of(places.front().job, places.front().section)).size());
  for (const Place &place : places)
    at(order, place).plan = plan;
}

/// Gives sections of one shape a new plan. Whether it fits.
bool WeaveSearch::set_plan(WovenOrder &order, const std::vector<Place> &places, std::vector<PhasePlan> phases) {
  const std::size_t shape = plans_.shape_of(places.front().job, places.front().section);
  for (PhasePlan &p : phases) { // that was cut like another layer's
    const TileShape largest = largest_tile(p.kind, plans_.layer_of(shape));
    p.tile = {std::min(p.tile.m, largest.m), std::min(p.tile.k, largest.k), std::min(p.tile.n, largest.n)};
  }
  std::size_t plan = plans_.find(shape, phases);
  if (plan == plans_.of(shape).size()) try {
      plans_.add(shape, price_plan(std::move(phases), plans_.layer_of(shape), plans_.pass_of(shape), jobs_.tile_npu()));
    } catch (const CompileError &) {
      return false;
    }
  for (const Place &place : places)
    at(order, place).plan = plan;
  return true;
}

/// A plan that nobody has searched for.
void WeaveSearch::invent_plan(WovenOrder &order) {
  const std::vector<Place> places = pick_alike();
  std::vector<PhasePlan> phases = phases_at(order, places.front());
  if (phases.empty() || phases.front().section) return;
  changer_.change(phases, layer_at(places.front()));
  set_plan(order, places, std::move(phases));
}

/// Cuts what two sections have in common alike, so that its tiles can stay from one to the other.
void WeaveSearch::cut_alike(WovenOrder &order) {
  if (links_.empty()) return;
  const Link &link = links_[changer_.pick(links_.size())];
  const bool turned = changer_.pick(2) == 0, whole = changer_.pick(2) == 0;
  const Place &one = turned ? link.other : link.one, &other = turned ? link.one : link.other;
  std::vector<PhasePlan> mine = phases_at(order, one), theirs = phases_at(order, other);
  const Layer &layer = layer_at(one), &other_layer = layer_at(other);
  if (whole) {
    for (PhasePlan &p : theirs)
      p.tile.m = largest_tile(p.kind, other_layer).m;
    set_plan(order, all_alike(other), theirs);
  }
  align(mine, layer, theirs[changer_.pick(theirs.size())], other_layer);
  if (whole)
    for (PhasePlan &p : mine)
      p.tile.m = largest_tile(p.kind, layer).m;
  if (set_plan(order, all_alike(one), mine)) return;
  const RowRange all{0, jobs_.tile_npu().spm_rows()};
  for (PhasePlan &p : mine)
    p.split = {all, all, all};
  set_plan(order, all_alike(one), mine);
}

void WeaveSearch::change_areas(WovenOrder &order) {
  constexpr std::array<Areas, 5> kAreas{Areas::kAnywhere, Areas::kAnywhere, Areas::kPlanned, Areas::kPlanned,
                                        Areas::kAlone};
  const Areas areas = kAreas[changer_.pick(kAreas.size())];
  const std::uint32_t shift = changer_.pick(jobs_.tile_npu().spm_banks + 1);
  for (const Place &place : pick_alike()) {
    at(order, place).areas = areas;
    at(order, place).shift = shift;
  }
}

void WeaveSearch::change_window(WovenOrder &order) {
  const std::uint32_t windows = 1 + changer_.pick(kWidestWindows);
  for (const Place &place : pick_alike())
    at(order, place).windows = windows;
}

/// A job is ahead or behind for a while.
void WeaveSearch::change_pace(WovenOrder &order) {
  if (order.paces.empty()) {
    Pace even;
    for (std::size_t i = 0; i <= kPacePieces; ++i)
      even.push_back(static_cast<double>(i) / kPacePieces);
    order.paces.assign(jobs_.size(), even);
  }
  Pace &pace = order.paces[changer_.pick(jobs_.size())];
  constexpr std::array<double, 3> kScales{1, 0.3, 0.1};
  const std::size_t first = changer_.pick(pace.size());
  const std::size_t last = std::min(first + (std::size_t{1} << changer_.pick(7)), pace.size()) - 1;
  const double by = (static_cast<double>(changer_.pick(41)) - 20) / 200 * kScales[changer_.pick(kScales.size())];
  for (std::size_t i = first; i <= last; ++i)
    pace[i] += by;
  for (std::size_t i = 1; i < pace.size(); ++i)
    pace[i] = std::max(pace[i], pace[i - 1]);
}

void WeaveSearch::change_rule(WovenOrder &order) {
  switch (changer_.pick(4)) {
  case 0:
    order.balance = 0;
    order.rule = rules_[changer_.pick(rules_.size())];
    break;
  case 1:
    order.balance = kPieces[changer_.pick(kPieces.size())];
    break;
  default:
    order.turn = turns_[changer_.pick(turns_.size())];
  }
}

void WeaveSearch::change_once(WovenOrder &order) {
  switch (changer_.pick(10)) {
  case 0:
  case 1:
    change_plan(order);
    break;
  case 2:
    invent_plan(order);
    break;
  case 3:
    change_areas(order);
    break;
  case 4:
    change_window(order);
    break;
  case 5:
    change_rule(order);
    break;
  case 6:
  case 7:
    cut_alike(order);
    break;
  default:
    change_pace(order);
  }
}

/// Tries so many changes, each another one if it changes nothing.
void WeaveSearch::change(Walk &walk, std::uint64_t count) {
  std::vector<WovenOrder> orders(count, walk.order);
  for (WovenOrder &order : orders)
    for (std::uint32_t i = 0; i < kMostDraws && order == walk.order; ++i)
      change_once(order);
  if (consider(walk, orders)) ++improvements_;
}

} // namespace gradweave::compiler
