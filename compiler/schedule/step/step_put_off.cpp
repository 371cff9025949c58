// Weight gradients run beside later layers that have the time: nothing in the step reads them. One that waits for
// memory goes beside a layer whose array is busier, and the other way; one of the vector unit beside one of the array,
// and the other way.
#include "compiler/cost/cost.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/schedule/step/step_walk.hpp"
#include "compiler/spm/residency.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace gradweave::compiler {
namespace {

/// Hosts of different shapes that are tried for each weight gradient.
constexpr std::size_t kHosts = 3;
/// Parts of the macro-banks that are tried for a gradient that was put off, in sixteenths.
constexpr std::array<std::uint32_t, 3> kGuestShares{4, 6, 8};
/// Seeds that changes of a pair are drawn from.
constexpr std::size_t kSeeds = 1U << 30U;
/// A pair that has gained nothing by one part of so many of its changes is left.
constexpr std::uint64_t kGivenUp = 4;
/// Plans of a layer that are tried beside the vector unit, and one part of so many of the changes.
constexpr std::size_t kAlternatives = 4;
constexpr std::uint64_t kChangesBesideUnit = 4;

bool is_dw(const PhasePlan &plan) { return plan.kind == PhaseKind::kDw; }

bool splits(const std::vector<PhasePlan> &plans) {
  return plans.size() > 1 && std::any_of(plans.begin(), plans.end(), is_dw);
}

/// Of plans that split.
std::vector<PhasePlan>::iterator gradient_in(std::vector<PhasePlan> &plans) {
  return std::find_if(plans.begin(), plans.end(), is_dw);
}

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
  std::size_t first = section, end = section + 1;
  while (first > 0 && sections_[first].woven)
    --first;
  while (end < sections_.size() && sections_[end].woven)
    ++end;
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

/// A gradient and the section that it is tried beside.
class StepWalk::Guest {
public:
  Guest(StepWalk &walk, std::size_t at, std::size_t host_at)
      : walk_(walk), section_(walk.sections_[at]), host_(walk.sections_[host_at]), at_(at), host_at_(host_at) {}

  /// Looks for plans with which the gradient runs with the host faster than before it, in macro-banks of its own.
  /// Whether there are any; else both sections are as they were.
  bool put_off(std::uint64_t changes);
  /// Of a gradient that runs with the host: looks for plans of both with which they are faster. Whether there are any.
  bool go_on(std::uint64_t changes);

private:
  /// How the two share the scratchpad, and what they may run like.
  struct Banks {
    std::uint32_t guest = 0, host = 0, host_rows = 0;
    PlansBeside::Plans guests, hosts;
  };

  std::uint64_t of_both() const { return best_ == kNoPlan ? kNoPlan : best_ + rest_; }
  Banks give_banks(std::uint32_t guest);
  void leave(const std::vector<PhasePlan> &plans);
  void run_as(std::vector<PhasePlan> host, const std::vector<PhasePlan> &guest, const Banks &banks);
  Trials trials() const;
  void keep_gains(const Trials &trials);
  void change(std::uint64_t changes, std::uint64_t apart, const Banks &banks);

  StepWalk &walk_;
  Section &section_, &host_;
  std::size_t at_, host_at_;
  std::size_t first_ = 0, end_ = 0; ///< around the section
  bool joint_ = false;              ///< the host is next to it
  std::vector<PhasePlan> left_;     ///< the section's plans, whose gradient is exchanged
  std::uint64_t rest_ = kNoPlan;    ///< what is around the section takes without it, unless they are joint
  std::uint64_t best_ = kNoPlan;    ///< of both without that
};

/// With so many macro-banks, the last ones, for the gradient.
StepWalk::Guest::Banks StepWalk::Guest::give_banks(std::uint32_t guest) {
  const Machine &npu = walk_.npu_;
  PlansBeside &beside = walk_.beside_;
  Banks banks{guest, npu.spm_banks - guest, (npu.spm_banks - guest) * npu.bank_rows(), {}, {}};
  if (guest == 0) return banks;
  banks.guests = beside.gradients(walk_.layers_[section_.layer], guest);
  banks.hosts = beside.of(walk_.layers_[host_.layer], Pass::kBackward, banks.host);
  const bool lies_there = std::all_of(host_.plans.begin(), host_.plans.end(), [&](const PhasePlan &p) {
    return std::max({p.split.shared.end(), p.split.other.end(), p.split.result.end()}) <= banks.host_rows;
  });
  if (lies_there) banks.hosts.insert(banks.hosts.begin(), host_.plans);
  return banks;
}

/// Takes the plans for what is left of the section, if that is faster with them: what the host does not change if it is
/// far.
void StepWalk::Guest::leave(const std::vector<PhasePlan> &plans) {
  if (!splits(plans) || (joint_ && !left_.empty())) return;
  walk_.set(section_, plans);
  const std::uint64_t c = joint_ ? 0 : walk_.cost(first_, end_, rest_);
  if (!left_.empty() && c >= rest_) return;
  rest_ = c;
  left_ = plans;
}

void StepWalk::Guest::run_as(std::vector<PhasePlan> host, const std::vector<PhasePlan> &guest, const Banks &banks) {
  std::vector<PhasePlan> plans = left_;
  *gradient_in(plans) = moved_by(guest, banks.host_rows).front();
  walk_.set(section_, std::move(plans));
  walk_.set(host_, std::move(host));
}

/// Of both sections, and of what is around the host.
StepWalk::Trials StepWalk::Guest::trials() const {
  const auto [host_first, host_end] = walk_.around(host_at_);
  return walk_.trials_of(at_, host_at_ + 1, joint_ ? std::min(first_, host_first) : host_first,
                         joint_ ? std::max(end_, host_end) : host_end);
}

void StepWalk::Guest::keep_gains(const Trials &trials) {
  if (rest_ != kNoPlan) walk_.keep_gains(trials, best_);
}

/// Random changes of both, fewer if they come to no gain.
void StepWalk::Guest::change(std::uint64_t changes, std::uint64_t apart, const Banks &banks) {
  PlanChanger &draw = walk_.mover_;
  PlanChanger host_changer(walk_.beside_.npu_of(banks.host), draw.pick(kSeeds));
  PlanChanger guest_changer(walk_.beside_.npu_of(banks.guest), draw.pick(kSeeds));
  Trials trials = this->trials();
  trials.more = [&](std::size_t i) { return i < changes && (i < changes / kGivenUp || of_both() < apart); };
  trials.change = [&](std::size_t) {
    std::vector<PhasePlan> guest = moved_by({*gradient_in(section_.plans)}, 0U - banks.host_rows), host = host_.plans;
    switch (draw.pick(3)) {
    case 0:
      guest_changer.change(guest, walk_.layers_[section_.layer]);
      break;
    case 1:
      host_changer.change(host, walk_.layers_[host_.layer]);
      break;
    default:
      host = banks.hosts[draw.pick(banks.hosts.size())];
      guest = banks.guests[draw.pick(banks.guests.size())];
    }
    run_as(std::move(host), guest, banks);
  };
  trials.draws = {&draw, &host_changer, &guest_changer};
  keep_gains(trials);
}

bool StepWalk::Guest::go_on(std::uint64_t changes) {
  const SpmSplit &split = gradient_in(section_.plans)->split;
  const std::uint32_t first = std::min({split.shared.first, split.other.first, split.result.first});
  if (first == 0) return false;
  const Banks banks = give_banks(walk_.npu_.spm_banks - first / walk_.npu_.bank_rows());
  if (banks.host_rows != first || banks.guests.empty() || banks.hosts.empty()) return false;
  const std::uint64_t before = walk_.counted(walk_.price_of_both(walk_.sections_, at_, host_at_, kNoPlan));
  std::tie(first_, end_) = walk_.around(at_);
  joint_ = walk_.around(host_at_).first < end_;
  left_ = section_.plans;
  rest_ = joint_ ? 0 : walk_.cost(first_, end_, kNoPlan);
  best_ = before - rest_;
  change(changes, before, banks);
  return of_both() < before;
}

bool StepWalk::Guest::put_off(std::uint64_t changes) {
  const Section section_before = section_, host_before = host_;
  const std::uint64_t apart = walk_.counted(walk_.price_of_both(walk_.sections_, at_, host_at_, kNoPlan));
  section_.later = static_cast<std::uint32_t>(host_at_ - at_);
  std::tie(first_, end_) = walk_.around(at_);
  joint_ = walk_.around(host_at_).first < end_;
  leave(section_before.plans);
  for (const std::vector<PhasePlan> &plans : section_.choice->alternatives)
    leave(plans);
  Banks chosen;
  std::vector<PlansBeside::Wanted> wanted;
  for (const std::uint32_t sixteenths : kGuestShares)
    if (const std::uint32_t guest = walk_.npu_.spm_banks * sixteenths / 16; guest > 0) {
      wanted.push_back({&walk_.layers_[section_.layer], Pass::kBackward, guest, true});
      wanted.push_back({&walk_.layers_[host_.layer], Pass::kBackward, walk_.npu_.spm_banks - guest, false});
    }
  const std::uint64_t searched = walk_.beside_.work().bursts;
  walk_.beside_.prepare(wanted, walk_.threads_);
  walk_.work_.bursts += walk_.beside_.work().bursts - searched;
  for (const std::uint32_t sixteenths : kGuestShares) {
    const Banks banks = give_banks(walk_.npu_.spm_banks * sixteenths / 16);
    Trials trials = this->trials();
    trials.more = [&](std::size_t i) { return i < banks.hosts.size() * banks.guests.size(); };
    trials.change = [&](std::size_t i) {
      run_as(banks.hosts[i / banks.guests.size()], banks.guests[i % banks.guests.size()], banks);
    };
    trials.kept = [&](std::size_t) { chosen = banks; };
    keep_gains(trials);
  }
  if (best_ != kNoPlan) change(changes, apart, chosen);
  if (of_both() < apart) return true;
  section_ = section_before;
  host_ = host_before;
  return false;
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
