// Dropout: elements at random become 0, the others larger. The mask is a function of a counter (N20): it is not kept,
// and the gradient is the operator itself.
#include "graph/operators/loops/entry.hpp"
#include "sw_models/functions/fp32.hpp"
#include "sw_models/functions/random.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::graph {
namespace {

// As programs: an element's number is the sum of a number of its column and one of its row, in rows that fill the lanes
// of any machine whatever the tensor's own are. A program knows its step in a walk, and not where in a tensor it is, so
// both are tables.
constexpr unsigned kRowBits = 12, kPartBits = 6; ///< of so many elements, as a power of 2

/// Whole numbers 0, 1, ..., shifted left: `count` of them or more, as values between jobs.
WalkValue numbers(Kernel<Recorded> &k, std::size_t count, unsigned shift) {
  const std::size_t part = std::min(count, std::size_t{1} << kPartBits), parts = (count + part - 1) / part;
  const WalkValue few = k.temporary(part);
  LineWalk steps = rows_as_lanes(1, part);
  steps.out = {by_step(few)};
  record_elements(k, steps, [shift](const auto &at) { at.out(0, Recorded::shl(at.step(), shift)); });
  if (parts == 1) return few;
  const WalkValue all = k.temporary(parts * part);
  LineWalk walk = columns_as_lanes(parts, part);
  walk.in = {by_lane(few)};
  walk.out = {strided(all, 1, part)};
  record_elements(k, walk, [shift](const auto &at) {
    at.out(0, Recorded::iadd(at.index(0), Recorded::shl(at.step(), shift + kPartBits)));
  });
  return all;
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

  static void record(Kernel<Recorded> &k, std::uint32_t stream, std::uint32_t threshold, Recorded::Value factor) {
    const std::size_t count = k.out_shape(0).elements(), row = std::min(count, std::size_t{1} << kRowBits);
    const std::size_t rows = count / row, rest = count % row;
    const WalkValue columns = numbers(k, row, 0);
    const auto record_rows = [&](const LineWalk &of, const WalkOperand &element, const WalkOperand *first) {
      LineWalk walk = of;
      walk.in = {element, a_number(input(1), 0), a_number(input(1), 1), by_lane(columns)};
      if (first != nullptr) walk.in.push_back(*first);
      walk.out = {element};
      walk.out[0].value = output(0);
      record_elements(k, walk, [&](const auto &at) {
        const Recorded::Index number = first == nullptr ? at.index(3) : Recorded::iadd(at.index(3), at.index(4));
        const Recorded::Mask kept = Recorded::keep(at.index(1), at.index(2), stream, number, threshold);
        at.out(0, Recorded::select(kept, Recorded::mul(at.in(0), factor), Recorded::Value(0)));
      });
    };
    if (count == row) return record_rows(elements_walk(count, {}, {}), by_lane(input(0)), nullptr);
    const WalkValue firsts = numbers(k, rows + 1, kRowBits);
    const WalkOperand of_rows = by_step(firsts), of_rest = a_number(firsts, rows);
    LineWalk whole = columns_as_lanes(rows, row);
    whole.elementwise = true;
    record_rows(whole, strided(input(0), 1, row), &of_rows);
    if (rest > 0) record_rows(elements_walk(rest, {}, {}), strided(input(0), 1, 0, rows * row), &of_rest);
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
                   {"stream", AttributeKind::kInteger, {}, "which no other Dropout of the network has", true}};
  op.infer = infer_dropout;
  op.derive = derive_dropout;
  op.operations = operations_per_element<60>; // integer ones, nearly all
  executes<DropoutRun>(op);
  return {op};
}

} // namespace gradweave::graph
