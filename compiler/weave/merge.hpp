// One order over what several jobs do: whole sections, or tile products.
#pragma once

#include "compiler/weave/job_plans.hpp"
#include "weave_model/policy.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::compiler {

/// How jobs share the NPU (docs/weaving.md).
enum class WeavePolicy : std::uint8_t {
  kOneByOne,    ///< a job to its end, then the next
  kRoundRobin,  ///< a section of each job in turn
  kAiMt,        ///< sections, as AI-MT in spirit (weave_model::Policy::kAiMt)
  kLayerweaver, ///< sections, the least idle time next (weave_model::Policy::kGreedy)
  kBounded,     ///< the same among jobs that do not lead the others by much
  kTiles,       ///< tile products instead of sections, then changes of plans and order that the timing model judges
};
/// Throws std::invalid_argument listing the names that there are.
WeavePolicy parse_weave_policy(std::string_view name);
std::string_view to_string(WeavePolicy policy);
/// "one_by_one, ...": what parse_weave_policy() accepts.
std::string weave_policy_names();

/// What a job has to do next: a section, or a tile product, by the number in its job.
struct Turn {
  std::size_t job = 0, item = 0;
};

/// The items of all jobs in one order, each job's ascending. `costs`: of each job's items, cycles. Jobs count as
/// equally long, so that a rule's lead is a share of a job, and those that progress alike end together. The scratchpad
/// is the weight buffer of Layerweaver's NPU, and all that an item moves its weights; the buffer has room for any one
/// item.
std::vector<Turn> merge(const std::vector<std::vector<TileCost>> &costs, const weave_model::Rule &rule,
                        const Machine &npu);

/// The rules of a policy that are tried, of which the fastest order is taken: one, but of `bounded` and `tiles`, whose
/// lead and ties are open. `tiles` begins one by one.
std::vector<weave_model::Rule> rules_of(WeavePolicy policy);

} // namespace gradweave::compiler
