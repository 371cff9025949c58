// Iterations: what is checked, what is computed where it is read.
#include "memory_model/iteration/fuse.hpp"
#include "memory_model/iteration/iteration.hpp"
#include "memory_model/iteration/sums.hpp"

#include <gtest/gtest.h>

namespace gradweave::memory_model {
namespace {

Tensor tensor(const std::string &name, std::uint64_t bytes, bool in_memory = false, bool to_memory = false,
              bool weight = false) {
  return {name, bytes, bytes / 4, in_memory, to_memory, weight};
}

/// x -> product -> z -> Relu -> y -> product -> loss, and back.
Iteration chain() {
  Iteration it;
  it.name = "chain";
  it.tensors = {tensor("x", 4096, true),
                tensor("w0", 64, true, false, true),
                tensor("z", 4096),
                tensor("y", 4096),
                tensor("w1", 64, true, false, true),
                tensor("loss", 64, false, true),
                tensor("dy", 4096),
                tensor("dw1", 64, false, true, true),
                tensor("dz", 4096),
                tensor("dw0", 64, false, true, true)};
  it.steps = {
      {"p0", "Gemm", false, true, 1000, {{0, true, false}, {1, true, false}, {2, false, true}}},
      {"r", "Relu", false, false, 10, {{2, true, false}, {3, false, true}}},
      {"p1", "Gemm", false, true, 1000, {{3, true, false}, {4, true, false}, {5, false, true}}},
      {"p1", "Gemm", true, true, 2000, {{3, true, false}, {4, true, false}, {6, false, true}, {7, false, true}}},
      {"r", "Relu", true, false, 10, {{6, true, false}, {3, true, false}, {8, false, true}}},
      {"p0", "Gemm", true, true, 1000, {{8, true, false}, {0, true, false}, {9, false, true}}}};
  return it;
}

TEST(MemoryIteration, TellsWhatIsWrong) {
  EXPECT_NO_THROW(check(chain()));
  Iteration unread = chain();
  unread.tensors[0].in_memory = false;
  EXPECT_THROW(check(unread), std::logic_error);
  Iteration twice = chain();
  twice.steps[1].accesses.push_back({2, true, false});
  EXPECT_THROW(check(twice), std::logic_error);
  Iteration empty = chain();
  empty.tensors[3].bytes = 0;
  EXPECT_THROW(check(empty), std::logic_error);
  Iteration nobody = chain();
  nobody.tensors.push_back(tensor("nobody", 1));
  EXPECT_THROW(check(nobody), std::logic_error);
}

TEST(MemoryIteration, KnowsWhenTensorsAreUsedAgain) {
  const Uses uses(chain());
  EXPECT_EQ(uses.step[uses.next[uses.first[0]]], 5U);          // x
  EXPECT_EQ(uses.next[uses.first[2]], uses.first[3]);          // y
  EXPECT_EQ(uses.previous[uses.first[5]], uses.first[4] + 2U); // dz
  EXPECT_EQ(uses.next[uses.first[5]], kNever);
}

TEST(MemoryIteration, HasAWindowOfRowsAndWeights) {
  const Iteration it = chain();
  EXPECT_EQ(working_window(it, it.steps[0]), 1024U + 64U + 1024U);
  // Both weights and their gradient, or one and the other with all that both products read: here nothing is told to be.
  EXPECT_EQ(working_window(it, it.steps[3]), 1024U + 1024U + 64U);
}

/// Neither y nor dz are there; who read them reads z, and dy with z.
TEST(MemoryIteration, ComputesPointWiseLayersWhereTheyAreRead) {
  const Iteration fused = fuse_point_wise(chain());
  ASSERT_EQ(fused.steps.size(), 4U);
  EXPECT_EQ(fused.tensors.size(), 8U);
  EXPECT_EQ(fused.steps[1].operations, 1010);
  EXPECT_EQ(fused.steps[2].operations, 2010);
  EXPECT_EQ(fused.steps[3].operations, 1020); // Relu back, and of what that reads forwards
  EXPECT_EQ(fused.steps[3].accesses.size(), 4U);
}

/// A weight that two products read side by side, whose input's gradient both add to: the second's part of the weight's
/// gradient is a tensor of its own, and is added when that of the input is complete.
TEST(MemoryIteration, AddsGradientsOfWeightsApart) {
  Iteration it;
  it.name = "recurrent";
  it.tensors = {tensor("x", 4096, true),
                tensor("w", 64, true, false, true),
                tensor("dy0", 4096, true),
                tensor("dy1", 4096, true),
                tensor("dx", 4096),
                tensor("dw", 64, false, true, true),
                tensor("result", 4, false, true)};
  it.steps = {{"a",
               "Gemm",
               true,
               true,
               1000,
               {{2, true, false}, {0, true, false}, {1, true, false}, {4, false, true}, {5, false, true}}},
              {"b",
               "Gemm",
               true,
               true,
               1016,
               {{3, true, false}, {0, true, false}, {1, true, false}, {4, true, true}, {5, true, true}}},
              {"c", "Add", true, false, 10, {{4, true, true}}},
              {"d", "Relu", true, false, 10, {{4, true, false}, {6, false, true}}}};
  check(it);
  const Iteration apart = sum_apart(it);
  check(apart);
  ASSERT_EQ(apart.steps.size(), 5U);
  EXPECT_EQ(apart.operations(), it.operations());
  EXPECT_EQ(apart.tensors.size(), 8U);
  EXPECT_FALSE(apart.tensors[7].to_memory);
  EXPECT_EQ(apart.steps[0].accesses[4].tensor, 5U); // the first part begins the sum
  EXPECT_EQ(apart.steps[1].accesses[4].tensor, 7U);
  EXPECT_FALSE(apart.steps[1].accesses[4].reads);
  const Step &sum = apart.steps[3]; // behind c, which adds to dx
  EXPECT_EQ(sum.operations, 16);
  ASSERT_EQ(sum.accesses.size(), 2U);
  EXPECT_EQ(sum.accesses[0].tensor, 7U);
  EXPECT_TRUE(sum.accesses[1].reads && sum.accesses[1].writes);
  EXPECT_EQ(sum.accesses[1].tensor, 5U);
}

TEST(MemoryIteration, KeepsPointWiseLayersThatLast) {
  Iteration it = chain();
  it.tensors[3].to_memory = true;
  EXPECT_EQ(fuse_point_wise(it).steps.size(), 5U);
}

/// The last step that reads y changes z, of which y would be computed again: both layers stay.
TEST(MemoryIteration, KeepsPointWiseLayersWhoseInputTheLastReaderChanges) {
  Iteration it = chain();
  it.steps[4].accesses.push_back({2, true, true});
  EXPECT_EQ(fuse_point_wise(it).steps.size(), 6U);
}

/// Something else is written where z was before y is read for the last time; of Relu's way back, which reads y, only
/// the result is left out.
TEST(MemoryIteration, KeepsPointWiseLayersWhoseInputIsOverwritten) {
  Iteration it = chain();
  it.steps.insert(it.steps.begin() + 3, {"again", "Gemm", false, true, 1000, {{0, true, false}, {2, false, true}}});
  const Iteration fused = fuse_point_wise(it);
  ASSERT_EQ(fused.steps.size(), 6U);
  EXPECT_EQ(fused.steps[1].layer, "Relu");
  it.steps[3].accesses[1].tensor = 8; // dz, which nobody computes anything of again: y is not there
  EXPECT_EQ(fuse_point_wise(it).steps[1].layer, "Gemm");
}

} // namespace
} // namespace gradweave::memory_model
