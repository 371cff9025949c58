// Less, LessOrEqual, Greater, GreaterOrEqual and Equal of two tensors, broadcast: 1 where it holds, else 0.
#include "graph/operators/loops/broadcast.hpp"

#include <functional>

namespace gradweave::graph {
namespace {

template <typename Holds> struct Comparison {
  template <class A> static void run(Kernel<A> &k) {
    zip_repeated<A>(k, k.index_out(0), [](auto a, auto b) { return std::int32_t{Holds{}(a, b)}; });
  }
};

template <typename Holds> Operator comparison(std::string_view name, std::string_view summary) {
  Operator op;
  op.name = name;
  op.summary = summary;
  op.inputs = {{"a"}, {"b"}};
  op.outputs = {{"y", Gives::kIndex}};
  op.infer = infer_broadcast;
  op.operations = operations_per_element<1>;
  executes_golden<Comparison<Holds>>(op);
  return op;
}

} // namespace

std::vector<Operator> comparison_operators() {
  return {comparison<std::less<>>("Less", "1 where a is below b"),
          comparison<std::less_equal<>>("LessOrEqual", "1 where a is not above b"),
          comparison<std::greater<>>("Greater", "1 where a is above b"),
          comparison<std::greater_equal<>>("GreaterOrEqual", "1 where a is not below b"),
          comparison<std::equal_to<>>("Equal", "1 where a equals b")};
}

} // namespace gradweave::graph
