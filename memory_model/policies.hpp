// Policies by name, and the estimates that they give over a range of capacities.
#pragma once

#include "memory_model/estimate.hpp"
#include "memory_model/thesis.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gradweave::memory_model {

enum class Policy : std::uint8_t {
  kThesis, ///< the thesis's: whole tensors, Belady, offload at once, prefetch by latency
  kPack,   ///< whole tensors, those that are used again soonest first
  kRows,   ///< tensors by rows; the fastest of several plans, among them the two above
  kFused,  ///< the same, with point-wise layers computed where they are read
};
std::string_view to_string(Policy policy);
/// "thesis", "pack", "rows" or "fused"; throws std::invalid_argument listing these.
Policy parse_policy(std::string_view name);
/// The names, for a help text.
std::string policy_names();

struct Sweep {
  std::vector<std::uint64_t> capacities; ///< bytes, ascending
  double bandwidth = 0, throughput = 0;  ///< as of Machine
  ThesisReading reading = {};            ///< of the thesis's policy
};

/// The iteration that a policy runs: but for kFused the one that is given.
Iteration iteration_for(Policy policy, const Iteration &iteration);

/// An estimate for each capacity. `iteration`: as iteration_for() has it. Of kRows and kFused none is slower than that
/// of a smaller capacity of the sweep, nor moves more, unless nothing but the thesis's policy is as fast: what can be
/// done with less room can be done with more. None of kRows is slower than that of kThesis. Throws
/// std::invalid_argument as check_machine(), and if capacities do not ascend.
std::vector<Estimate> estimate(Policy policy, const Iteration &iteration, const Sweep &sweep);
/// For one machine.
Estimate estimate(Policy policy, const Iteration &iteration, const Machine &machine, const ThesisReading &reading = {});

} // namespace gradweave::memory_model
