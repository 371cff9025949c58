#include "graph/compose/attention.hpp"

#include <fmt/format.h>

#include <cmath>

namespace gradweave::graph {
namespace {

/// [batch, positions, heads * d] as [batch, heads, positions, d].
TensorId split_heads(Builder &build, TensorId x, std::uint32_t heads, const std::string &name) {
  const Shape shape = build.shape(x);
  if (shape.rank() != 3 || heads == 0 || shape.cols() % heads != 0)
    build.fail(fmt::format("'{}' is {}; attention of {} heads takes [batch, positions, a multiple of {}]",
                           build.tensor(x).name, shape.text(), heads, heads));
  const std::vector<std::int64_t> parts{shape[0], shape[1], heads, shape[2] / heads};
  const TensorId split = build.add("Reshape", {x}, {{"shape", parts}}, name + ".split");
  return build.add("Transpose", {split}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}}, name);
}

} // namespace

TensorId add_attention(Builder &build, const AttentionInputs &inputs, std::uint32_t heads, const std::string &name) {
  const TensorId q = split_heads(build, inputs.q, heads, name + ".q");
  const TensorId k = split_heads(build, inputs.k, heads, name + ".k");
  const TensorId v = split_heads(build, inputs.v, heads, name + ".v");
  const TensorId scores = build.add("MatMul", {q, k}, {{"trans_b", std::int64_t{1}}}, name + ".scores");
  std::vector<TensorId> to_softmax{scores};
  if (inputs.mask != kNone) to_softmax.push_back(inputs.mask);
  const double scale = 1 / std::sqrt(static_cast<double>(build.shape(q).cols()));
  const TensorId p = build.add("Softmax", to_softmax, {{"scale", scale}}, name + ".p");
  const TensorId heads_out = build.add("MatMul", {p, v}, {}, name + ".heads");
  const TensorId turned =
      build.add("Transpose", {heads_out}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}}, name + ".turned");
  return build.add("Reshape", {turned}, {{"shape", std::vector<std::int64_t>{0, 0, build.shape(inputs.v).cols()}}},
                   name);
}

TensorId add_causal_mask(Builder &build, std::uint32_t positions, const std::string &name) {
  std::vector<double> values;
  for (std::uint32_t row = 0; row < positions; ++row)
    for (std::uint32_t col = 0; col < positions; ++col)
      values.push_back(col <= row ? 0.0 : -HUGE_VAL);
  return build.constant(name, {positions, positions}, std::move(values));
}

} // namespace gradweave::graph
