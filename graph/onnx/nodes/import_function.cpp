// Functions of one tensor that are composed of the graph's operators.
#include "graph/onnx/nodes/compose.hpp"
#include "graph/onnx/nodes/importers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace gradweave::graph::onnx {
namespace {

constexpr double kHalfPi = 1.57079632679489661923;

/// Ops on the way to a function of x.
class Formula {
public:
  explicit Formula(NodeImport &node) : node_(node), x_(own(node)) {}

  TensorId x() const { return x_.tensor; }
  const Value &like() const { return x_.like; }
  TensorId number(double value) const { return scalar(node_, value); }
  double attribute(std::string_view name, double fallback) const { return node_.real(name, fallback); }
  std::int64_t flag(std::string_view name, std::int64_t fallback) const { return node_.integer(name, fallback); }
  TensorId op(std::string_view op, std::vector<TensorId> inputs, Attributes attributes = {}) const {
    return node_.step(op, std::move(inputs), std::move(attributes));
  }
  TensorId scaled(TensorId tensor, double by) const {
    return by == 1 ? tensor : op("Scale", {tensor}, {{"value", by}});
  }
  TensorId squared() const { return op("Mul", {x(), x()}); }

private:
  NodeImport &node_;
  Own x_;
};

Call sinh(const Formula &f) {
  const TensorId up = f.op("Exp", {f.x()}), down = f.op("Exp", {f.op("Neg", {f.x()})});
  return {"Scale", {f.op("Sub", {up, down})}, {{"value", 0.5}}};
}
Call cosh(const Formula &f) {
  const TensorId up = f.op("Exp", {f.x()}), down = f.op("Exp", {f.op("Neg", {f.x()})});
  return {"Scale", {f.op("Add", {up, down})}, {{"value", 0.5}}};
}
Call tan(const Formula &f) { return {"Div", {f.op("Sin", {f.x()}), f.op("Cos", {f.x()})}}; }

/// Atan of x / sqrt(1 - x^2): of 1 that is infinite, and the angle pi / 2.
Call asin(const Formula &f) {
  const TensorId other = f.op("Sqrt", {f.op("Sub", {f.number(1), f.squared()})});
  return {"Atan", {f.op("Div", {f.x(), other})}};
}
Call acos(const Formula &f) {
  const Call angle = asin(f);
  return {"Sub", {f.number(kHalfPi), f.op(angle.op, angle.inputs)}};
}

/// Of |x|, which loses no place, and with x's sign.
Call asinh(const Formula &f) {
  const TensorId size = f.op("Abs", {f.x()}), root = f.op("Sqrt", {f.op("Add", {f.squared(), f.number(1)})});
  const TensorId positive = f.op("Log", {f.op("Add", {size, root})});
  return {"Where", {f.op("Less", {f.x(), f.number(0)}), f.op("Neg", {positive}), positive}};
}
Call acosh(const Formula &f) {
  const TensorId root = f.op("Sqrt", {f.op("Sub", {f.squared(), f.number(1)})});
  return {"Log", {f.op("Add", {f.x(), root})}};
}
Call atanh(const Formula &f) {
  const TensorId above = f.op("Add", {f.x(), f.number(1)}), below = f.op("Sub", {f.number(1), f.x()});
  return {"Scale", {f.op("Log", {f.op("Div", {above, below})})}, {{"value", 0.5}}};
}

Call sign(const Formula &f) {
  const TensorId zero = f.number(0);
  const TensorId other = f.op("Where", {f.op("Less", {f.x(), zero}), f.number(-1), zero});
  return {"Where", {f.op("Greater", {f.x(), zero}), f.number(1), other}};
}

/// max(x, 0) + alpha (e^(min(x, 0) slope) - 1), all times gamma.
Call bent_below(const Formula &f, double alpha, double slope, double gamma) {
  const TensorId below = f.scaled(f.op("Min", {f.x(), f.number(0)}), slope);
  const TensorId bent = f.op("Sub", {f.op("Exp", {below}), f.number(1)});
  const std::vector<TensorId> parts{f.op("Relu", {f.x()}), f.scaled(bent, alpha)};
  if (gamma == 1) return {"Add", parts};
  return {"Scale", {f.op("Add", parts)}, {{"value", gamma}}};
}
Call elu(const Formula &f) { return bent_below(f, f.attribute("alpha", 1), 1, 1); }
Call celu(const Formula &f) {
  const double alpha = f.attribute("alpha", 1);
  return bent_below(f, alpha, 1 / alpha, 1);
}
Call selu(const Formula &f) {
  return bent_below(f, f.attribute("alpha", 1.67326319217681884765625), 1,
                    f.attribute("gamma", 1.05070102214813232421875));
}

Call thresholded_relu(const Formula &f) {
  return {"Where", {f.op("Greater", {f.x(), f.number(f.attribute("alpha", 1))}), f.x(), f.number(0)}};
}
Call shrink(const Formula &f) {
  const double lambda = f.attribute("lambd", 0.5), bias = f.attribute("bias", 0);
  const TensorId above =
      f.op("Where", {f.op("Greater", {f.x(), f.number(lambda)}), f.op("Sub", {f.x(), f.number(bias)}), f.number(0)});
  return {"Where", {f.op("Less", {f.x(), f.number(-lambda)}), f.op("Add", {f.x(), f.number(bias)}), above}};
}
Call softsign(const Formula &f) { return {"Div", {f.x(), f.op("Add", {f.op("Abs", {f.x()}), f.number(1)})}}; }
Call swish(const Formula &f) { return {"Mul", {f.x(), f.op("Sigmoid", {f.scaled(f.x(), f.attribute("alpha", 1))})}}; }

Call is_nan(const Formula &f) { return {"NotEqual", {f.x(), f.x()}}; }
Call is_infinite(const Formula &f) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool above = f.flag("detect_positive", 1) != 0, below = f.flag("detect_negative", 1) != 0;
  if (!above && !below) return {"Less", {f.x(), f.number(-kInfinity)}}; // never
  const TensorId x = above && below ? f.op("Abs", {f.x()}) : f.x();
  return {"Equal", {x, f.number(above ? kInfinity : -kInfinity)}};
}

struct FunctionEntry {
  std::string_view type;
  Call (*formula)(const Formula &);
};
constexpr FunctionEntry kFunctions[] = {
    {"Acos", acos},    {"Acosh", acosh}, {"Asin", asin},
    {"Asinh", asinh},  {"Atanh", atanh}, {"Celu", celu},
    {"Cosh", cosh},    {"Elu", elu},     {"IsInf", is_infinite},
    {"IsNaN", is_nan}, {"Selu", selu},   {"Shrink", shrink},
    {"Sign", sign},    {"Sinh", sinh},   {"Softsign", softsign},
    {"Swish", swish},  {"Tan", tan},     {"ThresholdedRelu", thresholded_relu},
};

} // namespace

void import_function(NodeImport &node) {
  const Formula formula(node);
  const auto *const entry = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                         [&](const FunctionEntry &of) { return node.is(of.type); });
  if (entry == std::end(kFunctions)) node.fail("is no function that is composed");
  const Call call = entry->formula(formula);
  const TensorId y = node.last(call.op, call.inputs, call.attributes);
  Value like = formula.like();
  like.kind = is_real(node.build.tensor(y).type) ? Kind::kReal : Kind::kTruth;
  node.give_like(y, like);
}

} // namespace gradweave::graph::onnx
