#include "compiler/schedule/step/step_guest.hpp"

#include "compiler/lower/tiling.hpp"

#include <array>

namespace gradweave::compiler {
namespace {

/// Parts of the macro-banks that are tried for a gradient that was put off, in sixteenths.
constexpr std::array<std::uint32_t, 3> kGuestShares{4, 6, 8};
/// A pair that has gained nothing by one part of so many of its changes is left.
constexpr std::uint64_t kGivenUp = 4;

} // namespace

/// As they are.
std::uint64_t StepWalk::Guest::cost_of_both() {
  return walk_.counted(walk_.price_of_both(walk_.sections_, at_, host_at_, kNoPlan));
}

/// Searches for what both may run like, with so many macro-banks for the gradient.
void StepWalk::Guest::search_beside(const std::vector<std::uint32_t> &guests) {
  std::vector<PlansBeside::Wanted> wanted;
  for (const std::uint32_t guest : guests) {
    wanted.push_back({&walk_.layers_[section_.layer], Pass::kBackward, guest, true});
    wanted.push_back({&walk_.layers_[host_.layer], Pass::kBackward, walk_.npu_.spm_banks - guest, false});
  }
  for (PlansBeside *beside : {&walk_.beside_, walk_.thrifty_beside_}) {
    if (!beside) continue;
    const std::uint64_t searched = beside->work().bursts;
    beside->prepare(wanted, walk_.threads_);
    walk_.work_.bursts += beside->work().bursts - searched;
  }
}

/// With so many macro-banks, the last ones, for the gradient, and what search_beside() found for that.
StepWalk::Guest::Banks StepWalk::Guest::give_banks(std::uint32_t guest) {
  const Machine &npu = walk_.npu_;
  Banks banks{guest, npu.spm_banks - guest, (npu.spm_banks - guest) * npu.bank_rows(), {}, {}, {}};
  const bool lies_there = std::all_of(host_.plans.begin(), host_.plans.end(), [&](const PhasePlan &p) {
    return std::max({p.split.shared.end(), p.split.other.end(), p.split.result.end()}) <= banks.host_rows;
  });
  if (lies_there) banks.hosts.push_back(host_.plans);
  const auto add = [](PlansBeside::Plans &plans, const PlansBeside::Plans &more) {
    plans.insert(plans.end(), more.begin(), more.end());
  };
  for (PlansBeside *beside : {&walk_.beside_, walk_.thrifty_beside_}) {
    if (!beside) continue;
    const std::size_t first_guest = banks.guests.size();
    std::size_t host = beside == &walk_.beside_ ? 0 : banks.hosts.size();
    add(banks.guests, beside->gradients(walk_.layers_[section_.layer], guest));
    add(banks.hosts, beside->of(walk_.layers_[host_.layer], Pass::kBackward, banks.host));
    for (; host < banks.hosts.size(); ++host)
      for (std::size_t i = first_guest; i < banks.guests.size(); ++i)
        banks.pairs.emplace_back(host, i);
  }
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
  if (first == 0 || first % walk_.npu_.bank_rows() != 0) return false;
  const std::uint32_t guest = walk_.npu_.spm_banks - first / walk_.npu_.bank_rows();
  search_beside({guest});
  const Banks banks = give_banks(guest);
  if (banks.guests.empty() || banks.hosts.empty()) return false;
  const std::uint64_t before = cost_of_both();
  left_ = section_.plans;
  rest_ = joint_ ? 0 : walk_.cost(first_, end_, kNoPlan);
  best_ = before - rest_;
  change(changes, before, banks);
  return of_both() < before;
}

bool StepWalk::Guest::put_off(std::uint64_t changes) {
  const Section section_before = section_, host_before = host_;
  const std::uint64_t apart = cost_of_both();
  section_.later = static_cast<std::uint32_t>(host_at_ - at_);
  leave(section_before.plans);
  for (const std::vector<PhasePlan> &plans : section_.choice->alternatives)
    leave(plans);
  Banks chosen;
  std::vector<std::uint32_t> guests;
  for (const std::uint32_t sixteenths : kGuestShares)
    if (const std::uint32_t guest = walk_.npu_.spm_banks * sixteenths / 16; guest > 0) guests.push_back(guest);
  search_beside(guests);
  for (const std::uint32_t guest : guests) {
    const Banks banks = give_banks(guest);
    Trials trials = this->trials();
    trials.more = [&](std::size_t i) { return i < banks.pairs.size(); };
    trials.change = [&](std::size_t i) {
      run_as(banks.hosts[banks.pairs[i].first], banks.guests[banks.pairs[i].second], banks);
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

} // namespace gradweave::compiler
