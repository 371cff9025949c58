#include "operator_check.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gradweave::graph {
namespace {

Attributes transposing(int a, int b) { return {{"trans_a", std::int64_t{a}}, {"trans_b", std::int64_t{b}}}; }

Build matmul(const Shape &a, const Shape &b, const Attributes &attributes = {}) {
  return [=](Builder &build) {
    return build.add("MatMul", {build.parameter("a", a, "zeros"), build.parameter("b", b, "zeros")}, attributes, "y");
  };
}

/// Of bf16 inputs, as assign_edges makes them.
Build matmul_bf16(const Shape &a, const Shape &b, const Attributes &attributes = {}) {
  return [=](Builder &build) {
    const TensorId left = build.input("a", ElementType::kBf16, a);
    return build.add("MatMul", {left, build.input("b", ElementType::kBf16, b)}, attributes, "y");
  };
}

const RealValues kAscendingTerms{{"a", {16777216, 1, 1}}, {"b", {1, 1, 1}}};
const std::vector<float> kStays = {16777216}; // 2^24 + 1 rounds back each time; another order gives 2^24 + 2

const Holds matmul_holds(
    {"MatMul"},
    {derivative(matmul({2, 3, 4}, {2, 4, 2})), derivative(matmul({2, 4, 3}, {2, 4, 2}, transposing(1, 0))),
     derivative(matmul({2, 3, 4}, {2, 2, 4}, transposing(0, 1))),
     derivative(matmul({2, 4, 3}, {2, 2, 4}, transposing(1, 1))), derivative(matmul({2, 2, 3, 4}, {4, 2})),
     derivative(matmul({2, 3, 4}, {2, 4}, transposing(0, 1))), derivative(matmul({4, 3}, {4, 2}, transposing(1, 0))),
     near_fp64(matmul_bf16({3, 9, 33}, {3, 33, 7})), near_fp64(matmul_bf16({3, 33, 9}, {3, 7, 33}, transposing(1, 1))),
     near_fp64(matmul_bf16({70, 5, 9}, {70, 9, 7})), // more batches than threads
     exact(matmul_bf16({1, 3}, {3, 1}), {kAscendingTerms}, kStays),
     exact(matmul_bf16({3, 1}, {1, 3}, transposing(1, 1)), {kAscendingTerms}, kStays)});

TEST(MatMul, EachMatrixMeetsItsOwn) {
  const auto y = run_contract(matmul_bf16({2, 1, 2}, {2, 2, 1}), {{"a", {1, 2, 3, 4}}, {"b", {5, 6, 7, 8}}});
  EXPECT_EQ(y, (std::vector<float>{17, 53}));
}

TEST(MatMul, OneRightSideMeetsAll) {
  const auto y = run_contract(matmul_bf16({2, 1, 2}, {2, 1}), {{"a", {1, 2, 3, 4}}, {"b", {5, 6}}});
  EXPECT_EQ(y, (std::vector<float>{17, 39}));
}

TEST(MatMul, IsLoweredToAProductForEachMatrix) {
  Graph graph;
  Builder b(graph, operators());
  matmul({2, 3, 9, 5}, {2, 3, 7, 5}, transposing(0, 1))(b);
  const Op &op = graph.ops.back();
  const Product product = *op.type->lower({graph, op}).product;
  EXPECT_EQ(product.groups, 6U);
  EXPECT_EQ((std::vector<std::uint32_t>{product.m, product.k, product.n}), (std::vector<std::uint32_t>{9, 5, 7}));
  EXPECT_EQ(product.grouping, Product::Grouping::kBatch);
  EXPECT_FALSE(product.transposed_a);
  EXPECT_TRUE(product.transposed_b);
  EXPECT_EQ(op.type->operations({graph, op}), 6.0 * 9 * 5 * 7);
}

std::string matmul_error(const Shape &a, const Shape &b, const Attributes &attributes = {}) {
  return build_error([&](Builder &build) {
    build.at("net.graph:7");
    return matmul(a, b, attributes)(build);
  });
}

TEST(MatMul, RefusesWhatDoesNotFit) {
  const std::string where = "net.graph:7: op 'y' (MatMul): ";
  EXPECT_EQ(matmul_error({5}, {5, 2}), where + "a is [5] and b [5, 2]; both need rows and columns");
  EXPECT_EQ(matmul_error({2, 3, 4}, {3, 4, 5}),
            where +
                "a is [2, 3, 4] and b [3, 4, 5]: all but the last two dimensions must be equal, or b a single matrix "
                "and 'trans_a' 0");
  EXPECT_EQ(matmul_error({2, 4, 3}, {4, 5}, transposing(1, 0)),
            where + "a is [2, 4, 3] and b [4, 5]: all but the last two dimensions must be equal, or b a single matrix "
                    "and 'trans_a' 0");
  EXPECT_EQ(matmul_error({3, 4}, {4, 5}, transposing(0, 1)),
            where + "a is [3, 4] and b [4, 5] transposed: 4 columns meet 5 rows");
  EXPECT_EQ(matmul_error({3, 4}, {4, 5}, transposing(2, 0)), where + "attribute 'trans_a' = 2 must be 0 or 1");
}

} // namespace
} // namespace gradweave::graph
