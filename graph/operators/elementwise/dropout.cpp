// Dropout: elements at random become 0, the others larger. The mask is a function of a counter (N20): it is not kept,
// and the gradient is the operator itself.
#include "graph/operators/loops/entry.hpp"
#include "sw_models/functions/fp32.hpp"
#include "sw_models/functions/random.hpp"

#include <fmt/format.h>

namespace gradweave::graph {
namespace {

struct DropoutRun {
  /// Inputs: x, and [seed, step].
  template <class A> static void run(Kernel<A> &k) {
    using V = typename A::Value;
    const double ratio = k.attributes().real("ratio");
    const std::uint32_t threshold = functions::keep_threshold(1 - ratio);
    const V factor = static_cast<V>(1 / (1 - ratio));
    const std::int32_t *key = k.index_in(1);
    const functions::RandomKey random =
        functions::random_key(static_cast<std::uint32_t>(key[0]), static_cast<std::uint32_t>(key[1]),
                              static_cast<std::uint32_t>(k.attributes().integer("stream")));
    const V *x = k.in(0);
    V *y = k.out(0);
    k.parallel(k.out_shape(0).elements(), 64, [&, random](std::size_t begin, std::size_t end) {
      functions::Fp32 policy;
      for (std::size_t i = begin; i < end; ++i) {
        const bool kept = functions::keep(policy, random, static_cast<std::uint32_t>(i), threshold) >> 31U != 0;
        y[i] = kept ? A::mul(x[i], factor) : V{0}; // a NaN that is dropped is 0
      }
    });
  }
};

void infer_dropout(Inference &op) {
  const double ratio = op.attributes().real("ratio");
  op.require(ratio >= 0 && ratio < 1,
             fmt::format("attribute 'ratio' = {} must be at least 0 and below 1", to_string(Attribute(ratio))));
  const std::int64_t stream = op.attributes().integer("stream");
  op.require(stream >= 0 && stream <= UINT32_MAX,
             fmt::format("attribute 'stream' = {} must be a whole number of 32 bits", stream));
  op.require(op.shape(1) == Shape{2}, "key is " + op.shape(1).text() + "; it must be [2], seed and step");
  op.require(op.shape(0).elements() <= std::size_t{1} << 32U,
             "x is " + op.shape(0).text() + "; the mask's counter has 2^32 elements");
  op.set(0, op.shape(0));
}

void derive_dropout(Derivation &d) {
  d.give(0, d.build.add("Dropout", {d.gradient(), d.input(1)}, d.attributes(), d.name(0)));
}

} // namespace

std::vector<Operator> dropout_operators() {
  Operator op;
  op.name = "Dropout";
  op.summary = "x / (1 - ratio) where the random bits of (seed, step, stream, element) keep it, else +0";
  op.inputs = {{"x"}, {"key", Takes::kIndex}};
  op.outputs = {{"y", Gives::kSum}};
  op.attributes = {{"ratio", AttributeKind::kReal, {}, "the probability to be dropped"},
                   {"stream", AttributeKind::kInteger, {}, "which no other Dropout of the network has"}};
  op.infer = infer_dropout;
  op.derive = derive_dropout;
  op.operations = operations_per_element<60>; // integer ones, nearly all
  executes_golden<DropoutRun>(op);
  return {op};
}

} // namespace gradweave::graph
