#include "compiler/schedule/step/step_walk.hpp"
#include "compiler/cost/cost.hpp"
#include "compiler/ir/contraction.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/schedule/step/step_placement.hpp"
#include "compiler/spm/residency.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace gradweave::compiler {
namespace {

/// Sections on each side of a changed one that are simulated with it.
constexpr std::size_t kNeighbours = 2;
/// The farthest that is tried of PhasePlan::reach, but for no limit.
constexpr std::uint32_t kFarthest = 3;

} // namespace

StepWalk::StepWalk(const std::vector<Layer> &layers, const Layout &layout, const StepPlans &own, PlansBeside &beside,
                   const std::function<void()> &progress, Objective objective)
    : layers_(layers), layout_(layout), npu_(own.machine().tiles), judge_(own.machine().npu, objective),
      beside_(beside), progress_(progress), changer_(npu_), weaver_(npu_), mover_(npu_) {
  own.for_passes([&](std::size_t i, Pass direction) {
    Section &section = sections_.emplace_back();
    section.layer = static_cast<std::uint32_t>(i);
    section.choice = &own.of(i, direction);
    section.unit = own.sections(i, direction);
    forward_sections_ += direction == Pass::kForward ? 1 : 0;
  });
}

void StepWalk::offer_thrifty(const StepPlans &own, PlansBeside &beside) {
  thrifty_beside_ = &beside;
  for (std::size_t s = 0; s < sections_.size(); ++s)
    sections_[s].thrifty = own.thrifty(sections_[s].layer, s < forward_sections() ? Pass::kForward : Pass::kBackward);
}

void StepWalk::begin(std::size_t level) {
  for (Section &section : sections_) {
    const std::vector<OwnPlan> &levels = section.choice->levels;
    set(section, levels[std::min(level, levels.size() - 1)].phases);
    section.woven = section.parts = section.alone = false;
    section.reach = section.later = 0;
  }
  around_.clear();
  cost_ = first_cost_ = cost(0, sections_.size(), kNoPlan);
  falls_ = {{work_.simulated, cost_}};
  // Layers by themselves have the whole scratchpad. Areas of their own keep the tiles of neighbours out, and so does
  // to give up all reuse between layers, which costs traffic, but leaves tiles where the layer alone has them.
  const RowRange all{0, npu_.spm_rows()};
  try_on_all([](Section &section) { section.alone = true; });
  try_on_all([&](Section &section) {
    for (PhasePlan &p : section.plans)
      p.split = {all, all, all};
  });
}

/// Plans that are to run for the section's layer.
void StepWalk::set(Section &section, std::vector<PhasePlan> plans) const {
  section.array.clear();
  for (PhasePlan &p : plans) {
    if (section.unit) { // in this order, whatever is asked for
      p = *std::find_if(section.unit->begin(), section.unit->end(),
                        [&](const PhasePlan &fixed) { return fixed.kind == p.kind; });
      section.array.push_back(array_cycles(*p.section));
      continue;
    }
    p.layer = section.layer;
    p.products.clear();
    // A tile that is cut like another phase's: of images, dX counts the terms of all taps along N, the others do not.
    const TileShape largest = largest_tile(p.kind, layers_[section.layer]);
    p.tile = {std::min(p.tile.m, largest.m), std::min(p.tile.k, largest.k), std::min(p.tile.n, largest.n)};
    section.array.push_back(plan_cycles(p, layers_[section.layer], npu_));
  }
  section.plans = std::move(plans);
}

/// Lets a section run as another of its shape.
void StepWalk::run_like(Section &section, const Section &like) const {
  set(section, like.plans);
  section.woven = like.woven && !is_at_turn(static_cast<std::size_t>(&section - sections_.data()));
  section.parts = like.parts;
  section.alone = like.alone;
  section.reach = like.reach;
}

std::vector<PhasePlan> StepWalk::range(const Sections &sections, std::size_t first, std::size_t end) const {
  std::vector<PhasePlan> plans;
  for_phases(sections, first, end, [&](std::size_t s, std::size_t phase, bool begins, bool joined, bool late) {
    const Section &section = sections[s];
    PhasePlan &plan = plans.emplace_back(section.plans[phase]);
    plan.starts_empty = begins && section.alone;
    plan.woven = late || (begins && section.woven && s > first);
    plan.joined = joined;
    plan.takes_parts = section.parts;
    plan.reach = section.reach;
    if (!plan.section) plan.products = plan_products(plan, layers_[plan.layer], npu_);
  });
  return plans;
}

/// Of sections by themselves: what others use, they must store.
Layout StepWalk::layout_of(std::size_t first, std::size_t end) const {
  Layout layout = layout_;
  for (std::size_t s = 0; s < sections_.size(); ++s) {
    if (s >= first && s < end) continue;
    const Pass pass = s < forward_sections() ? Pass::kForward : Pass::kBackward;
    for (const Tensor t : activation_tensors()) {
      const std::int32_t place = layout.place(sections_[s].layer, t);
      if (place == Layout::kNone || !used_in(t, pass)) continue;
      TensorBinding &binding = layout.tensors[static_cast<std::size_t>(place)];
      binding.result = !binding.input;
    }
  }
  return layout;
}

std::uint64_t StepWalk::cost(std::size_t first, std::size_t end, std::uint64_t limit) {
  return counted(price(sections_, first, end, limit));
}

/// Reads nothing of the walk that changes of plans change but for `sections`.
StepWalk::Priced StepWalk::price(const Sections &sections, std::size_t first, std::size_t end,
                                 std::uint64_t limit) const {
  Priced priced;
  std::uint64_t array = 0; // tiles of a few elements are many, and take long to place
  for_phases(sections, first, end,
             [&](std::size_t s, std::size_t phase, bool, bool, bool) { array += sections[s].array[phase]; });
  if (judge_.least_of_cycles(array) >= limit) return priced;
  const std::vector<PhasePlan> plans = range(sections, first, end);
  std::uint64_t lost = 0;
  const std::optional<Program> program =
      allocate(plans, layers_, layout_of(first, end), npu_, judge_.traffic_limit(limit), &lost);
  priced.bursts += lost * kBurstsOfAProduct;
  if (!program) return priced;
  priced.bursts += program->work() * kBurstsOfAProduct;
  if (judge_.bound(*program) >= limit) return priced;
  priced.bursts += simulation_work(*program);
  priced.cost = judge_.judge(*program, limit).cost;
  return priced;
}

/// Of the section and its neighbours alone: tells at a fraction of the cost whether the step could gain.
StepWalk::Priced StepWalk::price_around(const Sections &sections, std::size_t section, std::uint64_t limit) const {
  return price(sections, section - std::min(section, kNeighbours), std::min(section + kNeighbours + 1, sections.size()),
               limit);
}

/// Cuts a tensor that the section shares with another phase like that one does, so that tiles can stay from one to the
/// other.
void StepWalk::align(Section &section, const PhasePlan &like) const {
  std::vector<PhasePlan> plans = section.plans;
  compiler::align(plans, layers_[section.layer], like, layers_[like.layer]);
  set(section, std::move(plans));
}

/// Cuts the layer like in its other direction, so that X and W can stay from the forward to the backward pass.
void StepWalk::align_to_itself(Section &section) {
  const auto other = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const Section &s) { return s.layer == section.layer && &s != &section; });
  if (other == sections_.end()) return;
  std::vector<PhasePlan> plans = section.plans;
  for (PhasePlan &p : plans)
    p.tile = other->plans[changer_.pick(other->plans.size())].tile;
  set(section, std::move(plans));
}

void StepWalk::align_to_any(Section &section) {
  const Section &other = sections_[changer_.pick(sections_.size())];
  align(section, other.plans[changer_.pick(other.plans.size())]);
}

/// One of those that were searched for the layer by itself, half the time of those that move less.
const std::vector<PhasePlan> &StepWalk::draw_plans(const Section &section, PlanChanger &draw) {
  const bool thrifty = section.thrifty != nullptr && draw.pick(2) == 0;
  const auto &plans = (thrifty ? section.thrifty : section.choice)->alternatives;
  return plans[draw.pick(plans.size())];
}

void StepWalk::change(Section &section) {
  switch (changer_.pick(8)) {
  case 7:
    align_to_itself(section);
    break;
  case 5:
    section.alone = !section.alone;
    section.woven = false;
    break;
  case 6:
    section.reach = changer_.pick(kFarthest + 1);
    break;
  case 0:
  case 1:
    set(section, draw_plans(section, changer_));
    break;
  case 2: {
    std::vector<PhasePlan> plans = section.plans;
    changer_.change(plans, layers_[section.layer]);
    set(section, std::move(plans));
    break;
  }
  case 3:
    align_to_any(section);
    break;
  default:
    // dW first leaves dX to the layer before it; dX first leaves dY's tiles to dW.
    if (section.plans.size() == 2)
      std::swap(section.plans[0], section.plans[1]);
    else
      align_to_any(section);
  }
}

/// One section, or all of the same shape and direction: networks repeat their layers.
std::vector<std::size_t> StepWalk::pick_sections() {
  const std::size_t one = changer_.pick(sections_.size());
  if (changer_.pick(3) == 0) return {one};
  std::vector<std::size_t> alike;
  for (std::size_t s = 0; s < sections_.size(); ++s)
    if (sections_[s].choice == sections_[one].choice) alike.push_back(s);
  return alike;
}

bool StepWalk::improves() { return improves(price(sections_, 0, sections_.size(), cost_)); }

/// Whether the whole step costs less than before.
bool StepWalk::improves(const Priced &step) {
  ++work_.simulated;
  const std::uint64_t c = counted(step);
  whole_bursts_ += step.bursts;
  if (c >= cost_) return false;
  cost_ = c;
  ++improvements_;
  falls_.push_back({work_.simulated, cost_});
  return true;
}

void StepWalk::try_on_all(const std::function<void(Section &)> &change) {
  const Sections before = sections_;
  for (Section &section : sections_)
    change(section);
  if (!improves()) sections_ = before;
}

/// A bit for each pair of tensors of two sections' layers that is one tensor.
std::uint64_t StepWalk::shared_tensors(std::size_t one, std::size_t other) const {
  std::uint64_t bits = 0;
  for (const std::int32_t x : layout_.places[sections_[one].layer])
    for (const std::int32_t y : layout_.places[sections_[other].layer])
      bits = bits << 1U | static_cast<std::uint64_t>(x != Layout::kNone && x == y);
  return bits;
}

/// Lets sections take over tiles, or not, and cuts them like what they take over, where that is faster with their
/// neighbours; alike for sections of the same shape between neighbours of the same shapes that share the same tensors.
void StepWalk::try_reuse() {
  const Sections before = sections_;
  const auto shape = [&](std::size_t s) { return s < sections_.size() ? sections_[s].choice : nullptr; };
  const auto sharing = [&](std::size_t s) { return s < sections_.size() ? shared_tensors(s - 1, s) : 0U; };
  std::map<std::tuple<const LayerPlans::Choice *, const LayerPlans::Choice *, const LayerPlans::Choice *, std::uint64_t,
                      std::uint64_t>,
           std::size_t>
      first;
  for (std::size_t s = 1; s < sections_.size(); ++s) {
    if (progress_) progress_();
    Section &section = sections_[s];
    const auto [like, is_first] =
        first.try_emplace({shape(s - 1), shape(s), shape(s + 1), sharing(s), sharing(s + 1)}, s);
    if (!is_first) {
      run_like(section, sections_[like->second]);
      continue;
    }
    std::uint64_t best = counted(price_around(sections_, s, kNoPlan));
    const std::vector<PhasePlan> &like_these = sections_[s - 1].plans;
    Trials trials;
    trials.first = s;
    trials.end = s + 1;
    trials.more = [&](std::size_t i) { return i < like_these.size() + 2; };
    trials.change = [&](std::size_t i) {
      if (i == 0) {
        section.alone = !section.alone;
      } else if (i == 1) {
        section.reach = 1;
      } else {
        section.alone = false;
        align(section, like_these[i - 2]);
      }
    };
    trials.price = [this, s](const Sections &sections, std::uint64_t limit) {
      return price_around(sections, s, limit);
    };
    keep_gains(trials, best);
  }
  if (!improves()) sections_ = before;
}

void StepWalk::cut_like(Section &section, const Section &other) const {
  if (section.layer != other.layer) return align(section, other.plans.back());
  std::vector<PhasePlan> plans = section.plans;
  for (PhasePlan &p : plans)
    p.tile = other.plans.front().tile;
  set(section, std::move(plans));
}

void StepWalk::try_placement() {
  std::vector<PlacedSection> placed;
  for (const Section &section : sections_)
    placed.push_back({section.layer, &section.plans});
  const std::vector<TakenOver> taken = place_tensors(placed, layers_, layout_, npu_);
  linked_.assign(sections_.size(), {});
  for (std::size_t s = 0; s < taken.size(); ++s)
    for (const std::size_t from : taken[s].from) {
      linked_[s].push_back(from);
      linked_[from].push_back(s);
    }
  const RowRange all{0, npu_.spm_rows()};
  const auto take = [&](bool anywhere, const std::function<void(Section &, const TakenOver &)> &cut) {
    try_on_all([&](Section &section) {
      const TakenOver &over = taken[static_cast<std::size_t>(&section - sections_.data())];
      section.alone = !over.any;
      cut(section, over);
      for (PhasePlan &p : section.plans)
        if (anywhere) p.split = {all, all, all};
    });
  };
  for (const bool anywhere : {false, true}) {
    take(anywhere, [](Section &, const TakenOver &) {});
    // A layer's pass back cut like its pass forward, and that like the layer before it, fit together all along.
    take(anywhere, [this](Section &section, const TakenOver &over) {
      if (!over.from.empty()) cut_like(section, sections_[over.from.front()]);
    });
    take(anywhere, [this](Section &section, const TakenOver &over) {
      if (!over.from.empty()) cut_like(section, sections_[over.from.back()]);
    });
    // Or what comes first like what follows, which has more to do.
    take(anywhere, [&](Section &section, const TakenOver &) {
      const auto s = static_cast<std::size_t>(&section - sections_.data());
      for (std::size_t later = s + 1; later < sections_.size(); ++later)
        if (sections_[later].layer == section.layer && !taken[later].from.empty() && taken[later].from.front() == s)
          cut_like(section, sections_[later]);
    });
  }
}

} // namespace gradweave::compiler
