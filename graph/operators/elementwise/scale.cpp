// Scale: a constant factor. Neg: the sign.
#include "graph/operators/loops/entry.hpp"

namespace gradweave::graph {
namespace {

struct ScaleRun {
  template <class A> static void run(Kernel<A> &k) {
    const auto factor = real_attribute(k, "value");
    map_elements(k, [factor](auto x) { return A::mul(x, factor); });
  }
};

struct NegRun {
  template <class A> static void run(Kernel<A> &k) {
    map_elements(k, [](auto x) { return A::mul(x, number<A>(-1)); });
  }
};

void derive_scale(Derivation &d) { d.give(0, d.build.add("Scale", {d.gradient()}, d.attributes(), d.name(0))); }
void derive_neg(Derivation &d) { d.give(0, d.build.add("Neg", {d.gradient()}, {}, d.name(0))); }

} // namespace

std::vector<Operator> scale_operators() {
  Operator scale;
  scale.name = "Scale";
  scale.summary = "x times a constant";
  scale.inputs = {{"x"}};
  scale.outputs = {{"y", Gives::kSum}};
  scale.attributes = {{"value", AttributeKind::kReal, {}, "the factor, rounded to fp32"}};
  scale.infer = infer_like_first;
  scale.derive = derive_scale;
  scale.operations = operations_per_element<1>;
  executes<ScaleRun>(scale);

  Operator neg;
  neg.name = "Neg";
  neg.summary = "-x";
  neg.inputs = {{"x"}};
  neg.outputs = {{"y", Gives::kAsInput}};
  neg.infer = infer_like_first;
  neg.derive = derive_neg;
  neg.operations = operations_per_element<1>;
  executes<NegRun>(neg);
  return {scale, neg};
}

} // namespace gradweave::graph
