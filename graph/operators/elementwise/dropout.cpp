// Dropout: elements at random become 0, the others larger. The mask is a function of a counter (N20): it is not kept,
// and the gradient is the operator itself.
#include "graph/operators/loops/entry.hpp"
#include "sw_models/functions/fp32.hpp"
#include "sw_models/functions/random.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph {
namespace {

/// Whole numbers 0, `by`, 2 `by`, ..., `count` of them or more, as values between jobs. A program knows where it is in
/// a tile, and not where the tile is; so each table has up to four times the numbers of the one before, and these are
/// sums.
WalkValue numbers(Kernel<Recorded> &k, std::size_t count, std::uint32_t by) {
  WalkValue table = k.temporary(1);
  record_elements(k, elements_walk(1, {}, {table}), [](const auto &at) { at.out(0, Recorded::Value::index(0)); });
  for (std::size_t have = 1; have < count;) {
    const std::size_t parts = std::min<std::size_t>((count + have - 1) / have, isa::vector::kOutputs);
    const WalkValue longer = k.temporary(parts * have);
    LineWalk walk = elements_walk(have, {table}, {});
    for (std::size_t part = 0; part < parts; ++part)
      walk.out.push_back(strided(longer, 1, 0, part * have));
    record_elements(k, walk, [&](const auto &at) {
      for (std::size_t part = 0; part < parts; ++part)
        at.out(part, Recorded::iadd(at.index(0), Recorded::Value::index(static_cast<std::int32_t>(part * have * by))));
    });
    table = longer;
    have *= parts;
  }
  return table;
}

struct DropoutRun {
  /// Inputs: x, and [seed, step].
  template <class A> static void run(Kernel<A> &k) {
    const double ratio = k.attributes().real("ratio");
    const std::uint32_t threshold = functions::keep_threshold(1 - ratio);
    const auto factor = static_cast<typename A::Value>(1 / (1 - ratio));
    const auto stream = static_cast<std::uint32_t>(k.attributes().integer("stream"));
    if constexpr (kRecords<A>)
      record(k, stream, threshold, factor);
    else
      run_golden(k, stream, threshold, factor);
  }

private:
  template <class A>
  static void run_golden(Kernel<A> &k, std::uint32_t stream, std::uint32_t threshold, typename A::Value factor) {
    using V = typename A::Value;
    const std::int32_t *key = k.index_in(1);
    const functions::RandomKey random =
        functions::random_key(static_cast<std::uint32_t>(key[0]), static_cast<std::uint32_t>(key[1]), stream);
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

  /// An element's number is its row's first one and its column's.
  static void record(Kernel<Recorded> &k, std::uint32_t stream, std::uint32_t threshold, Recorded::Value factor) {
    const std::size_t rows = k.out_shape(0).rows(), cols = k.out_shape(0).cols();
    LineWalk walk{{cols}, {rows}, {}, {}, true};
    walk.in = {strided(input(0), 1, cols), a_number(input(1), 0), a_number(input(1), 1), by_lane(numbers(k, cols, 1)),
               by_step(numbers(k, rows, static_cast<std::uint32_t>(cols)))};
    walk.out = {strided(output(0), 1, cols)};
    record_elements(k, walk, [&](const auto &at) {
      const Recorded::Index element = Recorded::iadd(at.index(3), at.index(4));
      const Recorded::Mask kept = Recorded::keep(at.index(1), at.index(2), stream, element, threshold);
      at.out(0, Recorded::select(kept, Recorded::mul(at.in(0), factor), Recorded::Value(0)));
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
  executes<DropoutRun>(op);
  return {op};
}

} // namespace gradweave::graph
