// Epilogues: operators on a product's result tiles give golden execution's bits on the functional model, and the check
// of hazards finds none.
#include "compiler/epilogue/epilogue_tiles.hpp"
#include "tests/compiler/epilogue/fused.hpp"

#include <gtest/gtest.h>

namespace gradweave::compiler {
namespace {

using graph::ElementType;
using graph::TensorId;

/// Bias, an activation whose operand is stored, a residual, and what comes of it in bf16.
void add_operators(Fused &fused, const Sizes &sizes) {
  OpGroup &g = fused.group();
  const TensorId b = g.input("b", ElementType::kFp32, graph::Shape{sizes.n});
  const TensorId r = g.input("r", ElementType::kFp32, graph::Shape{sizes.m, sizes.n});
  const TensorId biased = g.add("Bias", {fused.y(), b}, ElementType::kFp32, "biased");
  const TensorId active = g.add("Gelu", {biased}, ElementType::kBf16, "active");
  const TensorId sum = g.add("Add", {active, r}, ElementType::kFp32, "sum");
  g.add("Cast", {sum}, ElementType::kBf16, "rounded");
  g.graph().results = {biased, sum};
}

class EpilogueOn : public testing::TestWithParam<const char *> {
protected:
  Machine npu_ = vector_machine(GetParam());
};

TEST_P(EpilogueOn, GivesTheBitsOfGoldenExecution) {
  for (const Sizes &sizes : {Sizes{}, Sizes{37, 11, 21, 8, 8}, Sizes{40, 5, 30, 13, 30}, Sizes{2, 3, 2, 2, 2}})
    for (const bool store_result : {false, true}) {
      Fused fused(npu_, sizes);
      add_operators(fused, sizes);
      EXPECT_EQ(fused.difference(store_result), "") << sizes.tile_rows << " x " << sizes.tile_cols;
    }
}

TEST_P(EpilogueOn, WithoutOperandsGivesTheBitsOfGoldenExecution) {
  Fused fused(npu_);
  fused.group().add("Relu", {fused.y()}, ElementType::kBf16, "active");
  EXPECT_EQ(fused.difference(), "");
}

INSTANTIATE_TEST_SUITE_P(Machines, EpilogueOn, testing::Values("test8v2", "test6x10v1", "test8c2v8", "small"));

TEST(Epilogue, IsLocalToElements) {
  const Machine npu = vector_machine("test8v2");
  Fused elements(npu);
  add_operators(elements, {});
  EXPECT_TRUE(is_epilogue(elements.epilogue(false)));
  Fused rows(npu);
  rows.group().add("Softmax", {rows.y()}, ElementType::kFp32, "p", {});
  EXPECT_FALSE(is_epilogue(rows.epilogue(false)));
  Fused columns(npu);
  columns.group().add("BiasGradient", {columns.y()}, ElementType::kFp32, "sums");
  EXPECT_FALSE(is_epilogue(columns.epilogue(false)));
}

/// Bias in the result's place, Gelu's and what is rounded at the end in two of their own.
TEST(Epilogue, TilesShareTheScratchpad) {
  const Machine npu = vector_machine("small");
  Fused fused(npu);
  add_operators(fused, {});
  const Epilogue e = fused.epilogue(false);
  const ResultMatrix matrix{e.result, e.rows, e.cols};
  const EpilogueTiles tiles = epilogue_tiles(stages_on_matrix(e.jobs, matrix), matrix, true, e.in_memory);
  ASSERT_EQ(tiles.stages.size(), 4U);
  EXPECT_EQ(tiles.tiles[tiles.results[0][0]].slot, EpilogueTile::kResult);
  EXPECT_EQ(tiles.tiles[tiles.results[2][0]].slot, tiles.tiles[tiles.operands[2][1]].slot); // the sum over the residual
  EXPECT_EQ(tiles.slots.size(), 3U);                                                        // bias, bf16, residual
}

TEST(Epilogue, WhatDoesNotFitIsNone) {
  Machine npu = vector_machine("test8v2");
  Fused fused(npu);
  add_operators(fused, {});
  const Epilogue e = fused.epilogue(false);
  std::vector<ResultStore> stores;
  const std::vector<isa::Command> commands = fused.product(stores);
  EXPECT_TRUE(add_epilogues(commands, stores, {e}, {504, 8, kTokens}, npu).empty());
  npu.spm_banks = 1;
  EXPECT_TRUE(without_epilogue_room(npu).empty());
}

/// The check of hazards sees a wait that is missing.
TEST(EpilogueFaults, AMissingWaitIsSeen) {
  const Machine npu = vector_machine("test8v2");
  Fused fused(npu);
  add_operators(fused, {});
  const Epilogue e = fused.epilogue(false);
  std::vector<ResultStore> stores;
  const std::vector<isa::Command> product = fused.product(stores);
  const std::vector<isa::Command> stream =
      add_epilogues(product, stores, {e}, epilogue_room(npu, without_epilogue_room(npu).at(0), kTokens), npu);
  ASSERT_EQ(fused.difference(e, stream), "");
  std::size_t waits = 0;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    isa::Decoded decoded = *isa::decode(stream[i]);
    for (isa::Wait &wait : decoded.sync.waits) {
      if (wait.semaphore == isa::kNoSemaphore) continue;
      const isa::Wait kept = wait;
      wait = {};
      std::vector<isa::Command> changed = stream;
      changed[i] = isa::encode(decoded);
      EXPECT_NE(first_hazard(npu, changed), "") << "command " << i;
      wait = kept;
      ++waits;
    }
  }
  EXPECT_GT(waits, 20U);
}

} // namespace
} // namespace gradweave::compiler
