// Where: one of two by a mask. Max and Min: one of two by their order. All three broadcast.
#include "graph/operators/loops/broadcast.hpp"

namespace gradweave::graph {
namespace {

struct WhereRun {
  template <class A> static void run(Kernel<A> &k) {
    if constexpr (kRecords<A>)
      record_elements(k, repeated_elements(k.out_shape(0), {&k.in_shape(0), &k.in_shape(1), &k.in_shape(2)}),
                      [](const auto &at) { at.out(0, A::select(A::is_set(at.index(0)), at.in(1), at.in(2))); });
    else
      run_golden(k);
  }

private:
  template <class A> static void run_golden(Kernel<A> &k) {
    const RepeatWalk walk(k.out_shape(0), {&k.in_shape(0), &k.in_shape(1), &k.in_shape(2)});
    const std::int32_t *const mask = k.index_in(0);
    const auto *const a = k.in(1), *const b = k.in(2);
    auto *const y = k.out(0);
    const std::size_t of_mask = walk.strides[0].back(), of_a = walk.strides[1].back(), of_b = walk.strides[2].back();
    k.parallel(k.out_shape(0).elements(), 8, [&](std::size_t begin, std::size_t end) {
      walk_rows<3>(walk, begin, end, [&](std::size_t at, std::size_t length, const std::array<std::size_t, 3> &from) {
        for (std::size_t i = 0; i < length; ++i) {
          const auto if_set = a[from[1] + i * of_a], if_not = b[from[2] + i * of_b];
          y[at + i] = mask[from[0] + i * of_mask] != 0 ? if_set : if_not;
        }
      });
    });
  }
};

struct MaxRun {
  template <class A> static void run(Kernel<A> &k) {
    zip_repeated<A>(k, [](auto a, auto b) { return A::max(a, b); });
  }
};
struct MinRun {
  template <class A> static void run(Kernel<A> &k) {
    zip_repeated<A>(k, [](auto a, auto b) { return A::min(a, b); });
  }
};

void infer_where(Inference &op) {
  op.set(0, broadcast_shape(op, broadcast_shape(op, op.shape(0), op.shape(1)), op.shape(2)));
}

/// The gradient where the mask is set for the input `set`, elsewhere for the input `not_set`.
void share_gradient(Derivation &d, TensorId mask, std::size_t set, std::size_t not_set) {
  // In bf16, so that it is the gradient that decides the type of the edge.
  const TensorId zero = d.build.constant(d.build.fresh("zero"), {}, {0}, ElementType::kBf16);
  if (d.wants(set)) give_summed(d, set, d.build.add("Where", {mask, d.gradient(), zero}));
  if (d.wants(not_set)) give_summed(d, not_set, d.build.add("Where", {mask, zero, d.gradient()}));
}

void derive_where(Derivation &d) { share_gradient(d, d.input(0), 1, 2); }
void derive_max(Derivation &d) { share_gradient(d, d.build.add("GreaterOrEqual", {d.input(0), d.input(1)}), 0, 1); }
void derive_min(Derivation &d) { share_gradient(d, d.build.add("LessOrEqual", {d.input(0), d.input(1)}), 0, 1); }

} // namespace

std::vector<Operator> select_operators() {
  Operator where;
  where.name = "Where";
  where.summary = "a where the condition is not 0, else b";
  where.inputs = {{"condition", Takes::kIndex}, {"a"}, {"b"}};
  where.outputs = {{"y", Gives::kAsInput}};
  where.infer = infer_where;
  where.derive = derive_where;
  where.operations = operations_per_element<1>;
  executes<WhereRun>(where);

  Operator max;
  max.name = "Max";
  max.summary = "the larger one of a and b";
  max.inputs = {{"a"}, {"b"}};
  max.outputs = {{"y", Gives::kAsInput}};
  max.infer = infer_broadcast;
  max.derive = derive_max;
  max.operations = operations_per_element<1>;
  executes<MaxRun>(max);

  Operator min = max;
  min.name = "Min";
  min.summary = "the smaller one of a and b";
  min.derive = derive_min;
  executes<MinRun>(min);
  return {where, max, min};
}

} // namespace gradweave::graph
