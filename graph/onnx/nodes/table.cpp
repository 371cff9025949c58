#include "graph/onnx/nodes/table.hpp"

#include "graph/onnx/nodes/importers.hpp"

#include <algorithm>
#include <iterator>

namespace gradweave::graph::onnx {
namespace {

constexpr TableEntry kImporters[] = {
    {"Abs", import_elementwise, ""},
    {"Add", import_add, ""},
    {"And", import_logic, ""},
    {"Attention", import_attention, "without past keys and values"},
    {"AveragePool", import_average_pool, "images and signals, not dilated"},
    {"BatchNormalization", import_batch_normalization, "by running averages, or of the batch"},
    {"Cast", import_cast, "between real types, and of truth values"},
    {"CastLike", import_cast_like, "as Cast"},
    {"Clip", import_clip, "with known bounds"},
    {"Concat", import_concat, ""},
    {"Conv", import_conv, "images and signals"},
    {"ConvTranspose", import_conv_transpose, "images and signals, without output_shape and auto_pad"},
    {"DepthToSpace", import_depth_to_space, ""},
    {"DequantizeLinear", import_quantize, "of what is known; else as it is, with QuantizeLinear"},
    {"Div", import_div, ""},
    {"Dropout", import_dropout, "off"},
    {"Elu", import_elu, ""},
    {"Equal", import_comparison, "real numbers"},
    {"Erf", import_elementwise, "where it is a Gelu's, the whole becomes one"},
    {"Exp", import_elementwise, ""},
    {"Expand", import_expand, "to a known shape"},
    {"Flatten", import_flatten, ""},
    {"GRU", import_gru, "with linear_before_reset, usual activations, all rows of one length"},
    {"Gather", import_gather, ""},
    {"Gelu", import_gelu, ""},
    {"Gemm", import_gemm, ""},
    {"GlobalAveragePool", import_global_pool, ""},
    {"GlobalMaxPool", import_global_pool, ""},
    {"Greater", import_comparison, "real numbers"},
    {"GreaterOrEqual", import_comparison, "real numbers"},
    {"HardSigmoid", import_hard_sigmoid, ""},
    {"HardSwish", import_hard_swish, ""},
    {"Identity", import_identity, ""},
    {"InstanceNormalization", import_instance_normalization, ""},
    {"LSTM", import_lstm, "usual activations, all rows of one length, no peepholes"},
    {"LayerNormalization", import_layer_normalization, "over the last dimension; also where it is spelt out"},
    {"LeakyRelu", import_leaky_relu, ""},
    {"Less", import_comparison, "real numbers"},
    {"LessOrEqual", import_comparison, "real numbers"},
    {"Log", import_elementwise, ""},
    {"LogSoftmax", import_log_softmax, ""},
    {"MatMul", import_matmul, "of matrices"},
    {"Max", import_variadic, ""},
    {"MaxPool", import_max_pool, "images and signals, not dilated, without indices"},
    {"Mean", import_variadic, ""},
    {"Min", import_variadic, ""},
    {"Mish", import_mish, ""},
    {"Mul", import_mul, ""},
    {"Neg", import_elementwise, ""},
    {"Not", import_logic, ""},
    {"Or", import_logic, ""},
    {"PRelu", import_prelu, ""},
    {"Pad", import_pad, "with a constant"},
    {"Pow", import_pow, "to 2, 3, 4, 1, 0.5, -0.5, -1"},
    {"QuantizeLinear", import_quantize, "left out: numbers are not rounded"},
    {"Reciprocal", import_elementwise, ""},
    {"ReduceMax", import_reduce, ""},
    {"ReduceMean", import_reduce, ""},
    {"ReduceMin", import_reduce, ""},
    {"ReduceSum", import_reduce, ""},
    {"Relu", import_elementwise, ""},
    {"Reshape", import_reshape, "to a known shape"},
    {"Resize", import_resize, "nearest, by whole factors"},
    {"RotaryEmbedding", import_rotary_embedding, ""},
    {"Sigmoid", import_elementwise, ""},
    {"Slice", import_slice, "with known bounds, forwards"},
    {"Softmax", import_softmax, ""},
    {"Softplus", import_elementwise, ""},
    {"SpaceToDepth", import_depth_to_space, ""},
    {"Split", import_split, ""},
    {"Sqrt", import_elementwise, ""},
    {"Squeeze", import_squeeze, ""},
    {"Sub", import_sub, ""},
    {"Sum", import_variadic, ""},
    {"Tanh", import_elementwise, ""},
    {"Tile", import_tile, "so often as is known"},
    {"Transpose", import_transpose, ""},
    {"Unsqueeze", import_unsqueeze, ""},
    {"Upsample", import_resize, "nearest, by whole factors"},
    {"Where", import_where, "of truth values"},
    {"Xor", import_logic, ""},
};

} // namespace

const std::vector<TableEntry> &importers() {
  static const std::vector<TableEntry> table(std::begin(kImporters), std::end(kImporters));
  return table;
}

const TableEntry *find_importer(std::string_view type) {
  const std::vector<TableEntry> &table = importers();
  const auto found = std::lower_bound(table.begin(), table.end(), type,
                                      [](const TableEntry &entry, std::string_view name) { return entry.type < name; });
  return found != table.end() && found->type == type ? &*found : nullptr;
}

} // namespace gradweave::graph::onnx
