// Weight gradients run beside later layers that have the time: nothing in the step reads them. One that waits for
// memory goes beside a layer whose array is busier, and the other way.
#include "compiler/cost/cost.hpp"
#include "compiler/lower/partition.hpp"
#include "compiler/lower/tiling.hpp"
#include "compiler/schedule/step_walk.hpp"
#include "compiler/spm/residency.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
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

bool is_dw(const PhasePlan &plan) { return plan.kind == PhaseKind::kDw; }

bool splits(const std::vector<PhasePlan> &plans) {
  return plans.size() > 1 && std::any_of(plans.begin(), plans.end(), is_dw);
}

/// Of plans that split.
std::vector<PhasePlan>::iterator gradient_in(std::vector<PhasePlan> &plans) {
  return std::find_if(plans.begin(), plans.end(), is_dw);
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
    plans = {*gradient_in(plans)};
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

private:
  /// How the two share the scratchpad, and what they may run like.
  struct Banks {
    std::uint32_t guest = 0, host = 0, host_rows = 0;
    PlansBeside::Plans guests, hosts;
  };

  Banks give_banks(std::uint32_t guest);
  void leave(const std::vector<PhasePlan> &plans);
  bool keep_if_faster(std::vector<PhasePlan> host, const std::vector<PhasePlan> &guest, const Banks &banks);
  void change(std::uint64_t changes, std::uint64_t apart, const Banks &banks);

  StepWalk &walk_;
  Section &section_, &host_;
  std::size_t at_, host_at_;
  std::size_t first_ = 0, end_ = 0; ///< around the section
  bool joint_ = false;              ///< the host is next to it
  std::vector<PhasePlan> left_;     ///< the section's plans, whose gradient is exchanged
  std::uint64_t rest_ = kNoPlan;    ///< what is around the section takes without it, unless they are joint
  std::uint64_t best_ = kNoPlan;    ///< of both
};

/// With so many macro-banks, the last ones, for the gradient.
StepWalk::Guest::Banks StepWalk::Guest::give_banks(std::uint32_t guest) {
  const Machine &npu = walk_.npu_;
  PlansBeside &beside = walk_.beside_;
  Banks banks{guest, npu.spm_banks - guest, (npu.spm_banks - guest) * npu.bank_rows(), {}, {}};
  if (guest == 0) return banks;
  const std::uint64_t searched = beside.work().bursts;
  banks.guests = beside.gradients(walk_.layers_[section_.layer], guest);
  banks.hosts = beside.of(walk_.layers_[host_.layer], Pass::kBackward, banks.host);
  walk_.work_.bursts += beside.work().bursts - searched;
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

bool StepWalk::Guest::keep_if_faster(std::vector<PhasePlan> host, const std::vector<PhasePlan> &guest,
                                     const Banks &banks) {
  const Section section_before = section_, host_before = host_;
  std::vector<PhasePlan> plans = left_;
  *gradient_in(plans) = moved_by(guest, banks.host_rows).front();
  walk_.set(section_, std::move(plans));
  walk_.set(host_, std::move(host));
  const auto [host_first, host_end] = walk_.around(host_at_);
  std::uint64_t c = kNoPlan;
  if (joint_)
    c = walk_.cost(std::min(first_, host_first), std::max(end_, host_end), best_);
  else if (rest_ < best_)
    c = walk_.cost(host_first, host_end, best_ == kNoPlan ? best_ : best_ - rest_);
  if (c != kNoPlan && c + rest_ < best_) {
    best_ = c + rest_;
    return true;
  }
  section_ = section_before;
  host_ = host_before;
  return false;
}

/// Random changes of both, fewer if they come to no gain.
void StepWalk::Guest::change(std::uint64_t changes, std::uint64_t apart, const Banks &banks) {
  PlanChanger &draw = walk_.mover_;
  PlanChanger host_changer(walk_.beside_.npu_of(banks.host), draw.pick(kSeeds));
  PlanChanger guest_changer(walk_.beside_.npu_of(banks.guest), draw.pick(kSeeds));
  for (std::uint64_t i = 0; i < changes && (i < changes / kGivenUp || best_ < apart); ++i) {
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
    keep_if_faster(std::move(host), guest, banks);
  }
}

bool StepWalk::Guest::put_off(std::uint64_t changes) {
  const Section section_before = section_, host_before = host_;
  const std::uint64_t apart = walk_.cost_of_both(at_, host_at_, kNoPlan);
  section_.later = static_cast<std::uint32_t>(host_at_ - at_);
  std::tie(first_, end_) = walk_.around(at_);
  joint_ = walk_.around(host_at_).first < end_;
  leave(section_before.plans);
  for (const std::vector<PhasePlan> &plans : section_.choice->alternatives)
    leave(plans);
  Banks chosen;
  for (const std::uint32_t sixteenths : kGuestShares) {
    const Banks banks = give_banks(walk_.npu_.spm_banks * sixteenths / 16);
    for (const std::vector<PhasePlan> &host : banks.hosts)
      for (const std::vector<PhasePlan> &guest : banks.guests)
        if (keep_if_faster(host, guest, banks)) chosen = banks;
  }
  if (best_ != kNoPlan) change(changes, apart, chosen);
  if (best_ < apart) return true;
  section_ = section_before;
  host_ = host_before;
  return false;
}

/// Gradients that run beside the section.
std::size_t StepWalk::guests_of(std::size_t section) const {
  std::size_t count = 0;
  for (std::size_t s = 0; s < section; ++s)
    count += sections_[s].later == section - s ? 1 : 0;
  return count;
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
    if (gradient[s] != 0 && sections_[s].later == 0) order.push_back(s);
  std::sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
    const std::int64_t a = std::abs(gradient[one]), b = std::abs(gradient[other]);
    return a != b ? a > b : one < other;
  });
  using Shape = const LayerPlans::Choice *;
  using Pair = std::tuple<Shape, Shape, std::size_t>; // and how many gradients the host has already
  std::map<Pair, std::pair<std::vector<PhasePlan>, std::vector<PhasePlan>>> known;
  std::set<Pair> in_vain;
  for (const std::size_t s : order) {
    std::vector<std::size_t> hosts;
    for (std::size_t h = s + 1; h < sections_.size(); ++h)
      if (saved(s, h) > 0 && !is_woven(h) && !sections_[h].unit) hosts.push_back(h);
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
        gains = Guest(*this, s, h).put_off(changes);
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
