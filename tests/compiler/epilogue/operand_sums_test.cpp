// Sums over the rows of a product's operands give golden execution's bits on the functional model, whoever replaces the
// operand's tiles, and the check of hazards finds none.
#include "compiler/epilogue/operand_sums.hpp"
#include "tests/compiler/epilogue/fused.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace gradweave::compiler {
namespace {

using graph::ElementType;
using graph::TensorId;

/// A product of which an operand is summed.
class Summed {
public:
  Summed(const Machine &npu, const Sizes &sizes, bool of_x) : npu_(npu), fused_(npu, sizes) {
    fused_.group().add("BiasGradient", {of_x ? fused_.x() : fused_.w()}, ElementType::kFp32, "sums");
    epilogue_ = fused_.epilogue(false);
    const graph::Shape &shape = fused_.group().graph().tensors[of_x ? fused_.x() : fused_.w()].shape;
    sum_ = {epilogue_.jobs, 0, shape.rows(), shape.cols(), epilogue_.addresses};
    product_ = fused_.product(stores_);
    room_ = epilogue_room(npu, without_epilogue_room(npu).at(0), kTokens);
  }

  const OperandSum &sum() const { return sum_; }
  std::vector<isa::Command> &product() { return product_; }
  std::uint32_t rows() const { return rows_of_sum(product_, sum_, room_.first_row, npu_); }
  std::vector<isa::Command> commands() const { return add_operand_sum(product_, sum_, room_.first_row, room_, npu_); }
  std::string difference() { return fused_.difference(epilogue_, commands()); }

  /// A product of one element behind the others, over what their first operand has left.
  void replace_by_core() {
    isa::GemmCommand gemm;
    gemm.m = gemm.n = gemm.k = 1;
    gemm.a = gemm.b = {200, 2, 0};
    gemm.cout = {0, 2, 0};
    product_.push_back(isa::encode({gemm, {}, 0}));
  }

private:
  Machine npu_;
  Fused fused_;
  Epilogue epilogue_;
  OperandSum sum_;
  std::vector<ResultStore> stores_;
  std::vector<isa::Command> product_;
  EpilogueRoom room_;
};

class OperandSumOn : public testing::TestWithParam<const char *> {
protected:
  Machine npu_ = vector_machine(GetParam());
};

TEST_P(OperandSumOn, GivesTheBitsOfGoldenExecution) {
  for (const Sizes &sizes : {Sizes{}, Sizes{37, 11, 21, 8, 8}, Sizes{40, 5, 30, 13, 30}, Sizes{3, 3, 3, 2, 2}})
    for (const bool of_x : {true, false})
      for (const bool by_core : {false, true}) {
        Summed summed(npu_, sizes, of_x);
        if (by_core) summed.replace_by_core();
        EXPECT_GT(summed.rows(), 0U);
        EXPECT_EQ(summed.difference(), "") << sizes.tile_rows << " x " << sizes.tile_cols << (of_x ? ", x" : ", w");
      }
}

INSTANTIATE_TEST_SUITE_P(Machines, OperandSumOn, testing::Values("test8v2", "test6x10v1", "test8c2v8", "small"));

TEST(OperandSum, IsAChainOverRows) {
  const Machine npu = vector_machine("test8v2");
  EXPECT_TRUE(is_operand_sum(Summed(npu, {}, true).sum()));
  OperandSum turned = Summed(npu, {}, true).sum();
  std::swap(turned.rows, turned.cols);
  EXPECT_FALSE(is_operand_sum(turned));
  Fused fused(npu);
  fused.group().add("Relu", {fused.x()}, ElementType::kBf16, "active");
  const Epilogue e = fused.epilogue(false);
  EXPECT_FALSE(is_operand_sum({e.jobs, 0, 37, 11, e.addresses}));
}

/// A chain goes on where it ended (N9): rows in another order are none.
TEST(OperandSum, AsksForAllRowsInOrder) {
  const Machine npu = vector_machine("test8v2");
  Summed summed(npu, {}, true);
  std::vector<isa::Command> &product = summed.product();
  ASSERT_GT(summed.rows(), 0U);
  const std::vector<isa::Command> whole = product;
  product.resize(product.size() / 2);
  EXPECT_EQ(summed.rows(), 0U);
  product = whole;
  std::vector<isa::Command *> loads;
  for (isa::Command &command : product) {
    const isa::Decoded decoded = *isa::decode(command);
    if (const auto *dma = std::get_if<isa::DmaCommand>(&decoded.op); dma != nullptr && !dma->store)
      loads.push_back(&command);
  }
  std::swap(*loads.front(), *loads.at(loads.size() - 2));
  EXPECT_EQ(summed.rows(), 0U);
}

/// The check of hazards sees a wait that is missing.
TEST(OperandSumFaults, AMissingWaitIsSeen) {
  const Machine npu = vector_machine("test8v2");
  Summed summed(npu, {}, true);
  summed.replace_by_core();
  const std::vector<isa::Command> stream = summed.commands();
  ASSERT_EQ(summed.difference(), "");
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
  EXPECT_GT(waits, 10U);
}

} // namespace
} // namespace gradweave::compiler
