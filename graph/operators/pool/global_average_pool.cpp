// GlobalAveragePool and its gradient.
#include "graph/operators/loops/entry.hpp"
#include "graph/operators/loops/lines.hpp"
#include "graph/operators/loops/window.hpp"

namespace gradweave::graph {
namespace {

struct GlobalAveragePoolRun {
  template <class A> static void run(Kernel<A> &k) {
    const Shape &x = k.in_shape(0);
    const std::size_t pixels = std::size_t{x[1]} * x[2], channels = x[3];
    const auto part = number<A>(1.0 / static_cast<double>(pixels));
    LineWalk walk{{x[0], channels}, {pixels}, {}, {}, false};
    walk.in = {{input(0), {pixels * channels, 1}, {channels}, 0}};
    walk.out = {{output(0), {channels, 1}, {0}, 0}};
    walk_lines(k, walk, 1, [part](auto &lines) {
      auto sum = lines.variable(0);
      lines.loop([&](const auto &at) { sum(at) = A::add(sum(at), at.in(0)); });
      lines.once([&](const auto &at) { at.out(0, A::mul(sum(at), part)); });
    });
  }
};

struct GlobalAveragePoolGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    const Shape &dx = k.out_shape(0);
    const std::size_t pixels = std::size_t{dx[1]} * dx[2], channels = dx[3];
    const auto part = number<A>(1.0 / static_cast<double>(pixels));
    LineWalk walk{{channels}, {dx[0], pixels}, {}, {}, true};
    walk.in = {{input(0), {1}, {channels, 0}, 0}};
    walk.out = {{output(0), {1}, {pixels * channels, channels}, 0}};
    walk_lines(k, walk, 1,
               [part](auto &lines) { lines.loop([part](const auto &at) { at.out(0, A::mul(at.in(0), part)); }); });
  }
};

void infer_global_average(Inference &op) {
  require_image(op, "x", op.shape(0));
  op.set(0, {op.shape(0)[0], 1, 1, op.shape(0)[3]});
}

void infer_global_average_gradient(Inference &op) {
  const Shape &dy = op.shape(0);
  require_image(op, "dy", dy);
  op.require(dy[1] == 1 && dy[2] == 1, "dy is " + dy.text() + "; it must have one pixel an image");
  const std::vector<std::uint32_t> image = window_numbers(op, "image", 2, 1);
  op.set(0, {dy[0], image[0], image[1], dy[3]});
}

void derive_global_average(Derivation &d) {
  const Attributes image{{"image", std::vector<std::int64_t>{d.shape(0)[1], d.shape(0)[2]}}};
  d.give(0, d.build.add("GlobalAveragePoolGradient", {d.gradient()}, image, d.name(0)));
}

} // namespace

std::vector<Operator> global_average_pool_operators() {
  Operator pool;
  pool.name = "GlobalAveragePool";
  pool.summary = "the mean of all pixels of an image, by channel";
  pool.inputs = {{"x"}};
  pool.outputs = {{"y"}};
  pool.infer = infer_global_average;
  pool.derive = derive_global_average;
  pool.operations = operations_per_input<1>;
  pool.lower = walks<Walk::kWindow>;
  executes<GlobalAveragePoolRun>(pool);

  Operator gradient;
  gradient.name = "GlobalAveragePoolGradient";
  gradient.summary = "dy's share for each pixel of the image";
  gradient.inputs = {{"dy"}};
  gradient.outputs = {{"dx", Gives::kSum}};
  gradient.attributes = {{"image", AttributeKind::kIntegers, {}, "[rows, columns] of the image"}};
  gradient.infer = infer_global_average_gradient;
  gradient.operations = operations_per_element<1>;
  gradient.lower = walks<Walk::kWindow>;
  executes<GlobalAveragePoolGradientRun>(gradient);
  return {pool, gradient};
}

} // namespace gradweave::graph
