// The serving loop: who is next, how long anybody waits, and what it refuses.
#include "runtime/run/served_run.hpp"

#include "base/random/dice.hpp"
#include "graph/frontend/load_network.hpp"
#include "isa/assembler.hpp"
#include "runtime/run/lookup.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace gradweave::runtime {
namespace {

Machine test8() { return load_machine("configs/test8.toml"); }

/// A quantum of a product of this depth, from memory to memory.
std::vector<isa::Command> quantum(std::uint32_t depth) {
  return make_quantum(
      isa::assemble(fmt::format("LOAD bf16 dram=0x2000 pitch=64 rows={0} cols=8 spm=0 post=1\n"
                                "GEMM fp32 m=8 n=8 k={0} a=row:0:{0}:0 b=row:0:{0}:0 cout=100:16:0 wait=1:1 post=2\n"
                                "STORE fp32 dram=0x3000 pitch=64 rows=8 cols=8 spm=100 pstride=16 wait=2:1\n",
                                depth)),
      test8());
}

ServedJob job(const std::string &name, std::size_t quanta, std::uint32_t priority = 0, std::uint64_t deadline = 0) {
  return {name, std::vector<std::vector<isa::Command>>(quanta, quantum(90)), priority, deadline};
}

Service serve_on_model(const std::vector<ServedJob> &jobs, const std::vector<Arrival> &arrivals,
                       const ServeOptions &options = {}) {
  const auto device = make_timing_device(test8());
  device->allocate(1U << 16U);
  return serve(*device, jobs, arrivals, options);
}

TEST(Server, ServesEachRequestAfterItCame) {
  const Service service = serve_on_model({job("a", 3), job("b", 1)}, {{0, 5000}, {1, 10}, {0, 0}});
  ASSERT_TRUE(service.status.ok());
  EXPECT_EQ(service.quanta, 7U);
  ASSERT_EQ(service.requests.size(), 3U); // in the order of arrival
  EXPECT_EQ(service.requests[0].arrival.job, 0U);
  EXPECT_EQ(service.requests[2].arrival.cycle, 5000U);
  for (const ServedRequest &r : service.requests) {
    EXPECT_GT(r.begin, r.arrival.cycle);
    EXPECT_GT(r.finish, r.begin);
  }
  EXPECT_LT(service.requests[1].finish, 5000U);
}

TEST(Server, PrefersPriorityThenDeadlineThenArrival) {
  // The first request takes both places of the ring; the others wait and are chosen by rank.
  const std::vector<ServedJob> jobs{job("first", 2), job("late", 1), job("early", 1, 0, 900), job("high", 1, 5)};
  const Service service = serve_on_model(jobs, {{0, 0}, {1, 20}, {2, 30}, {3, 40}});
  ASSERT_TRUE(service.status.ok());
  EXPECT_LT(service.requests[3].finish, service.requests[2].finish);
  EXPECT_LT(service.requests[2].finish, service.requests[1].finish);
}

TEST(Server, StarvesNobody) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Dice dice(seed);
    std::vector<ServedJob> jobs;
    for (std::uint32_t j = 0; j < 3; ++j)
      jobs.push_back(job(fmt::format("{}", j), dice.between(1, 6), j, dice.below(2) * 1000));
    std::vector<Arrival> arrivals;
    std::uint64_t cycle = 0;
    for (int i = 0; i < 60; ++i)
      arrivals.push_back({dice.below(3), cycle += dice.below(700)}); // more than the NPU can do
    ServeOptions options;
    options.patience = dice.between(1, 40);
    const Service service = serve_on_model(jobs, arrivals, options);
    ASSERT_TRUE(service.status.ok());
    EXPECT_LE(service.most_passed, options.patience + service.most_present - 1) << "seed " << seed;
    EXPECT_GE(service.most_passed, std::min<std::uint64_t>(options.patience, 5)) << "the test shows nothing";
    EXPECT_TRUE(std::all_of(service.requests.begin(), service.requests.end(),
                            [](const ServedRequest &r) { return r.finish > r.arrival.cycle; }));
  }
}

/// Without patience the low priority waits to the end: what the bound is for.
TEST(Server, WouldStarveTheLowPriorityWithoutPatience) {
  const std::vector<ServedJob> jobs{job("low", 1), job("high", 4, 1)};
  std::vector<Arrival> arrivals{{0, 0}, {1, 0}};
  for (std::uint64_t i = 0; i < 40; ++i)
    arrivals.push_back({1, i});
  ServeOptions never, soon;
  never.patience = 1U << 30U;
  soon.patience = 8;
  EXPECT_EQ(serve_on_model(jobs, arrivals, never).most_passed, 4U * 41);
  EXPECT_LE(serve_on_model(jobs, arrivals, soon).most_passed, 8U + 42 - 1);
}

TEST(Server, NamesWhatItCannotServe) {
  EXPECT_THROW(serve_on_model({job("a", 1)}, {{1, 0}}), std::invalid_argument);
  EXPECT_THROW(serve_on_model({job("a", 0)}, {{0, 0}}), std::invalid_argument);
  const NpuConfig npu = test8();
  EXPECT_THROW(make_quantum(isa::assemble(fmt::format("SYNC engine=load post={}\n", npu.semaphores - 1)), npu),
               std::invalid_argument);
}

TEST(Server, TellsOfAnErrorOfTheNpu) {
  std::vector<ServedJob> jobs{job("a", 2)};
  jobs[0].quanta[1][1].set(isa::field::OPCODE, 99);
  const Service service = serve_on_model(jobs, {{0, 0}, {0, 5}});
  EXPECT_EQ(service.status.error, isa::ErrorCode::ILLEGAL_OPCODE);
}

TEST(Percentile, IsTheNearestRank) {
  const std::vector<std::uint64_t> ten{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  EXPECT_EQ(percentile(ten, 50), 5U);
  EXPECT_EQ(percentile(ten, 90), 9U);
  EXPECT_EQ(percentile(ten, 99), 10U);
  EXPECT_EQ(percentile({7}, 1), 7U);
}

TEST(ServedRun, ChecksEveryBitOnTheFunctionalModel) {
  ServeRequest request;
  request.npu = test8();
  for (const auto pass : {compiler::Pass::kForward, compiler::Pass::kBoth}) {
    ServeRequest::Job job;
    job.work.name = std::string(compiler::to_string(pass));
    job.work.layers = compiler::load_network(find_model("mlp"), compiler::NetworkSettings(4)).layers;
    job.work.pass = pass;
    request.jobs.push_back(job);
  }
  request.arrivals = [](const auto &) { return std::vector<Arrival>{{0, 0}, {1, 100}, {0, 200}}; };
  request.compile.plans = 5;
  request.backend = Backend::kFunctional;
  const ServeRun run = run_served(request);
  EXPECT_EQ(run.outcome, Outcome::kPass);
  for (const ServedNetwork &network : run.networks) {
    EXPECT_GT(network.elements, 0U);
    EXPECT_EQ(network.mismatches, 0U);
    EXPECT_GT(network.alone_cycles, 0U);
  }
}

} // namespace
} // namespace gradweave::runtime
