// Less, LessOrEqual, Greater, GreaterOrEqual, Equal and NotEqual of two tensors, broadcast: 1 where it holds, else 0.
#include "graph/operators/loops/broadcast.hpp"

namespace gradweave::graph {
namespace {

struct Less {
  template <class A, class V> static auto holds(V a, V b) { return A::lt(a, b); }
};
struct LessOrEqual {
  template <class A, class V> static auto holds(V a, V b) { return A::le(a, b); }
};
struct Greater {
  template <class A, class V> static auto holds(V a, V b) { return A::lt(b, a); }
};
struct GreaterOrEqual {
  template <class A, class V> static auto holds(V a, V b) { return A::le(b, a); }
};
struct Equal {
  template <class A, class V> static auto holds(V a, V b) { return A::eq(a, b); }
};

template <typename Relation, std::int32_t kHolds = 1> struct Comparison {
  template <class A> static void run(Kernel<A> &k) {
    if constexpr (kRecords<A>)
      zip_repeated<A>(k, [](auto a, auto b) {
        return A::select(Relation::template holds<A>(a, b), A::Value::index(kHolds), A::Value::index(1 - kHolds));
      });
    else
      zip_repeated<A>(k, k.index_out(0),
                      [](auto a, auto b) { return Relation::template holds<A>(a, b) ? kHolds : 1 - kHolds; });
  }
};

template <typename Relation, std::int32_t kHolds = 1>
Operator comparison(std::string_view name, std::string_view summary) {
  Operator op;
  op.name = name;
  op.summary = summary;
  op.inputs = {{"a"}, {"b"}};
  op.outputs = {{"y", Gives::kIndex}};
  op.infer = infer_broadcast;
  op.operations = operations_per_element<1>;
  executes<Comparison<Relation, kHolds>>(op);
  return op;
}

} // namespace

std::vector<Operator> comparison_operators() {
  return {comparison<Less>("Less", "1 where a is below b"),
          comparison<LessOrEqual>("LessOrEqual", "1 where a is not above b"),
          comparison<Greater>("Greater", "1 where a is above b"),
          comparison<GreaterOrEqual>("GreaterOrEqual", "1 where a is not below b"),
          comparison<Equal>("Equal", "1 where a equals b"),
          comparison<Equal, 0>("NotEqual", "1 where a does not equal b, or one is NaN")};
}

} // namespace gradweave::graph
