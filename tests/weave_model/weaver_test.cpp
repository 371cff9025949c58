#include "tests/weave_model/refusal.hpp"
#include "weave_model/weaver.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace gradweave::weave_model {
namespace {

const Npu kNpu{12, 1};

std::vector<Job> jobs() { return {{{"computes", {{4, 1}, {4, 1}}}, 8}, {{"fetches", {{1, 4}, {1, 4}}}, 8}}; }

// a: fetched 1, computed 5; b: 5, 6; a: 6, 10; b: 10, 11.
TEST(Weaver, TimesAndSums) {
  const Outcome out = Weaver(jobs(), kNpu, {}).serve({{0}, {1}}, true);
  EXPECT_EQ(out.seconds, 11);
  EXPECT_EQ(out.compute_seconds, 10);
  EXPECT_EQ(out.fetch_seconds, 10);
  EXPECT_EQ(out.layers, 4U);
  EXPECT_EQ(out.service, (std::vector<double>{8, 8}));
  EXPECT_EQ(out.throughput(), 16.0 / 11);
  ASSERT_EQ(out.finished.size(), 2U);
  EXPECT_EQ(out.finished[0].model, 0U);
  EXPECT_EQ(out.finished[0].finish, 10);
  EXPECT_EQ(out.finished[1].finish, 11);
  EXPECT_EQ(least_seconds(jobs(), {1, 1}, kNpu), 10);
}

TEST(Weaver, AloneIsTheMeanOfARunOfRequests) {
  EXPECT_EQ(alone_seconds(jobs()[0].model, kNpu, 1), 9);
  EXPECT_EQ(alone_seconds(jobs()[0].model, kNpu, 4), 33.0 / 4);
}

// CheckEnd: the second request of a is in the queue when the first one ends; b's comes when nothing is left to do.
TEST(Weaver, TakesRequestsFromTheQueueAsTheyArrive) {
  const Outcome out = Weaver(jobs(), kNpu, {}).serve({{1, 40}, {0, 0}, {0, 0}}, true);
  ASSERT_EQ(out.order.size(), 6U);
  EXPECT_EQ(out.order[2].request, 1U);
  EXPECT_EQ(out.order[3].effect.computed, 17);
  EXPECT_EQ(out.order[4].model, 1U);
  EXPECT_EQ(out.order[4].effect.fetch_begin, 40);
  EXPECT_EQ(out.order[4].effect.compute_idle, 44 - 17);
  EXPECT_EQ(out.finished.back().arrival, 40);
}

TEST(Weaver, ARequestIsACandidateAtTheFirstFetchAfterItsArrival) {
  const Weaver weaver(jobs(), kNpu, {Policy::kRoundRobin}); // a's fetches end at 1 and 2
  EXPECT_EQ(weaver.serve({{0, 0}, {1, 1}}, true).order[1].model, 1U);
  EXPECT_EQ(weaver.serve({{0, 0}, {1, 1.5}}, true).order[1].model, 0U);
  EXPECT_EQ(weaver.serve({{0, 0}, {1, 1.5}}, true).order[2].model, 1U);
}

/// Who had nothing to do has not fallen behind: it takes turns, and does not shut the other one out.
TEST(Weaver, AModelThatComesLateBeginsLevel) {
  std::vector<Request> requests(20, Request{0, 0});
  for (int i = 0; i < 10; ++i)
    requests.push_back({1, 10});
  const Rule rule{Policy::kBounded, Idle::kSum, Ties::kFurthestBehind, 0};
  const Outcome out = Weaver(jobs(), {1000, 1}, rule).serve(requests, true);
  std::size_t run = 0, longest = 0;
  bool both = false;
  for (const Scheduled &s : out.order) {
    both |= s.model == 1;
    run = s.model == 1 ? run + 1 : 0;
    longest = std::max(longest, run);
    if (both && s.model == 0 && s.request == 19) break;
  }
  EXPECT_LE(longest, 2U);
}

TEST(Weaver, QueuesThatAreNeverEmptyEndByTime) {
  const Outcome out = Weaver(jobs(), kNpu, {}).saturate(1000);
  EXPECT_GE(out.seconds, 1000);
  EXPECT_LT(out.seconds, 1005);
  EXPECT_NEAR(out.throughput(), 1.6, 0.02) << "both compute 10 s of 20 alone";
}

TEST(Weaver, RefusesBadRequests) {
  const Weaver weaver(jobs(), kNpu, {});
  EXPECT_NE(refusal([&] { weaver.serve({}); }).find("no requests"), std::string::npos);
  EXPECT_NE(refusal([&] {
              weaver.serve({{0}, {2}});
            }).find("request 1 is for model 2; there are 2"),
            std::string::npos);
  for (const double arrival : {-1.0, std::nan(""), HUGE_VAL})
    EXPECT_NE(refusal([&] { weaver.serve({{0, arrival}}); }).find("request 0 arrives at"), std::string::npos);
  for (const double seconds : {0.0, -1.0, std::nan(""), HUGE_VAL})
    EXPECT_NE(refusal([&] { weaver.saturate(seconds); }).find("s of requests"), std::string::npos);
}

TEST(Weaver, RefusesBadJobs) {
  EXPECT_NE(refusal([] { Weaver({}, kNpu, {}); }).find("no jobs"), std::string::npos);
  EXPECT_NE(refusal([] { Weaver({{{"m", {{1, 1}}}, 0}}, kNpu, {}); }).find("'m' takes 0 s alone"), std::string::npos);
  EXPECT_NE(refusal([] { Weaver({{{"m", {}}, 1}}, kNpu, {}); }).find("no layers"), std::string::npos);
  EXPECT_NE(refusal([] { Weaver(jobs(), {1, 1}, {}); }).find("no room for two parts"), std::string::npos);
  Rule rule{Policy::kBounded};
  rule.lead = -1;
  EXPECT_NE(refusal([&] { Weaver(jobs(), kNpu, rule); }).find("lead of -1 s"), std::string::npos);
}

} // namespace
} // namespace gradweave::weave_model
