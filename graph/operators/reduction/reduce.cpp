// ReduceSum, ReduceMean and ReduceMax over axes, in row-major ascending order; and their gradients.
#include "graph/operators/loops/broadcast.hpp"

#include <limits>

namespace gradweave::graph {
namespace {

/// The shape with the axes of the op's attribute as 1; all if it names none.
Shape with_ones(const Inference &op, const Shape &shape) {
  Shape result = shape;
  const std::vector<std::int64_t> &axes = op.attributes().integers("axes");
  std::vector<bool> reduced(shape.rank(), axes.empty());
  for (const std::int64_t value : axes) {
    const std::size_t axis = op.axis(value);
    op.require(!reduced[axis], "axis " + std::to_string(value) + " is named twice");
    reduced[axis] = true;
  }
  for (std::size_t axis = 0; axis < shape.rank(); ++axis)
    if (reduced[axis]) result.set(axis, 1);
  return result;
}

Shape reduced_shape(const Inference &op, const Shape &shape) {
  Shape ones = with_ones(op, shape);
  const std::int64_t keeps = op.attributes().integer("keepdims");
  op.require(keeps == 0 || keeps == 1, "attribute 'keepdims' = " + std::to_string(keeps) + " must be 0 or 1");
  if (keeps == 1) return ones;
  const std::vector<std::int64_t> &axes = op.attributes().integers("axes");
  std::vector<bool> reduced(shape.rank(), axes.empty());
  for (const std::int64_t value : axes)
    reduced[op.axis(value)] = true;
  std::vector<std::uint32_t> dims;
  for (std::size_t axis = 0; axis < shape.rank(); ++axis)
    if (!reduced[axis]) dims.push_back(shape[axis]);
  return Shape(std::move(dims));
}

/// How results lie in a large shape: with_ones() without an op that is being checked.
RepeatWalk walk_of(const KernelOp &k, const Shape &large) {
  Shape ones = large;
  const std::vector<std::int64_t> &axes = k.attributes().integers("axes");
  for (std::size_t axis = 0; axis < large.rank(); ++axis) {
    const auto from_front = static_cast<std::int64_t>(axis), rank = static_cast<std::int64_t>(large.rank());
    if (axes.empty() || std::find(axes.begin(), axes.end(), from_front) != axes.end() ||
        std::find(axes.begin(), axes.end(), from_front - rank) != axes.end())
      ones.set(axis, 1);
  }
  return RepeatWalk(large, {&ones});
}

/// 1 / elements that make up a result.
template <class A> typename A::Value share_of(const Shape &large, const Shape &small) {
  const std::size_t count = large.elements() / small.elements();
  return number<A>(1.0 / static_cast<double>(count));
}

struct ReduceSumRun {
  template <class A> static void run(Kernel<A> &k) {
    fold_repeated(
        k, walk_of(k, k.in_shape(0)), 0, [](auto sum, auto x) { return A::add(sum, x); }, [](auto sum) { return sum; });
  }
};

struct ReduceMeanRun {
  template <class A> static void run(Kernel<A> &k) {
    const auto share = share_of<A>(k.in_shape(0), k.out_shape(0));
    fold_repeated(
        k, walk_of(k, k.in_shape(0)), 0, [](auto sum, auto x) { return A::add(sum, x); },
        [share](auto sum) { return A::mul(sum, share); });
  }
};

struct ReduceMaxRun {
  template <class A> static void run(Kernel<A> &k) {
    fold_repeated(
        k, walk_of(k, k.in_shape(0)), -std::numeric_limits<double>::infinity(),
        [](auto most, auto x) { return A::max(most, x); }, [](auto most) { return most; });
  }
};

struct ReduceSumGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    repeat_input<A>(k, walk_of(k, k.out_shape(0)), [](auto dy) { return dy; });
  }
};

struct ReduceMeanGradientRun {
  template <class A> static void run(Kernel<A> &k) {
    const auto share = share_of<A>(k.out_shape(0), k.in_shape(0));
    repeat_input<A>(k, walk_of(k, k.out_shape(0)), [share](auto dy) { return A::mul(dy, share); });
  }
};

/// To the first x that equals the result: `given` becomes 1 with it.
struct ReduceMaxGradientRun {
  enum Input { kDy, kX, kY };

  template <class A> static void run(Kernel<A> &k) {
    LineWalk walk = repeated_folds(walk_of(k, k.out_shape(0)), input(kX), input(kDy));
    WalkOperand x = walk.in[0], dx = x, dy = walk.out[0], y = dy;
    dx.value = output(0);
    y.value = input(kY);
    walk.in = {x, dy, y};
    walk.out = {dx};
    walk_lines(k, walk, 6, [](auto &lines) {
      auto given = lines.variable(0);
      lines.loop([&](const auto &at) {
        const auto none = number<A>(0), one = number<A>(1);
        const auto first = A::select(A::eq(at.in(0), at.in(2)), A::sub(one, given(at)), none);
        at.out(0, A::select(A::eq(first, one), at.in(1), none));
        given(at) = A::add(given(at), first);
      });
    });
  }
};

void infer_reduce(Inference &op) { op.set(0, reduced_shape(op, op.shape(0))); }

/// Of an op that has the shape of x as an attribute.
void infer_repeat_gradient(Inference &op) {
  std::vector<std::uint32_t> dims;
  for (const std::int64_t dim : op.attributes().integers("shape"))
    dims.push_back(static_cast<std::uint32_t>(dim));
  const Shape x(std::move(dims));
  std::size_t kept = 1;
  const std::vector<std::int64_t> &axes = op.attributes().integers("axes");
  const auto rank = static_cast<std::int64_t>(x.rank());
  for (const std::int64_t axis : axes)
    op.require(axis >= -rank && axis < rank, "axis " + std::to_string(axis) + " is none of " + x.text());
  for (std::int64_t axis = 0; axis < rank; ++axis)
    if (!axes.empty() && std::find(axes.begin(), axes.end(), axis) == axes.end() &&
        std::find(axes.begin(), axes.end(), axis - rank) == axes.end())
      kept *= x[static_cast<std::size_t>(axis)];
  op.require(op.shape(0).elements() == kept,
             "dy is " + op.shape(0).text() + "; " + x.text() + " reduces to " + std::to_string(kept) + " elements");
  op.set(0, x);
}

void infer_reduce_max_gradient(Inference &op) {
  op.require(op.shape(0) == op.shape(2),
             "dy is " + op.shape(0).text() + " and y " + op.shape(2).text() + "; they must be equal");
  op.set(0, op.shape(1));
}

void derive_reduce(Derivation &d) {
  const Shape &x = d.shape(0);
  const Attributes attributes{{"axes", d.attributes().integers("axes")},
                              {"shape", std::vector<std::int64_t>(x.dims().begin(), x.dims().end())}};
  d.give(0, d.build.add(std::string(d.op().type->name) + "Gradient", {d.gradient()}, attributes, d.name(0)));
}

void derive_reduce_max(Derivation &d) {
  d.give(0, d.build.add("ReduceMaxGradient", {d.gradient(), d.input(0), d.output(0)},
                        {{"axes", d.attributes().integers("axes")}}, d.name(0)));
}

const AttributeSpec &axes_attribute() {
  static const AttributeSpec spec{"axes", AttributeKind::kIntegers, std::vector<std::int64_t>{},
                                  "axes that are reduced; none: all"};
  return spec;
}

template <class Run> Operator reduction(std::string_view name, std::string_view summary, void (*derive)(Derivation &)) {
  Operator op;
  op.name = name;
  op.summary = summary;
  op.inputs = {{"x", Takes::kSum}};
  op.outputs = {{"y", Gives::kSum}};
  op.attributes = {axes_attribute(),
                   {"keepdims", AttributeKind::kInteger, std::int64_t{1}, "1: reduced axes stay, as dimensions of 1"}};
  op.infer = infer_reduce;
  op.derive = derive;
  op.operations = operations_per_input<1>;
  op.lower = walks<Walk::kWhole>;
  executes<Run>(op);
  return op;
}

template <class Run> Operator repetition(std::string_view name, std::string_view summary) {
  Operator op;
  op.name = name;
  op.summary = summary;
  op.inputs = {{"dy"}};
  op.outputs = {{"dx", Gives::kAsInput}};
  op.attributes = {axes_attribute(), {"shape", AttributeKind::kIntegers, {}, "of x"}};
  op.infer = infer_repeat_gradient;
  op.operations = operations_per_element<1>;
  op.lower = walks<Walk::kWhole>;
  executes<Run>(op);
  return op;
}

} // namespace

std::vector<Operator> reduce_operators() {
  Operator max_gradient;
  max_gradient.name = "ReduceMaxGradient";
  max_gradient.summary = "dy at the first x that is the maximum, else 0";
  max_gradient.inputs = {{"dy"}, {"x", Takes::kSum}, {"y", Takes::kSum}};
  max_gradient.outputs = {{"dx"}};
  max_gradient.attributes = {axes_attribute()};
  max_gradient.infer = infer_reduce_max_gradient;
  max_gradient.operations = operations_per_element<2>;
  max_gradient.lower = walks<Walk::kWhole>;
  executes<ReduceMaxGradientRun>(max_gradient);
  return {reduction<ReduceSumRun>("ReduceSum", "sum over axes", derive_reduce),
          reduction<ReduceMeanRun>("ReduceMean", "mean over axes", derive_reduce),
          reduction<ReduceMaxRun>("ReduceMax", "maximum over axes", derive_reduce_max),
          repetition<ReduceSumGradientRun>("ReduceSumGradient", "dy repeated along the axes"),
          repetition<ReduceMeanGradientRun>("ReduceMeanGradient", "dy / elements of a mean, repeated along the axes"),
          max_gradient};
}

} // namespace gradweave::graph
