#include "memory_model/plan.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace gradweave::memory_model {

Plan whole(const Iteration &iteration, const Uses &uses, const std::vector<bool> &stays) {
  Plan plan{std::vector<std::uint64_t>(uses.accesses())};
  for (std::uint32_t a = 0; a < uses.accesses(); ++a)
    if (stays[a]) plan.kept[a] = iteration.tensors[uses.what[a].tensor].bytes;
  return plan;
}

std::vector<Gap> find_gaps(const Iteration &iteration, const Uses &uses) {
  std::vector<Gap> gaps;
  std::vector<std::uint32_t> epoch(uses.accesses(), kNever); // of what was written last: that access
  std::vector<std::uint32_t> length(uses.accesses());        // gaps of an epoch
  std::vector<bool> lasts(uses.accesses());                  // what was written goes to memory in any case
  for (std::uint32_t a = 0; a < uses.accesses(); ++a) {
    const std::uint32_t before = uses.previous[a];
    epoch[a] = uses.what[a].writes ? a : before == kNever ? kNever : epoch[before];
    if (epoch[a] == kNever) continue;
    if (uses.next[a] != kNever)
      ++length[epoch[a]];
    else
      lasts[epoch[a]] = iteration.tensors[uses.what[a].tensor].to_memory;
  }
  for (std::uint32_t a = 0; a < uses.accesses(); ++a) {
    const std::uint32_t next = uses.next[a];
    if (next == kNever) continue;
    const Tensor &tensor = iteration.tensors[uses.what[a].tensor];
    const std::uint32_t step = uses.step[a], later = uses.step[next];
    Gap gap{a, Places::middle(step), Places::middle(later), tensor.bytes, uses.what[next].reads, 0};
    if (tensor.weight) {
      gap.from = Places::end(step);
      gap.to = Places::begin(later);
    }
    if (epoch[a] != kNever && !lasts[epoch[a]]) gap.write_shares = length[epoch[a]];
    gaps.push_back(gap);
  }
  return gaps;
}

std::vector<std::uint64_t> occupied(const Uses &uses, const std::vector<Gap> &gaps, const Plan &plan) {
  const auto steps = static_cast<std::uint32_t>(uses.window.size());
  std::vector<std::int64_t> change(Places::kEach * static_cast<std::size_t>(steps) + 1);
  const auto hold = [&change](std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
    change[from] += static_cast<std::int64_t>(bytes);
    change[to] -= static_cast<std::int64_t>(bytes);
  };
  for (std::uint32_t s = 0; s < steps; ++s)
    hold(Places::begin(s), Places::end(s), uses.window[s]);
  for (const Gap &gap : gaps)
    hold(gap.from, gap.to, plan.kept[gap.access]);
  std::vector<std::uint64_t> held;
  std::int64_t now = 0;
  for (std::size_t place = 0; place + 1 < change.size(); ++place)
    held.push_back(static_cast<std::uint64_t>(now += change[place]));
  return held;
}

void check(const Iteration &iteration, const Uses &uses, const Plan &plan, std::uint64_t capacity) {
  const std::vector<Gap> gaps = find_gaps(iteration, uses);
  for (const Gap &gap : gaps)
    if (plan.kept[gap.access] > gap.bytes)
      throw std::logic_error(fmt::format("{} bytes stay of '{}', which has {}", plan.kept[gap.access],
                                         iteration.tensors[uses.what[gap.access].tensor].name, gap.bytes));
  const std::vector<std::uint64_t> held = occupied(uses, gaps, plan);
  for (std::size_t place = 0; place < held.size(); ++place)
    if (held[place] > capacity)
      throw std::logic_error(fmt::format("{} bytes are held at '{}', and {} is all there is", held[place],
                                         iteration.steps[place / Places::kEach].name, capacity));
}

} // namespace gradweave::memory_model
