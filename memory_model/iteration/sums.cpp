#include "memory_model/iteration/sums.hpp"

#include <algorithm>
#include <utility>

namespace gradweave::memory_model {
namespace {

/// The last step that adds to what the step writes beside gradients of weights.
std::uint32_t completed_at(const Iteration &iteration, const Uses &uses, std::uint32_t step) {
  std::uint32_t last = step;
  for (std::uint32_t a = uses.first[step]; a < uses.first[step + 1]; ++a) {
    if (!uses.what[a].writes || iteration.tensors[uses.what[a].tensor].weight) continue;
    for (std::uint32_t next = uses.next[a]; next != kNever && uses.what[next].writes && uses.what[next].reads;
         next = uses.next[next])
      last = std::max(last, uses.step[next]);
  }
  return last;
}

} // namespace

Iteration sum_apart(const Iteration &iteration) {
  const Uses uses(iteration);
  Iteration result = iteration;
  result.steps.clear();
  std::vector<std::vector<Step>> behind(iteration.steps.size());
  for (std::uint32_t s = 0; s < iteration.steps.size(); ++s) {
    Step step = iteration.steps[s];
    for (Access &access : step.accesses) {
      if (!iteration.tensors[access.tensor].weight || !access.reads || !access.writes) continue;
      const std::uint32_t sum = access.tensor;
      Tensor part = iteration.tensors[sum];
      part.name += "." + std::to_string(s);
      part.to_memory = false;
      access.tensor = static_cast<std::uint32_t>(result.tensors.size());
      access.reads = false;
      const double additions = static_cast<double>(part.bytes) / iteration.element_bytes;
      step.operations -= additions;
      behind[completed_at(iteration, uses, s)].push_back(
          {step.name, "Add", true, false, additions, {{access.tensor, true, false}, {sum, true, true}}});
      result.tensors.push_back(std::move(part));
    }
    result.steps.push_back(std::move(step));
    result.steps.insert(result.steps.end(), behind[s].begin(), behind[s].end());
  }
  return result;
}

} // namespace gradweave::memory_model
