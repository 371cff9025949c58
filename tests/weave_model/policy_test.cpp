// Which layer each policy takes, on schedules computed by hand; a byte takes a second.
#include "weave_model/weaver.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gradweave::weave_model {
namespace {

/// Four layers that compute 4 s for a byte, and four that fetch 4 bytes for a second.
std::vector<Job> opposites() {
  return {{{"computes", {{4, 1}, {4, 1}, {4, 1}, {4, 1}}}, 16}, {{"fetches", {{1, 4}, {1, 4}, {1, 4}, {1, 4}}}, 16}};
}

std::string order_of(const Rule &rule, const std::vector<Job> &jobs, const std::vector<Request> &requests,
                     std::uint64_t buffer = 12) {
  std::string order;
  for (const Scheduled &s : Weaver(jobs, {buffer, 1}, rule).serve(requests, true).order)
    order += static_cast<char>('a' + s.model);
  return order;
}

const std::vector<Request> kOneEach{{0}, {1}};

TEST(WeavePolicy, OneByOneIsInOrderOfArrival) {
  EXPECT_EQ(order_of({Policy::kOneByOne}, opposites(), kOneEach), "aaaabbbb");
  EXPECT_EQ(order_of({Policy::kOneByOne}, opposites(), {{1, 0}, {0, 1}}), "bbbbaaaa");
}

TEST(WeavePolicy, RoundRobinTakesTurnsWhileBothHaveLayers) {
  EXPECT_EQ(order_of({Policy::kRoundRobin}, opposites(), kOneEach), "abababab");
  EXPECT_EQ(order_of({Policy::kRoundRobin}, opposites(), {{0}, {1}, {1}}), "ababababbbbb");
}

// At first nothing is computed that could hide a fetch of 4: a computes until 5. Then b's 4 seconds are hidden.
TEST(WeavePolicy, AiMtFetchesUnderWhatComputes) {
  EXPECT_EQ(order_of({Policy::kAiMt}, opposites(), kOneEach), "abababab");
}

// a first: 1 s idle against 4. Then b's fetch ends at 5 as a's computing does: no idle time, and neither has a (fetched
// at 2); b has been served less. b computes until 6: a is fetched by 6, b would be by 9.
TEST(WeavePolicy, GreedyTakesTheLeastIdleTime) {
  EXPECT_EQ(order_of({Policy::kGreedy}, opposites(), kOneEach), "abababab");
  EXPECT_EQ(order_of({Policy::kGreedy, Idle::kSum, Ties::kFirst}, opposites(), kOneEach), "aaaabbbb");
}

TEST(WeavePolicy, GreedyCountsTheMemorysIdleTime) {
  // A buffer of 4: after a and its second layer b's 4 bytes wait for both, a's third does not wait.
  EXPECT_EQ(order_of({Policy::kGreedy}, opposites(), kOneEach, 4).substr(0, 3), "aaa");
}

/// a's layers never make anything wait; b's first does.
std::vector<Job> starving() { return {{{"tiny", {{1, 1}}}, 1}, {{"large", {{3, 9}, {3, 9}}}, 18}}; }

TEST(WeavePolicy, GreedyStarvesWhatALeadBoundServes) {
  std::vector<Request> requests(40, Request{0});
  requests.push_back({1});
  const std::string greedy = order_of({Policy::kGreedy}, starving(), requests, 16);
  EXPECT_EQ(greedy, std::string(40, 'a') + "bb");
  const Rule bounded{Policy::kBounded, Idle::kSum, Ties::kFurthestBehind, 3};
  EXPECT_EQ(order_of(bounded, starving(), requests, 16), "aaaab" + std::string(9, 'a') + "b" + std::string(27, 'a'));
}

TEST(WeavePolicy, ABoundedLeadOfNothingServesTheOneBehind) {
  const Rule rule{Policy::kBounded, Idle::kSum, Ties::kFirst, 0};
  EXPECT_EQ(order_of(rule, opposites(), kOneEach), "abababab");
}

TEST(WeavePolicy, RelativeIdleTimeIsOfWhatIsAdded) {
  // First layers: 2 s idle of 2 + 20 + 2 added, or 1 of 1 + 1 + 1.
  const std::vector<Job> jobs{{{"long", {{20, 2}}}, 20}, {{"short", {{1, 1}}}, 1}};
  EXPECT_EQ(order_of({Policy::kGreedy, Idle::kSum}, jobs, kOneEach), "ba");
  EXPECT_EQ(order_of({Policy::kGreedy, Idle::kRelative}, jobs, kOneEach), "ab");
}

TEST(WeavePolicy, TiesGoToTheLeastAhead) {
  // Nothing waits after the first layer: b's computing ends 4 s after its fetch, a's 12.
  const std::vector<Job> jobs{{{"a", {{8, 1}, {8, 1}}}, 16}, {{"b", {{2, 3}}}, 3}};
  EXPECT_EQ(order_of({Policy::kGreedy, Idle::kSum, Ties::kLeastAhead}, jobs, kOneEach), "aba");
  EXPECT_EQ(order_of({Policy::kGreedy, Idle::kSum, Ties::kFirst}, jobs, kOneEach), "aab");
}

} // namespace
} // namespace gradweave::weave_model
