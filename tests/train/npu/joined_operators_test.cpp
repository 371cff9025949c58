// Operators that a step joins, alone or with a product: small graphs in which one of them reads what another has just
// computed, in each way that planning tells apart.
#include "tests/train/npu/npu_steps.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gradweave::runtime::train {
namespace {

struct Case {
  const char *name;
  const char *text;
};

/// Three steps of AdamW, every tensor that reaches memory compared; and all tensors with nothing left inside.
void expect_golden(const Case &c, const char *npu) {
  const graph::Graph network = graph::read_graph(c.text, c.name, graph::operators(), {});
  for (const bool keep_all : {false, true}) {
    NpuSteps steps(network, {}, make_functional_device(npu_of(npu)), Backend::kFunctional, keep_all);
    for (int i = 0; i < 2; ++i)
      ASSERT_EQ(steps.next(), "") << c.name << " on " << npu << ", step " << i << (keep_all ? ", all kept" : "");
  }
}

class JoinedOperators : public testing::TestWithParam<Case> {};

TEST_P(JoinedOperators, AreGolden) {
  for (const char *npu : {"test8v2", "test6x10v1", "test8c2v8", "small"})
    expect_golden(GetParam(), npu);
}

/// A reduction that operators of its own column block read.
constexpr Case kReductionsReadByElements[] = {
    {"max_of_two_axes", R"(graph "max_of_two_axes"
input x fp32 [1, 8, 4, 5]
input t fp32 [1, 8, 4, 3]
parameter w [5, 3] init "xavier"
a = Softplus(x)
m = ReduceMax(a) axes=[1, 2] keepdims=1
v1 = Mul(a, m)
y = Gemm(v1, w)
e = MeanSquaredError(y, t)
loss e
)"},
    {"pooled_gate", R"(graph "pooled_gate"
input x fp32 [1, 24, 24, 11]
input t fp32 [1, 24, 24, 3]
parameter w [11, 3] init "xavier"
a = Softplus(x)
g = GlobalAveragePool(a)
v1 = Mul(a, g)
y = Gemm(v1, w)
e = MeanSquaredError(y, t)
loss e
)"},
};

/// A reduction that another section, or the optimizer, reads.
constexpr Case kReductionsReadElsewhere[] = {
    {"bias_of_three_axes", R"(graph "bias_of_three_axes"
input x fp32 [9, 7, 12]
input t fp32 [9, 5]
parameter w1 [12, 12] init "xavier"
parameter b1 [12] init "zeros"
parameter w2 [12, 5] init "xavier"
v1 = MatMul(x, w1)
h = Bias(v1, b1)
v2 = MatMul(h, w2)
y = ReduceMean(v2) axes=[1] keepdims=0
e = MeanSquaredError(y, t)
loss e
)"},
    {"mean_beside_pool", R"(graph "mean_beside_pool"
let batch = 4
input x fp32 [batch, 3, 5, 10]
input labels int32 [batch]
parameter p [10] init "ones"
parameter w [20, 6] init "xavier"
v1 = Bias(x, p)
t = Tanh(v1)
a = ReduceMean(t) axes=[1, 2] keepdims=0
v2 = Mul(t, t)
v3 = GlobalAveragePool(v2)
f = Flatten(v3)
v4 = Concat(a, f) axis=1
y = Gemm(v4, w)
e = SoftmaxCrossEntropy(y, labels)
loss e
)"},
};

/// A view of what an operator behind a product computes.
constexpr Case kViews[] = {
    {"bias_reshape_loss", R"(graph "bias_reshape_loss"
input x bf16 [3, 5, 14]
input t fp32 [3, 5, 6]
parameter w [14, 6] init "xavier"
parameter b [6] init "zeros"
v1 = Reshape(x) shape=[15, 14]
p = Gemm(v1, w)
v2 = Bias(p, b)
y = Reshape(v2) shape=[3, 5, 6]
result y
e = MeanSquaredError(y, t)
loss e
)"},
    {"residual_of_a_linear_layer", R"(graph "residual_of_a_linear_layer"
input x fp32 [3, 5, 12]
input t fp32 [3, 5, 12]
parameter w1 [12, 12] init "xavier"
parameter b1 [12] init "zeros"
parameter w2 [12, 12] init "xavier"
v1 = MatMul(x, w1)
h = Bias(v1, b1)
v2 = MatMul(h, w2)
v3 = Add(h, v2)
e = MeanSquaredError(v3, t)
loss e
)"},
};

/// A normalisation whose chains do not fit a small scratchpad, nor its parts the tiles of the unit.
constexpr Case kLongChains[] = {
    {"normalised_activation", R"(graph "normalised_activation"
input x fp32 [2, 12, 12, 3]
input labels int32 [2]
parameter w1 [1, 3, 3, 3, 9] init "kaiming"
parameter gamma [9] init "ones"
parameter beta [9] init "zeros"
state mean [9] init "zeros"
state variance [9] init "ones"
v1 = Conv(x, w1) pads=[1, 1, 1, 1]
v2, v3, v4, next_mean, next_variance = BatchNormalization(v1, gamma, beta, mean, variance)
update mean = next_mean
update variance = next_variance
v5 = Gelu(v2)
v6 = GlobalAveragePool(v5)
v7 = Flatten(v6)
parameter w2 [9, 5] init "xavier"
y = Gemm(v7, w2)
e = SoftmaxCrossEntropy(y, labels)
loss e
)"},
};

/// Chains over dimensions with others between them, and what is at the edge of products and groups.
constexpr Case kCorners[] = {
    {"windows_with_more_taps_than_a_place_has_room_for", R"(graph "windows_with_more_taps_than_a_place_has_room_for"
input x fp32 [1, 17, 16, 8]
parameter w [8, 8] init "xavier"
y = Gemm(x, w)
m = MaxPool(y) kernel_shape=[11, 10] strides=[2, 1]
s = ReduceMean(m) axes=[] keepdims=0
loss s
)"},
    {"windows_with_columns_between", R"(graph "windows_with_columns_between"
input x fp32 [1, 38, 42, 2]
parameter w [2, 1] init "kaiming"
y = Gemm(x, w)
m = MaxPool(y) kernel_shape=[5, 1] strides=[2, 3]
g = GlobalAveragePool(m)
s = Reshape(g) shape=[]
loss s
)"},
    {"axes_apart", R"(graph "axes_apart"
input x fp32 [3, 4, 5, 6]
input t fp32 [4, 6]
parameter p [3, 4, 5, 6] init "normal:0.5"
v1 = Mul(x, p)
v2 = ReduceMax(v1) axes=[0, 2] keepdims=0
v3 = ReduceMean(v1) axes=[0, 2] keepdims=0
v4 = Add(v2, v3)
e = MeanSquaredError(v4, t)
loss e
)"},
    {"matrices_of_one_element", R"(graph "matrices_of_one_element"
input x fp32 [2, 2, 1, 1, 1]
input y fp32 [2, 2, 1, 1, 1]
input t fp32 [2, 2, 1, 1, 1]
parameter p [2, 2, 1, 1, 1] init "normal:0.5"
v1 = Mul(x, p)
v2 = MatMul(v1, y)
v3 = MatMul(v2, y)
e = MeanSquaredError(v3, t)
loss e
)"},
    {"rows_in_the_padding_alone", R"(graph "rows_in_the_padding_alone"
input x fp32 [1, 1, 1, 2]
input t fp32 [1, 1, 2, 1]
parameter w [1, 2, 1, 2, 1] init "xavier"
v1 = Conv(x, w) pads=[2, 1, 0, 0] strides=[2, 1]
e = MeanSquaredError(v1, t)
loss e
)"},
    {"windows_of_one_pixel", R"(graph "windows_of_one_pixel"
input x fp32 [1, 7, 7, 6]
input t fp32 [1, 5, 7, 6]
parameter w [1, 3, 1, 6, 6] init "kaiming"
v1 = Conv(x, w)
v2 = AveragePool(v1) kernel_shape=[1, 1]
e = MeanSquaredError(v2, t)
loss e
)"},
    {"product_with_itself", R"(graph "product_with_itself"
input x fp32 [2, 3]
input t fp32 [2, 2]
parameter w [3, 2] init "xavier"
v1 = Gemm(x, w)
v2 = Reshape(v1) shape=[2, 2]
v3 = Mul(v2, v1)
e = MeanSquaredError(v3, t)
loss e
)"},
    {"repeated_line_cut", R"(graph "repeated_line_cut"
input x fp32 [2, 6, 6, 6]
parameter w [6] init "xavier"
m = ReduceMean(x) axes=[0] keepdims=1
y = Bias(m, w)
e = ReduceMean(y) axes=[] keepdims=1
loss e
)"},
    {"matrix_read_by_lines", R"(graph "matrix_read_by_lines"
constant k fp32 [2, 1] = -1.25
parameter w1 [1, 2] init "uniform:0.5"
parameter w2 [2] init "normal:0.5"
parameter b [2] init "zeros"
v1 = MatMul(k, w1)
v2 = Sub(v1, w2)
v3 = Bias(v2, b)
v4 = Slice(v3) starts=[1, 0] ends=[2, 1] axes=[] steps=[]
e = Reshape(v4) shape=[]
loss e
)"},
};

/// Next values of a state, which is read again behind them, in another order, or by the product that gives them.
constexpr Case kNextValues[] = {
    {"read_behind", R"(graph "read_behind"
input x fp32 [6, 7]
input t fp32 [6, 7]
parameter w [7, 7] init "xavier"
state s [6, 7] init "zeros"
y = Gemm(x, w)
n = Add(s, y)
update s = n
v1 = Mul(s, n)
v2 = Sub(v1, s)
e = MeanSquaredError(v2, t)
loss e
)"},
    {"transposed", R"(graph "transposed"
input x fp32 [6, 6]
input t fp32 [6, 6]
parameter w [6, 6] init "xavier"
state s [6, 6] init "ones"
y = Gemm(x, w)
v1 = Transpose(s) perm=[1, 0]
n = Add(v1, x)
update s = n
v2 = Sub(y, s)
e = MeanSquaredError(v2, t)
loss e
)"},
    {"of_a_product", R"(graph "of_a_product"
input x fp32 [6, 6]
input t fp32 [6, 6]
parameter w [6, 6] init "xavier"
state s [6, 6] init "ones"
n = Gemm(s, w)
update s = n
v1 = Add(x, n)
e = MeanSquaredError(v1, t)
loss e
)"},
};

/// A first convolution whose result has more rows than its image, or whose rows are dilated.
constexpr Case kBiasedConvolutions[] = {
    {"wide_padding", R"(graph "wide_padding"
input x fp32 [2, 5, 9, 1]
input t fp32 [2, 7, 11, 4]
parameter w [1, 3, 3, 1, 4] init "kaiming"
parameter b [4] init "zeros"
v1 = Conv(x, w) pads=[2, 2, 2, 2]
y = Bias(v1, b)
e = MeanSquaredError(y, t)
loss e
)"},
    {"dilated_rows", R"(graph "dilated_rows"
input x fp32 [2, 9, 9, 1]
input t fp32 [2, 9, 9, 4]
parameter w [1, 3, 3, 1, 4] init "kaiming"
parameter b [4] init "zeros"
v1 = Conv(x, w) pads=[2, 1, 2, 1] dilations=[2, 1]
y = Bias(v1, b)
e = MeanSquaredError(y, t)
loss e
)"},
    {"padding_above_alone", R"(graph "padding_above_alone"
input x fp32 [2, 6, 9, 2]
input t fp32 [2, 6, 9, 4]
parameter w [1, 3, 3, 2, 4] init "kaiming"
parameter b [4] init "zeros"
v1 = Conv(x, w) pads=[2, 1, 0, 1]
y = Bias(v1, b)
e = MeanSquaredError(y, t)
loss e
)"},
};

std::string name_of(const testing::TestParamInfo<Case> &info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(ReductionsReadByElements, JoinedOperators, testing::ValuesIn(kReductionsReadByElements),
                         name_of);
INSTANTIATE_TEST_SUITE_P(ReductionsReadElsewhere, JoinedOperators, testing::ValuesIn(kReductionsReadElsewhere),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Views, JoinedOperators, testing::ValuesIn(kViews), name_of);
INSTANTIATE_TEST_SUITE_P(LongChains, JoinedOperators, testing::ValuesIn(kLongChains), name_of);
INSTANTIATE_TEST_SUITE_P(Corners, JoinedOperators, testing::ValuesIn(kCorners), name_of);
INSTANTIATE_TEST_SUITE_P(NextValues, JoinedOperators, testing::ValuesIn(kNextValues), name_of);
INSTANTIATE_TEST_SUITE_P(BiasedConvolutions, JoinedOperators, testing::ValuesIn(kBiasedConvolutions), name_of);

} // namespace
} // namespace gradweave::runtime::train
