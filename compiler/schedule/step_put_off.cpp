// Weight gradients run beside later layers that have the time: nothing in the step reads them. One that waits for
// memory goes beside a layer whose array is busier, and the other way.
#include "compiler/cost/cost.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/schedule/step_walk.hpp"
#include "compiler/spm/residency.hpp"

#include <algorithm>
#include <cstdlib>

namespace gradweave::compiler {
namespace {

/// Hosts that are tried for each weight gradient.
constexpr std::size_t kHosts = 3;

bool splits(const std::vector<PhasePlan> &plans) {
  return plans.size() > 1 &&
         std::any_of(plans.begin(), plans.end(), [](const PhasePlan &p) { return p.kind == PhaseKind::kDw; });
}

} // namespace

/// Cycles of the array, and of the memory for what is moved.
struct StepWalk::Balance {
  std::uint64_t array = 0, memory = 0;
  std::int64_t memory_longer() const { return static_cast<std::int64_t>(memory) - static_cast<std::int64_t>(array); }
};

StepWalk::Balance StepWalk::balance_of(std::size_t first, std::size_t end) const {
  Balance balance;
  for_phases(first, end,
             [&](std::size_t s, std::size_t phase, bool, bool, bool) { balance.array += sections_[s].array[phase]; });
  if (const auto program = allocate(range(first, end), layers_, layout_of(first, end), npu_))
    balance.memory = moved_bytes(*program, npu_) * npu_.memory.bytes_den / npu_.memory.bytes_num;
  return balance;
}

/// Of each section with a weight gradient that can have a phase of its own: what that takes the memory longer than the
/// array, or the other way; 0 of others.
std::vector<std::int64_t> StepWalk::gradients() {
  std::vector<std::int64_t> longer(sections_.size(), 0);
  for (std::size_t s = forward_sections(); s + 1 < sections_.size(); ++s) {
    Section &section = sections_[s];
    if (section.unit) continue;
    const auto &alternatives = section.choice->alternatives;
    const auto split = std::find_if(alternatives.begin(), alternatives.end(), splits);
    if (!splits(section.plans) && split == alternatives.end()) continue;
    const Section before = section;
    std::vector<PhasePlan> plans = splits(section.plans) ? section.plans : *split;
    plans.erase(std::remove_if(plans.begin(), plans.end(), [](const PhasePlan &p) { return p.kind != PhaseKind::kDw; }),
                plans.end());
    set(section, std::move(plans));
    section.later = 0;
    longer[s] = balance_of(s, s + 1).memory_longer();
    section = before;
  }
  return longer;
}

/// The sections that are woven with this one, and a neighbour on each side.
std::pair<std::size_t, std::size_t> StepWalk::around(std::size_t section) const {
  std::size_t first = section, end = section + 1;
  while (first > 0 && sections_[first].woven)
    --first;
  while (end < sections_.size() && sections_[end].woven)
    ++end;
  return {first - std::min<std::size_t>(first, 1), std::min(end + 1, sections_.size())};
}

/// Of both sections and what is around them.
std::uint64_t StepWalk::cost_of_both(std::size_t section, std::size_t host, std::uint64_t limit) {
  const auto [first, end] = around(section);
  const auto [host_first, host_end] = around(host);
  if (host_first < end) return cost(first, host_end, limit);
  const std::uint64_t one = cost(first, end, limit);
  if (one >= limit) return kNoPlan;
  const std::uint64_t other = cost(host_first, host_end, limit - one);
  return other == kNoPlan ? kNoPlan : one + other;
}

/// Looks for plans with which the section's gradient runs with the host faster than before it. Whether there are any.
bool StepWalk::put_off(std::size_t at, std::size_t host_at, std::uint64_t changes) {
  Section &section = sections_[at], &host = sections_[host_at];
  const Layer &layer = layers_[section.layer];
  const std::uint64_t apart = cost_of_both(at, host_at, kNoPlan);
  std::uint64_t best = apart;
  const auto keep_if_faster = [&](const auto &change) {
    Section before = section, host_before = host;
    section.later = static_cast<std::uint32_t>(host_at - at);
    change();
    if (const std::uint64_t c = cost_of_both(at, host_at, best); c < best) {
      best = c;
    } else {
      section = std::move(before);
      host = std::move(host_before);
    }
  };
  const RowRange all{0, npu_.spm_rows()}, part{0, npu_.spm_rows() / 4};
  const auto gradient = [](std::vector<PhasePlan> &plans) -> PhasePlan & {
    return *std::find_if(plans.begin(), plans.end(), [](const PhasePlan &p) { return p.kind == PhaseKind::kDw; });
  };
  const auto try_plans = [&](std::vector<PhasePlan> plans) {
    for (PhasePlan &p : plans)
      if (p.kind == PhaseKind::kDw) p.split = {all, all, all};
    keep_if_faster([&] { set(section, plans); });
    // Tiles that leave room for the host's.
    PhasePlan &dw = gradient(plans);
    while (!fits(dw.kind, dw.tile, {part, part, part}, layer, npu_, dw.parts) && dw.tile.k * dw.tile.n > 1) {
      std::uint32_t &side = dw.tile.k >= dw.tile.n ? dw.tile.k : dw.tile.n;
      side = (side + 1) / 2;
    }
    keep_if_faster([&] { set(section, plans); });
  };
  if (splits(section.plans)) try_plans(section.plans);
  for (const std::vector<PhasePlan> &plans : section.choice->alternatives)
    if (splits(plans)) try_plans(plans);
  for (std::uint64_t i = 0; best < apart && i < changes; ++i)
    keep_if_faster([&] {
      Section &changed = mover_.pick(3) == 0 ? host : section;
      std::vector<PhasePlan> plans = changed.plans;
      if (&changed == &host && mover_.pick(2) == 0)
        plans = host.choice->alternatives[mover_.pick(host.choice->alternatives.size())];
      else
        mover_.change(plans, layers_[changed.layer]);
      set(changed, std::move(plans));
    });
  return best < apart;
}

void StepWalk::try_putting_off(std::uint64_t changes) {
  const std::uint64_t begun = work_.bursts;
  const std::vector<std::int64_t> gradient = gradients();
  std::vector<std::int64_t> host(sections_.size(), 0); // what the memory takes longer than the array, or the other way
  for (std::size_t s = forward_sections(); s < sections_.size(); ++s)
    host[s] = balance_of(s, s + 1).memory_longer();
  /// What one waits for while the other does not, at most, could be saved.
  const auto saved = [&](std::size_t s, std::size_t h) {
    return (gradient[s] > 0) == (host[h] > 0) ? 0 : std::min(std::abs(gradient[s]), std::abs(host[h]));
  };
  std::vector<std::size_t> order;
  for (std::size_t s = forward_sections(); s < sections_.size(); ++s)
    if (gradient[s] != 0) order.push_back(s);
  std::sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
    const std::int64_t a = std::abs(gradient[one]), b = std::abs(gradient[other]);
    return a != b ? a > b : one < other;
  });
  using Shape = const LayerPlans::Choice *;
  std::map<std::pair<Shape, Shape>, std::pair<Section, Section>> known;
  for (const std::size_t s : order) {
    std::vector<std::size_t> hosts;
    for (std::size_t h = s + 1; h < sections_.size(); ++h)
      if (saved(s, h) > 0 && !sections_[h].unit) hosts.push_back(h);
    std::sort(hosts.begin(), hosts.end(), [&](std::size_t one, std::size_t other) {
      const std::int64_t a = saved(s, one), b = saved(s, other);
      return a != b ? a > b : one < other;
    });
    hosts.resize(std::min(hosts.size(), kHosts));
    for (const std::size_t h : hosts) {
      if (progress_) progress_();
      const std::vector<Section> before = sections_;
      const auto like = known.find({sections_[s].choice, sections_[h].choice});
      bool gains = true;
      if (like != known.end()) {
        set(sections_[s], like->second.first.plans);
        set(sections_[h], like->second.second.plans);
        sections_[s].later = static_cast<std::uint32_t>(h - s);
      } else {
        gains = put_off(s, h, changes);
      }
      if (gains && improves()) {
        known.insert_or_assign({sections_[s].choice, sections_[h].choice}, std::pair{sections_[s], sections_[h]});
        host[h] += gradient[s];
        host[s] -= gradient[s];
        break;
      }
      sections_ = before;
    }
  }
  around_.clear();
  woven_bursts_ += work_.bursts - begun;
}

} // namespace gradweave::compiler
