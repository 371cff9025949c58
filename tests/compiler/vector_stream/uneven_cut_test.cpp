// Areas of different sizes, and results over operands.
#include "compiler/vector_stream/cut/uneven_cut.hpp"

#include "compiler/vector_stream/cut/cut_chains.hpp"
#include "compiler/vector_stream/group/join_jobs.hpp"
#include "compiler/vector_stream/stage/places.hpp"
#include "tests/compiler/vector_stream/op_group.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace gradweave::compiler {
namespace {

using graph::ElementType;

constexpr std::size_t kX = 1; ///< operand

/// LayerNormalization's gradient of 512 x 312, or that of its scale.
class LayerGradient : public testing::Test {
protected:
  void make(const std::string &op) {
    const auto matrix = [&](const char *name, ElementType type) { return ops_.input(name, type, {512, 312}); };
    const auto vector = [&](const char *name, std::uint32_t n) { return ops_.input(name, ElementType::kFp32, {n}); };
    std::vector<graph::TensorId> in{matrix("dy", ElementType::kBf16), matrix("x", ElementType::kFp32)};
    in.push_back(vector("mean", 512));
    in.push_back(vector("rstd", 512));
    if (op == "LayerNormalizationGradient") in.push_back(vector("gamma", 312));
    ops_.add(op, in, ElementType::kFp32, "dx");
    jobs_ = ops_.jobs();
    group_ = std::get<JobGroup>(join_jobs(jobs_, npu_).at(0));
  }

  Machine npu_ = vector_machine("small");
  OpGroup ops_{npu_};
  OpJobs jobs_;
  JobGroup group_;
};

TEST_F(LayerGradient, ItsResultLiesWhereXWas) {
  make("LayerNormalizationGradient");
  const auto rows_of = [&](const GroupTiles &all) {
    return std::pair{all.tiles[all.operands[0][kX]].spm.row, all.tiles[all.results[0][0]].spm.row};
  };
  const StridedArea area{0, 128, 0, 312};
  const GroupTiles over = tiles_over(group_, area, npu_), apart = tiles_of(group_, area, npu_);
  EXPECT_EQ(rows_of(over).first, rows_of(over).second);
  EXPECT_LT(over.rows, apart.rows);
  JobGroup again = group_; // x is read once more
  again.stages.push_back(group_.stages[0]);
  const GroupTiles twice = tiles_over(again, area, npu_);
  EXPECT_NE(rows_of(twice).first, rows_of(twice).second);
}

TEST_F(LayerGradient, TheAreaBeforeTheLastIsTheLargest) {
  make("LayerNormalizationGradient");
  const std::size_t even = cut_of_chains(group_, npu_).lanes;
  const UnevenCut cut = uneven_cut(group_, even, npu_);
  ASSERT_GE(cut.lanes.size(), 2U);
  EXPECT_EQ(std::accumulate(cut.lanes.begin(), cut.lanes.end(), std::size_t{0}), 512U);
  EXPECT_EQ(cut.lanes.end()[-2], cut.most);
  EXPECT_LT(cut.lanes.front(), cut.most);
  EXPECT_LE(tiles_over(group_, {0, cut.most, 0, 312}, npu_).rows, place_rows(npu_));
  EXPECT_TRUE(uneven_cut(group_, 512, npu_).lanes.empty()); // one area
  ASSERT_NO_FATAL_FAILURE(ops_.check());
}

TEST_F(LayerGradient, ItsScaleGoesByStepsAndIsReadOnce) {
  make("LayerNormalizationScaleGradient");
  ASSERT_TRUE(ChainCutting::is_possible(group_));
  const ChainCutting chain(jobs_, group_, npu_);
  EXPECT_EQ(chain.lanes(), 312U);
  EXPECT_LT(chain.steps(chain.loops().front()), 64U);
  EXPECT_LT(chain.cycles(), cut_of_chains(group_, npu_).cycles);
  JobGroup two = group_;
  two.stages.push_back(two.stages[0]);
  EXPECT_FALSE(ChainCutting::is_possible(two));
  ASSERT_NO_FATAL_FAILURE(ops_.check());
}

} // namespace
} // namespace gradweave::compiler
