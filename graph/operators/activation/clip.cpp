// Clip: x within bounds; Relu6 is Clip from 0 to 6. And its gradient.
#include "graph/operators/activation/activation.hpp"

#include <limits>

namespace gradweave::graph {
namespace {

struct ClipRun {
  template <class A> static void run(Kernel<A> &k) {
    const auto least = real_attribute(k, "min"), most = real_attribute(k, "max");
    map_elements(k, [=](auto x) { return A::min(A::max(x, least), most); });
  }
};

struct ClipGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    const auto least = real_attribute(k, "min"), most = real_attribute(k, "max");
    zip_elements(k, [=](auto dy, auto x) {
      return A::select(A::lt(least, x), A::select(A::lt(x, most), dy, number<A>(0)), number<A>(0));
    });
  }
};

void check_bounds(const Inference &op) {
  op.require(op.attributes().real("min") <= op.attributes().real("max"),
             "min is " + to_string(op.attributes().all().at("min")) + " and max " +
                 to_string(op.attributes().all().at("max")) + "; min must not be above max");
}

void infer_clip(Inference &op) {
  check_bounds(op);
  infer_like_first(op);
}

void infer_clip_gradient(Inference &op) {
  check_bounds(op);
  infer_activation_gradient(op);
}

} // namespace

std::vector<Operator> clip_operators() {
  constexpr double kLargest = std::numeric_limits<float>::max(); // as in ONNX
  const std::vector<AttributeSpec> bounds = {{"min", AttributeKind::kReal, -kLargest, "least result"},
                                             {"max", AttributeKind::kReal, kLargest, "largest result"}};
  Operator clip =
      activation<ClipRun, From::kInput>("Clip", "x, at least min and at most max", operations_per_element<2>);
  clip.attributes = bounds;
  clip.infer = infer_clip;
  Operator gradient = activation_gradient<ClipGradientRun, From::kInput>(
      "ClipGradient", "dy where x is between min and max, else 0", operations_per_element<4>);
  gradient.attributes = bounds;
  gradient.infer = infer_clip_gradient;
  return {clip, gradient};
}

} // namespace gradweave::graph
