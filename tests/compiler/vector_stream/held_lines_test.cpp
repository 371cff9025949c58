// Lines that all steps read: held in registers where that is faster, and the same bits.
#include "compiler/vector_stream/group/group.hpp"
#include "compiler/vector_stream/stage/held_lines.hpp"
#include "tests/compiler/vector_stream/op_group.hpp"

namespace gradweave::compiler {
namespace {

/// BatchNormalization's elements: a matrix, and four lines of its columns.
class HeldLines : public testing::Test {
protected:
  HeldLines() {
    std::vector<graph::TensorId> inputs{group_.input("x", graph::ElementType::kBf16, {60, 20})};
    for (const char *name : {"gamma", "beta", "mean", "variance"})
      inputs.push_back(group_.input(name, graph::ElementType::kFp32, {20}));
    group_.add("BatchNormalizationInference", inputs, graph::ElementType::kBf16, "y");
    jobs_ = group_.jobs();
    stage_ = stage_of(jobs_, std::get<VectorJob>(jobs_.steps.back()));
    if (stage_.lanes != 20) stage_ = exchanged(stage_);
  }

  Machine npu_ = vector_machine("test8v2");
  OpGroup group_{npu_};
  OpJobs jobs_;
  Stage stage_;
};

TEST_F(HeldLines, AreThoseOfAllSteps) {
  const std::vector<HeldLine> held = held_lines(stage_);
  ASSERT_EQ(held.size(), 4U);
  const isa::vector::Program program = with_held_lines(*stage_.program, held);
  EXPECT_EQ(isa::vector::mask_of(program.sections[1]), 0b100001U); // x, and y
  EXPECT_EQ(isa::vector::mask_of(program.sections[0]), 0b11110U);
  EXPECT_FALSE(isa::vector::check(isa::vector::encode(program)));
  EXPECT_TRUE(held_lines(exchanged(stage_)).empty()); // each step has numbers of its own
}

TEST_F(HeldLines, WaitForFreeRegisters) {
  isa::vector::Program full = *stage_.program;
  for (std::uint8_t reg = 0; reg < 14; ++reg) {
    isa::vector::Instruction i;
    i.d = reg;
    i.operands[0] = i.operands[1] = isa::vector::tile(0);
    full.sections[1].insert(full.sections[1].begin(), i);
  }
  stage_.program = &full;
  EXPECT_LE(held_lines(stage_).size(), 2U);
}

TEST_F(HeldLines, AreHeldWhereThatIsFaster) {
  EXPECT_TRUE(walk_of(stage_, 8 * npu_.lanes(), 60, npu_).held);
  EXPECT_FALSE(walk_of(stage_, 20, 1, npu_).held); // they are read once
}

} // namespace
} // namespace gradweave::compiler
