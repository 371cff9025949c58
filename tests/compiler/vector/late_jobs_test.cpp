// Jobs that are put in front of what reads their results.
#include "compiler/vector/late_jobs.hpp"

#include <gtest/gtest.h>

namespace gradweave::compiler {
namespace {

constexpr std::size_t kElements = 12;

JobTile all_of(std::size_t value) { return {value, 0, kElements, LineOf::kRow, true, true}; }

/// A job of elements, from one value to another.
VectorJob job(std::size_t from, std::size_t to, std::uint32_t lanes = kElements) {
  VectorJob made;
  made.lanes = lanes;
  made.operands = {all_of(from)};
  made.results = {all_of(to)};
  made.elementwise = true;
  return made;
}

/// Values 0 to 5, of which 3 and 4 are between jobs. The job 0 to 3, then `between`, then one that reads 3.
std::vector<std::size_t> results_of(const VectorJob &between, std::uint32_t lanes = kElements) {
  OpJobs jobs;
  for (graph::TensorId v = 0; v < 6; ++v)
    jobs.values.push_back({"", v == 3 || v == 4 ? graph::kNone : v, graph::ElementType::kFp32, kElements});
  jobs.programs.emplace_back();
  jobs.steps = {job(0, 3), between, job(3, 5, lanes)};
  put_late(jobs);
  std::vector<std::size_t> results;
  for (const JobStep &step : jobs.steps)
    results.push_back(std::get<VectorJob>(step).results[0].value);
  return results;
}

using Order = std::vector<std::size_t>;

TEST(LateJobs, ComeBeforeTheirFirstReader) { EXPECT_EQ(results_of(job(1, 2)), (Order{2, 3, 5})); }

TEST(LateJobs, StayBeforeWhatWritesWhatTheyRead) { EXPECT_EQ(results_of(job(1, 0)), (Order{3, 0, 5})); }

TEST(LateJobs, StayWhereTheirReaderIsOfOtherElements) { EXPECT_EQ(results_of(job(1, 2), 3), (Order{3, 2, 5})); }

TEST(LateJobs, StayIfTheirResultsAreInMemory) {
  OpJobs jobs;
  for (graph::TensorId v = 0; v < 4; ++v)
    jobs.values.push_back({"", v, graph::ElementType::kFp32, kElements});
  jobs.programs.emplace_back();
  jobs.steps = {job(0, 1), job(0, 2), job(1, 3)};
  put_late(jobs);
  EXPECT_EQ(std::get<VectorJob>(jobs.steps[0]).results[0].value, 1U);
}

} // namespace
} // namespace gradweave::compiler
