// What becomes of a case, by name.
#include "app/validate/graphs/run_case.hpp"
#include "graph/operators/table.hpp"
#include "graph/text/read.hpp"

#include <gtest/gtest.h>

namespace gradweave::graphs {
namespace {

GraphCase case_of(const std::string &text) {
  GraphCase one;
  one.network = graph::read_graph(text, "f.graph", graph::operators());
  one.request.npu = "test8v2";
  one.request.backend = "functional";
  one.request.operators = "npu";
  one.request.data = "synthetic";
  one.request.steps = 2;
  one.request.jobs = 1;
  return one;
}

constexpr const char *kPerceptron = "graph \"g\"\ninput x fp32 [3, 5]\nparameter w [5, 4] init \"xavier\"\n"
                                    "y = Gemm(x, w)\ninput t fp32 [3, 4]\nl = MeanSquaredError(y, t)\nloss l\n";

TEST(RunCase, IsOk) {
  const Verdict verdict = run_case(case_of(kPerceptron));
  EXPECT_EQ(verdict.outcome, Outcome::kOk) << verdict.message;
  EXPECT_EQ(verdict.message, "");
}

/// Sums over micro-batches are documented to be the host's.
TEST(RunCase, IsRefusedForAReasonThatIsDocumented) {
  GraphCase one = case_of(kPerceptron);
  one.request.accumulate = 2;
  const Verdict verdict = run_case(one);
  EXPECT_EQ(verdict.outcome, Outcome::kRefused) << verdict.message;
  EXPECT_FALSE(is_failure(verdict.outcome));
}

TEST(RunCase, IsNotCompiledForAnyOtherReason) {
  GraphCase one = case_of(kPerceptron);
  one.request.set = {"npu.vector_groups=0"};
  const Verdict verdict = run_case(one);
  EXPECT_EQ(verdict.outcome, Outcome::kNotCompiled) << verdict.message;
  EXPECT_TRUE(is_failure(verdict.outcome));
}

TEST(RunCase, KindsForgetNamesAndNumbers) {
  const auto kind = [](const char *message) { return kind_of({Outcome::kNotCompiled, message}); };
  EXPECT_EQ(kind("job of 'd(t_4).1': 24 lanes"), kind("job of 'y': 6 lanes"));
  EXPECT_EQ(kind("'a': too wide; 'b': too wide"), kind("'c': too wide"));
  EXPECT_NE(kind("'a': too wide"), kind("'a': too high"));
  EXPECT_EQ(kind_of({Outcome::kWrong, "3 of 4 elements"}), kind_of({Outcome::kWrong, "op 'y'"}));
}

} // namespace
} // namespace gradweave::graphs
