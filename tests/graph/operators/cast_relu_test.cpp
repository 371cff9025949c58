#include "operator_check.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace gradweave::graph {
namespace {

Build one_input(const std::string &op, const Shape &shape) {
  return [=](Builder &b) { return b.add(op, {b.parameter("x", shape, "zeros")}, {}, "y"); };
}

TensorId cast_to_bf16(Builder &b) {
  const TensorId y = b.add("Cast", {b.parameter("x", {3}, "zeros")}, {}, "y");
  b.fix_type(y, ElementType::kBf16);
  return y;
}

TensorId relu_gradient(Builder &b) {
  const TensorId dy = b.input("dy", ElementType::kFp32, {4});
  return b.add("ReluGradient", {dy, b.input("y", ElementType::kFp32, {4})});
}

const Holds cast_holds({"Cast"},
                       {derivative(one_input("Cast", {3, 5})), near_fp64(one_input("Cast", {3, 5})),
                        exact(one_input("Cast", {2}), {{{"x", {1 + 0x1p-20F, -0.0F}}}}, {1 + 0x1p-20F, -0.0F}),
                        exact(cast_to_bf16, {{{"x", {1 + 0x1p-8F, 1 + 0x1p-20F, NAN}}}}, {1, 1, NAN})});

const Holds relu_holds({"Relu", "ReluGradient"},
                       {derivative(one_input("Relu", {3, 5})), derivative(one_input("Relu", {1})),
                        near_fp64(one_input("Relu", {67})), near_fp64(relu_gradient),
                        near_fp64(relu_gradient, range(0.1, 1)),
                        exact(one_input("Relu", {4}), {{{"x", {-1, -0.0F, NAN, 3}}}}, {0, -0.0F, NAN, 3}),
                        exact(relu_gradient, {{{"dy", {5, 6, 7, 8}}, {"y", {1, 0, NAN, HUGE_VALF}}}}, {5, 0, 0, 8})});

} // namespace
} // namespace gradweave::graph
