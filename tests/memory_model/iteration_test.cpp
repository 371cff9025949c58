// Iterations: what is checked, what is computed where it is read.
#include "memory_model/iteration/fuse.hpp"
#include "memory_model/iteration/iteration.hpp"

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

TEST(MemoryIteration, KeepsPointWiseLayersThatLast) {
  Iteration it = chain();
  it.tensors[3].to_memory = true;
  EXPECT_EQ(fuse_point_wise(it).steps.size(), 5U);
  it = chain();
  it.steps[4].accesses.push_back({2, true, true}); // z is overwritten while it is needed
  EXPECT_GE(fuse_point_wise(it).steps.size(), 5U);
}

} // namespace
} // namespace gradweave::memory_model
