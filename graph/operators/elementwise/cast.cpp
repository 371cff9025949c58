// Cast: another type for an edge.
#include "graph/operators/loops/entry.hpp"

namespace gradweave::graph {
namespace {

struct CastRun {
  /// The rounding is the result's edge's.
  template <class A> static void run(Kernel<A> &k) {
    map_elements(k, [](auto x) { return x; });
  }
};

void derive_cast(Derivation &d) { d.give(0, d.gradient()); }

} // namespace

std::vector<Operator> cast_operators() {
  Operator cast;
  cast.name = "Cast";
  cast.summary = "x in the type of the result's edge";
  cast.inputs = {{"x"}};
  cast.outputs = {{"y", Gives::kActivation}};
  cast.infer = infer_like_first;
  cast.derive = derive_cast;
  cast.operations = operations_per_element<1>;
  executes<CastRun>(cast);
  return {cast};
}

} // namespace gradweave::graph
