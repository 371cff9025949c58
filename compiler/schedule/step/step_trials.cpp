// Changes of a step that are tried one after the other, and priced several at a time: those after one are drawn as if
// it were not kept, as most are not. What comes after one that is kept is drawn anew, from the same random numbers as
// if it had not been drawn before, so that the walk is the same with any number of threads.
#include "base/process/parallel.hpp"
#include "compiler/schedule/step/step_walk.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

namespace gradweave::compiler {
namespace {

/// Changes of a thread that are drawn at a time: enough that threads end together.
constexpr std::size_t kAhead = 8;
/// One part of so many of the work goes into changes of the step that are not tried nearby first.
constexpr std::uint64_t kWholeShare = 4;
/// One change of so many cuts all sections that share what stays alike, if it is known what does.
constexpr std::uint32_t kLinkedShare = 3;

std::size_t drawn_at_a_time(unsigned threads) { return threads == 1 ? 1 : threads * kAhead; }

} // namespace

std::vector<PlanChanger::Position> StepWalk::positions(const std::vector<PlanChanger *> &draws) {
  std::vector<PlanChanger::Position> positions;
  for (const PlanChanger *changer : draws)
    positions.push_back(changer->position());
  return positions;
}

void StepWalk::go_to(const std::vector<PlanChanger *> &draws, const std::vector<PlanChanger::Position> &positions) {
  for (std::size_t i = 0; i < draws.size(); ++i)
    draws[i]->go_to(positions[i]);
}

/// Calls gains(i, sections) for i from 0 on, in order up to the first for which it is true, and for some after it that
/// are under way by then. Each thread has its own copy of the sections.
void StepWalk::price_in_threads(std::size_t count, const std::function<bool(std::size_t, Sections &)> &gains) {
  using Clock = std::chrono::steady_clock;
  std::atomic<std::size_t> next{0}, last{count};
  std::atomic<Clock::rep> spent{0};
  const auto start = Clock::now();
  const std::size_t threads = std::min<std::size_t>(threads_, count);
  for_each_in_parallel(threads, threads_, [&](std::size_t) {
    const auto begun = Clock::now();
    Sections mine = sections_;
    for (std::size_t i = next++; i < count && i < last; i = next++) {
      if (!gains(i, mine)) continue;
      for (std::size_t known = last; i < known && !last.compare_exchange_weak(known, i);) {
      }
    }
    spent += (Clock::now() - begun).count();
  });
  const Clock::duration beside = Clock::duration(spent) - (Clock::now() - start);
  seconds_beside_ += std::max(0.0, std::chrono::duration<double>(beside).count());
}

/// Changes of the sections from `first` to before `end`, that the others say what they cost.
StepWalk::Trials StepWalk::trials_of(std::size_t first, std::size_t end, std::size_t priced_first,
                                     std::size_t priced_end) const {
  Trials trials;
  trials.first = first;
  trials.end = end;
  trials.price = [=](const Sections &sections, std::uint64_t limit) {
    return price(sections, priced_first, priced_end, limit);
  };
  return trials;
}

/// Tries these changes.
void StepWalk::keep_gains(Trials trials, const std::vector<std::function<void()>> &changes, std::uint64_t &best) {
  trials.more = [&](std::size_t i) { return i < changes.size(); };
  trials.change = [&](std::size_t i) { changes[i](); };
  keep_gains(trials, best);
}

/// Makes changes one after the other, and keeps each with which the price is below `best`, which it then is.
void StepWalk::keep_gains(const Trials &trials, std::uint64_t &best) {
  struct Drawn {
    Sections changed;
    std::vector<PlanChanger::Position> after; ///< of what it drew from
    Priced priced = {};
  };
  const auto at = [&](Sections &sections) { return sections.begin() + static_cast<std::ptrdiff_t>(trials.first); };
  const auto end = [&](Sections &sections) { return sections.begin() + static_cast<std::ptrdiff_t>(trials.end); };
  std::vector<Drawn> drawn;
  Sections found; // the best, while on a detour
  const auto limit = [&](std::size_t i) { return trials.detour ? best + trials.detour(i) : best; };
  for (std::size_t tried = 0; trials.more(tried);) {
    const Sections before(at(sections_), end(sections_));
    drawn.clear();
    for (std::size_t i = tried; drawn.size() < drawn_at_a_time(threads_) && trials.more(i); ++i) {
      trials.change(i);
      drawn.push_back({{at(sections_), end(sections_)}, positions(trials.draws)});
      std::copy(before.begin(), before.end(), at(sections_));
    }
    price_in_threads(drawn.size(), [&](std::size_t i, Sections &sections) {
      std::copy(drawn[i].changed.begin(), drawn[i].changed.end(), at(sections));
      drawn[i].priced = trials.price(sections, limit(tried + i));
      return drawn[i].priced.cost < limit(tried + i);
    });
    for (const Drawn &one : drawn) {
      const std::uint64_t most = limit(tried);
      ++tried;
      const std::uint64_t cost = counted(one.priced);
      if (cost >= most) continue;
      if (cost < best)
        found.clear();
      else if (found.empty())
        found = before;
      best = std::min(best, cost);
      std::copy(one.changed.begin(), one.changed.end(), at(sections_));
      go_to(trials.draws, one.after);
      if (trials.kept) trials.kept(tried - 1);
      break;
    }
  }
  std::copy(found.begin(), found.end(), at(sections_));
}

/// A change of one section, or of all alike, or of all that share what stays.
struct StepWalk::Change {
  std::vector<std::size_t> picked; ///< the sections that it changes; it was drawn for the first
  Sections changed;                ///< these
  PlanChanger::Position after;     ///< of what it was drawn from
  bool linked = false;             ///< picked for what they share
  bool nearby = false;             ///< is tried nearby first
  std::uint64_t limit = kNoPlan;   ///< cost nearby without it
  std::optional<Priced> before;    ///< that, if it was not known
  std::optional<Priced> near, all; ///< with it: nearby, and of the whole step

  bool gains_nearby() const { return !nearby || near->cost < limit; }
};

/// A change of a section that those which share what stays follow, by one step or all along: alone it would cut tiles
/// otherwise than those that are kept, and lose them. Returns all of them.
std::vector<std::size_t> StepWalk::change_linked(std::size_t one) {
  change(sections_[one]);
  const bool all_along = changer_.pick(2) == 1;
  std::vector<bool> follows(sections_.size());
  std::vector<std::size_t> lead{one}, all{one};
  follows[one] = true;
  while (!lead.empty()) {
    const std::size_t s = lead.back();
    lead.pop_back();
    for (const std::size_t other : linked_[s]) {
      if (follows[other]) continue;
      follows[other] = true;
      all.push_back(other);
      cut_like(sections_[other], sections_[s]);
      if (all_along) lead.push_back(other);
    }
  }
  return all;
}

/// As long as whole steps have taken more work than surroundings, only what gains there is tried on the whole; else all
/// is, for a layer's surroundings do not show what stays from its forward to its backward pass.
bool StepWalk::goes_nearby(std::uint64_t whole_bursts, std::uint64_t bursts) {
  return whole_bursts >= bursts / kWholeShare;
}

/// Leaves the sections as they were.
StepWalk::Change StepWalk::draw_change() {
  const Sections before = sections_;
  Change drawn;
  if (!linked_.empty() && changer_.pick(kLinkedShare) == 0) {
    const std::size_t one = changer_.pick(sections_.size());
    drawn.linked = !linked_[one].empty();
    if (drawn.linked) drawn.picked = change_linked(one);
  }
  if (!drawn.linked) {
    drawn.picked = pick_sections();
    const std::size_t one = drawn.picked.front();
    change(sections_[one]);
    for (const std::size_t s : drawn.picked)
      run_like(sections_[s], sections_[one]);
  }
  for (const std::size_t s : drawn.picked) {
    drawn.changed.push_back(sections_[s]);
    sections_[s] = before[s];
  }
  drawn.after = changer_.position();
  return drawn;
}

/// Says of changes in order whether they are to be tried nearby first, if each takes as much as the one before.
void StepWalk::foresee(std::vector<Change> &changes) const {
  std::uint64_t whole = whole_bursts_, all = work_.bursts;
  for (Change &c : changes) {
    c.nearby = !c.linked && goes_nearby(whole, all);
    all += c.nearby ? last_near_ : last_whole_;
    whole += c.nearby ? 0 : last_whole_;
  }
}

/// Finds out what is not known yet of a change's prices. `sections`: as they are without it, as which they are left.
void StepWalk::price(Sections &sections, Change &c) const {
  const std::size_t one = c.picked.front();
  if (c.nearby && !c.before) {
    const auto known = around_.find(one);
    if (known == around_.end()) c.before = price_around(sections, one, kNoPlan);
    c.limit = c.before ? c.before->cost : known->second;
  }
  const auto exchange = [&] {
    for (std::size_t i = 0; i < c.picked.size(); ++i)
      std::swap(sections[c.picked[i]], c.changed[i]);
  };
  exchange();
  if (c.nearby && !c.near) c.near = price_around(sections, one, c.limit);
  if (c.gains_nearby() && !c.all) c.all = price(sections, 0, sections.size(), cost_);
  exchange();
}

/// Judges the change that is the next one in order: whether it is kept, for the step gains.
bool StepWalk::keep_change(Change &c) {
  ++work_.tried;
  c.nearby = !c.linked && goes_nearby(whole_bursts_, work_.bursts);
  price(sections_, c);
  if (c.nearby) {
    if (around_.try_emplace(c.picked.front(), c.limit).second) counted(*c.before);
    last_near_ = c.near->bursts;
    counted(*c.near);
    if (!c.gains_nearby()) return false;
  }
  last_whole_ = c.all->bursts;
  if (!improves(*c.all)) return false;
  for (std::size_t i = 0; i < c.picked.size(); ++i)
    sections_[c.picked[i]] = std::move(c.changed[i]);
  around_.clear();
  return true;
}

void StepWalk::run(std::uint64_t changes, std::uint64_t bursts) {
  std::uint64_t tried = 0;
  const auto goes_on = [&] { return tried < changes && work_.bursts - woven_bursts_ < bursts; };
  while (goes_on()) {
    PlanChanger::Position position = changer_.position();
    std::vector<Change> drawn;
    for (std::uint64_t i = tried; i < changes && drawn.size() < drawn_at_a_time(threads_); ++i)
      drawn.push_back(draw_change());
    foresee(drawn);
    price_in_threads(drawn.size(), [&](std::size_t i, Sections &sections) {
      price(sections, drawn[i]);
      return drawn[i].gains_nearby() && drawn[i].all->cost < cost_;
    });
    bool kept = false;
    for (auto c = drawn.begin(); c != drawn.end() && !kept && goes_on(); ++c) {
      if (progress_) progress_();
      ++tried;
      position = c->after;
      kept = keep_change(*c);
    }
    changer_.go_to(position);
  }
}

} // namespace gradweave::compiler
