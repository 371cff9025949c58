// Weight gradients run beside later layers that have the time: nothing in the step reads them. One that waits for
// memory goes beside a layer whose array is busier, and the other way; one of the vector unit beside one of the array,
// and the other way.
#include "compiler/cost/cost.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/schedule/step/step_guest.hpp"
#include "compiler/spm/residency.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace gradweave::compiler {
namespace {

/// Hosts of different shapes that are tried for each weight gradient.
constexpr std::size_t kHosts = 3;
/// Plans of a layer that are tried beside the vector unit, and one part of so many of the changes.
constexpr std::size_t kAlternatives = 4;
constexpr std::uint64_t kChangesBesideUnit = 4;

} // namespace

/// Cycles of the array, of the memory for what is moved, and of the vector unit.
struct StepWalk::Balance {
  std::int64_t array = 0, memory = 0, unit = 0;

  std::int64_t longest() const { return std::max({array, memory, unit}); }
  /// What the one that takes longest waits for none of the others.
  std::int64_t slack() const {
    return longest() - std::max({std::min(array, memory), std::min(memory, unit), std::min(unit, array)});
  }
  /// What one waits for while the other does not, at most, could be saved.
  std::int64_t saved_beside(const Balance &o) const {
    Balance both = *this;
    both += o;
    return longest() + o.longest() - both.longest();
  }
  Balance &operator+=(const Balance &o) {
    array += o.array;
    memory += o.memory;
    unit += o.unit;
    return *this;
  }
  Balance &operator-=(const Balance &o) {
    array -= o.array;
    memory -= o.memory;
    unit -= o.unit;
    return *this;
  }
};

StepWalk::Balance StepWalk::balance_of(std::size_t first, std::size_t end) {
  std::uint64_t array = 0;
  for_phases(sections_, first, end,
             [&](std::size_t s, std::size_t phase, bool, bool, bool) { array += sections_[s].array[phase]; });
  Balance balance;
  balance.array = static_cast<std::int64_t>(array);
  if (const auto program = allocate(range(sections_, first, end), layers_, layout_of(first, end), npu_))
    balance.memory =
        static_cast<std::int64_t>(moved_bytes(*program, npu_) * npu_.memory.bytes_den / npu_.memory.bytes_num);
  for (std::size_t s = first; s < end; ++s)
    if (const Section &section = sections_[s]; section.unit) {
      const std::uint64_t products = std::accumulate(section.array.begin(), section.array.end(), std::uint64_t{0});
      balance.unit += static_cast<std::int64_t>(cost(s, s + 1, kNoPlan) - products); // what they take at least
    }
  return balance;
}

/// Of each section with a weight gradient that can have a phase of its own: what that takes; nothing of others.
std::vector<StepWalk::Balance> StepWalk::gradients() {
  std::vector<Balance> all(sections_.size());
  for (std::size_t s = forward_sections(); s + 1 < sections_.size(); ++s) {
    Section &section = sections_[s];
    const auto &alternatives = section.choice->alternatives;
    const auto split = std::find_if(alternatives.begin(), alternatives.end(), splits);
    if (!splits(section.plans) && split == alternatives.end()) continue;
    const Section before = section;
    std::vector<PhasePlan> plans = splits(section.plans) ? section.plans : *split;
    plans = {*gradient_in(plans)};
    set(section, std::move(plans));
    section.later = 0;
    all[s] = balance_of(s, s + 1);
    section = before;
  }
  return all;
}

/// The sections that are woven with this one, and a neighbour on each side.
std::pair<std::size_t, std::size_t> StepWalk::around(std::size_t section) const {
  const auto [first, end] = run_with(section);
  return {first - std::min<std::size_t>(first, 1), std::min(end + 1, sections_.size())};
}

/// Of both sections and what is around them.
StepWalk::Priced StepWalk::price_of_both(const Sections &sections, std::size_t section, std::size_t host,
                                         std::uint64_t limit) const {
  const auto [first, end] = around(section);
  const auto [host_first, host_end] = around(host);
  if (host_first < end) return price(sections, first, host_end, limit);
  const Priced one = price(sections, first, end, limit);
  if (one.cost >= limit) return {kNoPlan, one.bursts};
  const Priced other = price(sections, host_first, host_end, limit - one.cost);
  return {other.cost == kNoPlan ? kNoPlan : one.cost + other.cost, one.bursts + other.bursts};
}

bool StepWalk::is_woven(std::size_t section) const {
  return sections_[section].woven || (section + 1 < sections_.size() && sections_[section + 1].woven);
}

/// Looks for a plan of the one of the two that is not the vector unit's with which the gradient runs beside the host
/// faster than before it: they share neither rows nor engines but the memory. Whether there is any; else both sections
/// are as they were.
bool StepWalk::put_off_beside_unit(std::size_t section, std::size_t host, std::uint64_t changes) {
  Section &guest = sections_[section], &product = guest.unit ? sections_[host] : guest;
  const Section guest_before = guest, product_before = product;
  const std::uint64_t apart = counted(price_of_both(sections_, section, host, kNoPlan));
  std::uint64_t best = apart;
  guest.later = static_cast<std::uint32_t>(host - section);
  std::vector<std::vector<PhasePlan>> begun{product_before.plans};
  const auto &alternatives = product.choice->alternatives;
  begun.insert(begun.end(), alternatives.begin(),
               alternatives.begin() + static_cast<std::ptrdiff_t>(std::min(alternatives.size(), kAlternatives)));
  Trials trials;
  trials.first = section;
  trials.end = host + 1;
  trials.price = [&](const Sections &sections, std::uint64_t limit) {
    const Section &changed = sections[guest.unit ? host : section];
    return guest.unit || splits(changed.plans) ? price_of_both(sections, section, host, limit) : Priced{};
  };
  trials.more = [&](std::size_t i) { return i < begun.size(); };
  trials.change = [&](std::size_t i) { set(product, begun[i]); };
  keep_gains(trials, best);
  trials.more = [&](std::size_t i) { return i < changes / kChangesBesideUnit && best < apart; };
  trials.change = [&](std::size_t) {
    std::vector<PhasePlan> plans = product.plans;
    mover_.change(plans, layers_[product.layer]);
    set(product, std::move(plans));
  };
  trials.draws = {&mover_};
  keep_gains(trials, best);
  if (best < apart) return true;
  product = product_before;
  guest = guest_before;
  return false;
}

/// Whether the gradient of a section may run beside another one. Sections of the vector unit stand in no other one's.
bool StepWalk::may_host(std::size_t host, std::size_t section) const {
  return sections_[section].unit ? !sections_[host].unit : !is_woven(host);
}

/// Gradients that run beside the section.
std::size_t StepWalk::guests_of(std::size_t section) const {
  std::size_t count = 0;
  for (std::size_t s = 0; s < section; ++s)
    count += sections_[s].later == section - s ? 1 : 0;
  return count;
}

/// Those that were put off before: hosts of one shape that have as many change alike.
void StepWalk::go_on_with_gradients(std::uint64_t changes) {
  using Shape = const LayerPlans::Choice *;
  std::map<std::tuple<Shape, Shape, std::size_t>, std::pair<std::size_t, std::size_t>> known;
  for (std::size_t s = forward_sections(); s < sections_.size(); ++s) {
    const std::size_t h = s + sections_[s].later;
    if (h == s || !splits(sections_[s].plans) || sections_[s].unit || sections_[h].unit) continue;
    if (progress_) progress_();
    const std::vector<Section> before = sections_;
    const auto [like, is_new] =
        known.try_emplace({sections_[s].choice, sections_[h].choice, guests_of(h)}, std::pair{s, h});
    bool gains = true;
    if (is_new) {
      gains = Guest(*this, s, h).go_on(changes);
    } else {
      set(sections_[s], sections_[like->second.first].plans);
      set(sections_[h], sections_[like->second.second].plans);
    }
    if (!gains || !improves()) sections_ = before;
  }
}

void StepWalk::try_putting_off(std::uint64_t changes) {
  const std::uint64_t begun = work_.bursts;
  go_on_with_gradients(changes);
  const std::vector<Balance> gradient = gradients();
  std::vector<Balance> host(sections_.size());
  for (std::size_t s = forward_sections(); s < sections_.size(); ++s)
    host[s] = balance_of(s, s + 1);
  const auto saved = [&](std::size_t s, std::size_t h) { return gradient[s].saved_beside(host[h]); };
  std::vector<std::size_t> order;
  for (std::size_t s = forward_sections(); s < sections_.size(); ++s)
    if (gradient[s].slack() != 0 && sections_[s].later == 0) order.push_back(s);
  std::sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
    const std::int64_t a = gradient[one].slack(), b = gradient[other].slack();
    return a != b ? a > b : one < other;
  });
  using Shape = const LayerPlans::Choice *;
  using Pair = std::tuple<Shape, Shape, std::size_t>; // and how many gradients the host has already
  std::map<Pair, std::pair<std::vector<PhasePlan>, std::vector<PhasePlan>>> known;
  std::set<Pair> in_vain;
  for (const std::size_t s : order) {
    std::vector<std::size_t> hosts;
    for (std::size_t h = s + 1; h < sections_.size(); ++h)
      if (saved(s, h) > 0 && may_host(h, s)) hosts.push_back(h);
    std::sort(hosts.begin(), hosts.end(), [&](std::size_t one, std::size_t other) {
      const std::int64_t a = saved(s, one), b = saved(s, other);
      return a != b ? a > b : one < other;
    });
    std::size_t tried = 0;
    for (std::size_t i = 0; i < hosts.size() && tried < kHosts; ++i) {
      const std::size_t h = hosts[i];
      const std::tuple pair{sections_[s].choice, sections_[h].choice, guests_of(h)};
      if (in_vain.count(pair) != 0) continue;
      ++tried;
      if (progress_) progress_();
      const std::vector<Section> before = sections_;
      const auto like = known.find(pair);
      bool gains = true;
      if (like != known.end()) {
        set(sections_[s], like->second.first);
        set(sections_[h], like->second.second);
        sections_[s].later = static_cast<std::uint32_t>(h - s);
      } else {
        gains = sections_[s].unit || sections_[h].unit ? put_off_beside_unit(s, h, changes)
                                                       : Guest(*this, s, h).put_off(changes);
      }
      if (gains && improves()) {
        known.insert_or_assign(pair, std::pair{sections_[s].plans, sections_[h].plans});
        host[h] += gradient[s];
        host[s] -= gradient[s];
        break;
      }
      in_vain.insert(pair);
      sections_ = before;
    }
  }
  around_.clear();
  woven_bursts_ += work_.bursts - begun;
}

} // namespace gradweave::compiler
