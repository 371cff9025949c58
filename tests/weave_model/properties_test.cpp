#include "tests/weave_model/properties.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gradweave::weave_model {
namespace {

constexpr std::uint32_t kSeeds = 400;

std::vector<Rule> all_rules() {
  std::vector<Rule> rules{{Policy::kOneByOne}, {Policy::kRoundRobin}, {Policy::kAiMt}};
  for (const Idle idle : {Idle::kSum, Idle::kRelative})
    for (const Ties ties : {Ties::kFurthestBehind, Ties::kLeastAhead, Ties::kFirst})
      for (const double lead : {-1.0, 0.0, 5.0})
        rules.push_back(lead < 0 ? Rule{Policy::kGreedy, idle, ties} : Rule{Policy::kBounded, idle, ties, lead});
  return rules;
}

Outcome weave(const Instance &instance, const Rule &rule) {
  return Weaver(instance.jobs, instance.npu, rule).serve(instance.list(), true);
}

// All times are those of an NPU that goes second by second; nothing is lost; the buffer is never over-full; no schedule
// beats its bound; and each choice is that of the rule.
TEST(WeaveProperties, HoldForEveryPolicy) {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    const Instance instance = random_instance(seed);
    for (const Rule &rule : all_rules()) {
      const Outcome outcome = weave(instance, rule);
      ASSERT_EQ(fault_of(instance, outcome), "") << "seed " << seed << ", " << to_string(rule.policy);
      ASSERT_EQ(departure(instance, outcome, rule), "") << "seed " << seed << ", " << to_string(rule.policy);
    }
  }
}

// Who has work left leads another that has by the lead and a layer at most.
TEST(WeaveProperties, ABoundedLeadStarvesNobody) {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    const Instance instance = random_instance(seed);
    for (const double lead : {0.0, 3.0, 10.0}) {
      const Outcome outcome = weave(instance, {Policy::kBounded, Idle::kSum, Ties::kFirst, lead});
      std::vector<double> service(instance.jobs.size());
      std::vector<std::size_t> done(instance.jobs.size());
      for (const Scheduled &s : outcome.order) {
        const Layer &layer = instance.jobs[s.model].model.layers[s.layer];
        const double share = std::max(layer.seconds, static_cast<double>(layer.bytes));
        service[s.model] += share;
        ++done[s.model];
        for (std::size_t m = 0; m < service.size(); ++m)
          if (done[m] < instance.requests[m] * instance.jobs[m].model.layers.size()) {
            ASSERT_LE(service[s.model] - service[m], lead + share) << "seed " << seed << ", lead " << lead;
          }
      }
    }
  }
}

/// How many instances of all tell a schedule made by one rule from one by another.
std::size_t told(const Rule &made, const Rule &asked) {
  std::size_t count = 0;
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    const Instance instance = random_instance(seed);
    count += departure(instance, weave(instance, made), asked).empty() ? 0 : 1;
  }
  return count;
}

// A fault in each policy: another one's choices, another idle time, other ties, too long a lead.
TEST(WeaveProperties, SeeAFaultInEachPolicy) {
  const Rule greedy{Policy::kGreedy}, bounded{Policy::kBounded, Idle::kSum, Ties::kFurthestBehind, 2};
  const Rule one{Policy::kOneByOne}, robin{Policy::kRoundRobin}, aimt{Policy::kAiMt};
  EXPECT_GT(told(robin, one), 0U);
  EXPECT_GT(told(one, robin), 0U);
  EXPECT_GT(told(greedy, aimt), 0U);
  EXPECT_GT(told({Policy::kGreedy, Idle::kRelative}, greedy), 0U);
  EXPECT_GT(told({Policy::kGreedy, Idle::kSum, Ties::kLeastAhead}, greedy), 0U);
  EXPECT_GT(told({Policy::kGreedy, Idle::kSum, Ties::kFirst}, greedy), 0U);
  EXPECT_GT(told({Policy::kBounded, Idle::kSum, Ties::kFurthestBehind, 4}, bounded), 0U);
  EXPECT_GT(told(greedy, bounded), 0U);
}

TEST(WeaveProperties, SeeAFaultInASchedule) {
  const Instance instance = random_instance(3);
  const Outcome good = weave(instance, {});
  ASSERT_GT(good.order.size(), 2U);
  ASSERT_EQ(fault_of(instance, good), "");
  const auto broken = [&](const auto &fault) {
    Outcome bad = good;
    fault(bad);
    return fault_of(instance, bad);
  };
  EXPECT_NE(broken([](Outcome &o) { o.order.pop_back(); }), "") << "a layer lost";
  EXPECT_NE(broken([](Outcome &o) { o.order.push_back(o.order.back()); }), "") << "a layer doubled";
  EXPECT_NE(broken([](Outcome &o) { o.order[1].effect.fetched -= 1; }), "")
      << "fetched into a full buffer, or too fast";
  EXPECT_NE(broken([](Outcome &o) { o.order[1].effect.computed += 1; }), "") << "computed late";
  EXPECT_NE(broken([](Outcome &o) { o.seconds -= 1; }), "") << "ended before its last layer";
}

} // namespace
} // namespace gradweave::weave_model
