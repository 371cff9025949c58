// What check_jobs() refuses.
#include "compiler/vector/check_jobs.hpp"

#include "graph/ir/error.hpp"

#include <gtest/gtest.h>

namespace gradweave::compiler {
namespace {

using isa::vector::Instruction;

/// o0 = t0 + t1 on matrices of 4 x 6: lanes along columns.
class CheckJobs : public testing::Test {
protected:
  CheckJobs() {
    jobs.values = {{"a", 0, graph::ElementType::kFp32, 24},
                   {"b", 1, graph::ElementType::kBf16, 6},
                   {"y", 2, graph::ElementType::kFp32, 24}};
    Instruction add;
    add.op = isa::vector::Op::ADD;
    add.d = isa::vector::kOutputCode;
    add.operands = {isa::vector::tile(0), isa::vector::tile(1), {}};
    jobs.programs.resize(1);
    jobs.programs[0].sections[1] = {add};
    VectorJob job;
    job.lanes = 6;
    job.steps = 4;
    job.operands = {{0, 0, 6, LineOf::kRow, true, true}, {1, 0, 0, LineOf::kRow, true, false}};
    job.results = {{2, 0, 6, LineOf::kRow, true, true}};
    jobs.steps = {job};
  }
  VectorJob &job(std::size_t step = 0) { return std::get<VectorJob>(jobs.steps[step]); }
  std::string problem() const {
    try {
      check_jobs(jobs, "node 'sum'");
    } catch (const graph::GraphError &error) {
      return error.what();
    }
    return {};
  }

  OpJobs jobs;
};

TEST_F(CheckJobs, LetsThemPass) { EXPECT_EQ(problem(), ""); }

TEST_F(CheckJobs, ABrokenProgramIsRefused) {
  jobs.programs[0].sections[1][0].operands[0] = isa::vector::reg(3);
  EXPECT_NE(problem().find("it reads code 3, which nothing wrote"), std::string::npos) << problem();
}

TEST_F(CheckJobs, ATileThatIsNotThereIsRefused) {
  job().operands.pop_back();
  EXPECT_EQ(problem(), "node 'sum': step 0 of its jobs: the program reads or writes other tiles than the job has");
}

TEST_F(CheckJobs, TooManyOperandsAreRefused) {
  job().operands.resize(6, job().operands[0]);
  EXPECT_EQ(problem(), "node 'sum': step 0 of its jobs: 6 operands and 1 results; there are 5 and 4 tiles");
}

TEST_F(CheckJobs, ATileBeyondItsValueIsRefused) {
  job().operands[0].first = 1;
  EXPECT_EQ(problem(), "node 'sum': step 0 of its jobs: it reaches element 24 of 'a', which has 24");
}

TEST_F(CheckJobs, OneElementForAllLanesIsRefused) {
  job().results[0].lanes_move = false;
  EXPECT_EQ(problem(), "node 'sum': step 0 of its jobs: all lanes write one element of 'y'");
}

TEST_F(CheckJobs, AResultInPlaceMayStandWhereItIsRead) {
  job().results[0].value = 0;
  EXPECT_EQ(problem(), "");
  job().operands[0].line = LineOf::kColumn;
  job().operands[0].pitch = 4;
  EXPECT_EQ(problem(), "node 'sum': step 0 of its jobs: it writes 'a', and reads it elsewhere");
}

TEST_F(CheckJobs, WhatIsRoundedIsNotReadAgain) {
  jobs.values[2].type = graph::ElementType::kBf16;
  jobs.steps.push_back(jobs.steps[0]);
  job(1).operands[0].value = 2;
  job(1).results[0].value = 0;
  EXPECT_EQ(problem(), "node 'sum': step 1 of its jobs: it reads 'y', which the operator has rounded to bf16");
}

TEST_F(CheckJobs, AMoveChangesNoType) {
  jobs.steps.emplace_back(MoveJob{0, 1, 0, 6, 0, 6, 1, 6});
  EXPECT_EQ(problem(), "node 'sum': step 1 of its jobs: it moves fp32 to bf16; a move changes no type");
}

} // namespace
} // namespace gradweave::compiler
