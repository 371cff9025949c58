// What holds of any schedule, and what holds of one that a policy made, told without the model's code: an NPU that goes
// byte by byte and second by second. Times are whole seconds, a byte takes one.
#pragma once

#include "weave_model/weaver.hpp"

#include <string>
#include <vector>

namespace gradweave::weave_model {

/// An instance of the problem: all requests are there at the beginning.
struct Instance {
  std::vector<Job> jobs; ///< that take alone what the longer of computing and fetching of each layer adds up to
  Npu npu;
  std::vector<std::uint32_t> requests; ///< of each job
  std::vector<Request> list() const;
};

Instance random_instance(std::uint32_t seed);

/// When each layer of an order is fetched, and computed, on an NPU that fetches and computes in that order.
struct Times {
  std::vector<double> fetched, computed;
};
Times run(const std::vector<Layer> &order, const Npu &npu);

/// What is wrong with a schedule, whoever made it; empty: nothing.
std::string fault_of(const Instance &instance, const Outcome &outcome);

/// Where a schedule departs from the rule; empty: nowhere.
std::string departure(const Instance &instance, const Outcome &outcome, const Rule &rule);

} // namespace gradweave::weave_model
