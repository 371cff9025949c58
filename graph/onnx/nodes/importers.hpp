// What each operator of ONNX becomes: a function in one of the files import_FAMILY.cpp, and a line in table.cpp.
#pragma once

#include "graph/onnx/value/node_import.hpp"

namespace gradweave::graph::onnx {

// import_conv.cpp
void import_conv(NodeImport &node);
void import_conv_transpose(NodeImport &node);

// import_pool.cpp
void import_max_pool(NodeImport &node);
void import_average_pool(NodeImport &node);
void import_global_pool(NodeImport &node); ///< GlobalAveragePool, GlobalMaxPool
void import_lp_pool(NodeImport &node);

// import_resize.cpp
void import_resize(NodeImport &node); ///< Resize, Upsample

// import_product.cpp
void import_gemm(NodeImport &node);
void import_matmul(NodeImport &node);

// import_elementwise.cpp
void import_add(NodeImport &node);
void import_sub(NodeImport &node);
void import_mul(NodeImport &node);
void import_div(NodeImport &node);
void import_pow(NodeImport &node);
void import_mod(NodeImport &node);
void import_variadic(NodeImport &node);   ///< Sum, Mean, Max, Min
void import_comparison(NodeImport &node); ///< Equal, Less, ...
void import_where(NodeImport &node);
void import_elementwise(NodeImport &node); ///< of one input, with no attributes, that the graph has by the same name
void import_cast(NodeImport &node);

// import_activation.cpp
void import_leaky_relu(NodeImport &node);
void import_prelu(NodeImport &node);
void import_hard_sigmoid(NodeImport &node);
void import_hard_swish(NodeImport &node);
void import_mish(NodeImport &node);
void import_gelu(NodeImport &node);
void import_clip(NodeImport &node);
void import_softmax(NodeImport &node);
void import_log_softmax(NodeImport &node);
void import_hardmax(NodeImport &node);

// import_function.cpp
void import_function(NodeImport &node); ///< of one tensor, composed of others: Selu, Tan, IsNaN, ...

// import_choice.cpp
void import_arg_max(NodeImport &node); ///< ArgMax, ArgMin
void import_top_k(NodeImport &node);
void import_one_hot(NodeImport &node);
void import_trilu(NodeImport &node);

// import_scatter.cpp
void import_gather_elements(NodeImport &node);
void import_gather_nd(NodeImport &node);
void import_scatter_nd(NodeImport &node);
void import_scatter_elements(NodeImport &node); ///< ScatterElements, Scatter

// import_crop.cpp
void import_center_crop_pad(NodeImport &node);
void import_reverse_sequence(NodeImport &node);
void import_eye_like(NodeImport &node);

// import_loss.cpp
void import_negative_log_likelihood(NodeImport &node);
void import_softmax_cross_entropy(NodeImport &node);

// import_scaling.cpp
void import_lp_normalization(NodeImport &node);
void import_global_lp_pool(NodeImport &node);
void import_mean_variance_normalization(NodeImport &node);
void import_group_normalization(NodeImport &node);
void import_lrn(NodeImport &node);

// import_attention.cpp
void import_attention(NodeImport &node);
void import_rotary_embedding(NodeImport &node);

// import_einsum.cpp
void import_einsum(NodeImport &node);

// import_norm.cpp
void import_batch_normalization(NodeImport &node);
void import_instance_normalization(NodeImport &node);
void import_layer_normalization(NodeImport &node);
void import_rms_normalization(NodeImport &node);
void import_dropout(NodeImport &node);

void import_quantize(NodeImport &node); ///< QuantizeLinear, DequantizeLinear

// import_composed.cpp
void import_cast_like(NodeImport &node);
void import_logic(NodeImport &node); ///< And, Or, Xor, Not
/// Whether a node moves truth values about that an operator of the graph computes, which moves real numbers alone.
bool moves_truths(const NodeImport &node);
void import_moved_truths(NodeImport &node);

// import_reduce.cpp
void import_reduce(NodeImport &node); ///< ReduceMean, ReduceSum, ReduceMax, ReduceMin, ReduceL1, ...
void import_cum_sum(NodeImport &node);

// import_move.cpp
void import_if(NodeImport &node);
void import_integers(NodeImport &node);
void import_identity(NodeImport &node);
void import_reshape(NodeImport &node);
void import_flatten(NodeImport &node);
void import_transpose(NodeImport &node);
void import_squeeze(NodeImport &node);
void import_unsqueeze(NodeImport &node);
void import_concat(NodeImport &node);
void import_split(NodeImport &node);
void import_slice(NodeImport &node);
void import_pad(NodeImport &node);
void import_expand(NodeImport &node);
void import_tile(NodeImport &node);
void import_gather(NodeImport &node);
void import_depth_to_space(NodeImport &node); ///< DepthToSpace, SpaceToDepth

// import_recurrent.cpp
void import_lstm(NodeImport &node);
void import_gru(NodeImport &node);
void import_rnn(NodeImport &node);

} // namespace gradweave::graph::onnx
