#include "weave_model/policy.hpp"

#include <algorithm>
#include <functional>

namespace gradweave::weave_model {
namespace {

using Candidates = std::vector<Candidate>;

/// The first of those that are smallest.
template <typename Less> std::size_t least(const Candidates &candidates, const Less &less) {
  return static_cast<std::size_t>(std::min_element(candidates.begin(), candidates.end(), less) - candidates.begin());
}

std::size_t in_turn(const Candidates &candidates, std::optional<std::size_t> last) {
  const auto next =
      std::find_if(candidates.begin(), candidates.end(), [&](const Candidate &c) { return last && c.model > *last; });
  return next == candidates.end() ? 0 : static_cast<std::size_t>(next - candidates.begin());
}

/// Its fetch for each second of its computing.
double fetches(const Candidate &c, const Npu &npu) { return npu.fetch_seconds(c.layer.bytes) / c.layer.seconds; }

std::size_t by_balance(const Candidates &candidates, const ScheduleState &state, const Npu &npu) {
  const double ahead = state.computed() - state.fetched();
  const auto hidden = [&](const Candidate &c) {
    return c.effect.memory_idle <= 0 && npu.fetch_seconds(c.layer.bytes) <= ahead;
  };
  const bool any = std::any_of(candidates.begin(), candidates.end(), hidden);
  return least(candidates, [&](const Candidate &a, const Candidate &b) {
    if (!any) return fetches(a, npu) < fetches(b, npu);
    if (hidden(a) != hidden(b)) return hidden(a);
    return fetches(a, npu) > fetches(b, npu);
  });
}

double idle_of(const Candidate &c, Idle idle, const ScheduleState &state) {
  if (idle == Idle::kSum) return c.effect.idle();
  const double added = (c.effect.computed - state.computed()) + (c.effect.fetched - state.fetched());
  return c.effect.idle() / added;
}

bool comes_first(const Candidate &a, const Candidate &b, Ties ties) {
  switch (ties) {
  case Ties::kFurthestBehind:
    return a.service < b.service;
  case Ties::kLeastAhead:
    return a.effect.computed - a.effect.fetched < b.effect.computed - b.effect.fetched;
  case Ties::kFirst:
    return false;
  }
  return false;
}

std::size_t greedy(const Rule &rule, const Candidates &candidates, const ScheduleState &state) {
  double least_service = candidates.front().service;
  for (const Candidate &c : candidates)
    least_service = std::min(least_service, c.service);
  const auto may_lead = [&](const Candidate &c) {
    return rule.policy != Policy::kBounded || c.service - least_service <= rule.lead;
  };
  std::size_t best = candidates.size();
  double best_idle = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!may_lead(candidates[i])) continue;
    const double idle = idle_of(candidates[i], rule.idle, state);
    const bool better = best == candidates.size() || idle < best_idle ||
                        (idle == best_idle && comes_first(candidates[i], candidates[best], rule.ties));
    if (!better) continue;
    best = i;
    best_idle = idle;
  }
  return best;
}

} // namespace

std::size_t select(const Rule &rule, const Candidates &candidates, const ScheduleState &state, const Npu &npu,
                   std::optional<std::size_t> last) {
  switch (rule.policy) {
  case Policy::kOneByOne:
    return least(candidates, [](const Candidate &a, const Candidate &b) { return a.arrival < b.arrival; });
  case Policy::kRoundRobin:
    return in_turn(candidates, last);
  case Policy::kAiMt:
    return by_balance(candidates, state, npu);
  case Policy::kGreedy:
  case Policy::kBounded:
    return greedy(rule, candidates, state);
  }
  return 0;
}

std::string_view to_string(Policy policy) {
  switch (policy) {
  case Policy::kOneByOne:
    return "one by one";
  case Policy::kRoundRobin:
    return "round robin";
  case Policy::kAiMt:
    return "AI-MT-like";
  case Policy::kGreedy:
    return "greedy";
  case Policy::kBounded:
    return "bounded";
  }
  return "";
}

std::string_view to_string(Idle idle) { return idle == Idle::kSum ? "sum" : "relative"; }

std::string_view to_string(Ties ties) {
  switch (ties) {
  case Ties::kFurthestBehind:
    return "furthest behind";
  case Ties::kLeastAhead:
    return "least ahead";
  case Ties::kFirst:
    return "first";
  }
  return "";
}

} // namespace gradweave::weave_model
