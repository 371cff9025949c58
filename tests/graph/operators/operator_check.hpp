// How tests hold an operator to its derivative, the contract's execution to fp64, and both to what a test says.
#pragma once

#include "graph/build/builder.hpp"
#include "graph/operators/table.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gradweave::graph {

/// Adds ops to a graph whose tensors named by the caller are parameters or inputs, and returns the tensor under test.
using Build = std::function<TensorId(Builder &)>;

/// An op alone, its output `output` under test: real inputs are parameters, others inputs, called as the operator's
/// entry calls them (and numbered behind the last one of a variadic operator: "squares", "squares2", ...). Nothing: the
/// input is left out.
Build op_of(const std::string &op, const std::vector<std::optional<Shape>> &inputs, const Attributes &attributes = {},
            std::size_t output = 0);

struct OperatorCheck {
  std::uint64_t seed = 1;
  /// Range that values of parameters and real inputs are drawn from.
  double low = -2, high = 2;
  /// Indices of int32 inputs are drawn from [0, indices).
  std::int32_t indices = 1;
  /// Step of the difference, relative to a value's range of 1.
  double step = 1e-4;
};

/// With another range, indices and seed.
inline OperatorCheck range(double low, double high, std::int32_t indices = 1, std::uint64_t seed = 1) {
  OperatorCheck check;
  check.low = low;
  check.high = high;
  check.indices = indices;
  check.seed = seed;
  return check;
}

/// The largest difference, over all elements of all parameters, between the gradient of L = sum_i r_i y_i (r random)
/// that the derivative gives in fp64 and its difference quotient of fourth order, relative to the largest gradient of
/// the parameter or 1. A parameter that gets no gradient has 0. Prints seed, parameter and element of the largest.
double gradient_error(const Build &build, const OperatorCheck &check = {}, const OperatorSet &set = operators());

/// The same for a graph whose gradients a test has broken: `sabotage` changes the graph after the gradient pass.
double gradient_error(const Build &build, const OperatorCheck &check, const std::function<void(Graph &)> &sabotage);

/// A sabotage: wherever an op of the type reads a gradient, twice that gradient comes out.
std::function<void(Graph &)> double_gradient_of(std::string_view type);

/// The largest difference between the contract's result and that of fp64, with all edges fp32, relative to the largest
/// result or 1.
double contract_error(const Build &build, const OperatorCheck &check = {}, const OperatorSet &set = operators());

/// Values of a graph's inputs, parameters and state, by name. What is not named is 0.
using RealValues = std::map<std::string, std::vector<float>>;
using IndexValues = std::map<std::string, std::vector<std::int32_t>>;
struct Given {
  RealValues real;
  IndexValues index = {};
};

/// Runs the graph that `build` makes under the contract. Returns the values of the tensor under test, or its indices as
/// numbers.
std::vector<float> run_contract(const Build &build, const RealValues &real, const IndexValues &index = {},
                                const OperatorSet &set = operators());

/// The message of the GraphError that building throws; empty if it throws none.
std::string build_error(const Build &build);

// What a test file registers for its operators. A check is run with the table's operators, which have to pass it, and
// with copies of the table in each of which one function of one operator has a fault; some check of the operator has
// to see each of these (faults_test.cpp).

/// Empty, or what is wrong. A GraphError thrown means that something is.
using Check = std::function<std::string(const OperatorSet &)>;

/// gradient_error() is below the bound.
Check derivative(Build build, OperatorCheck check = {}, double bound = 1e-9);
/// contract_error() is below the bound.
Check near_fp64(Build build, OperatorCheck check = {}, double bound = 1e-6);
/// The contract's bits are these; all NaN are alike.
Check exact(Build build, Given given, std::vector<float> expected);
/// The contract's bits are those that `golden`, a second implementation in the test, gives for random values.
Check replayed(Build build, OperatorCheck check, std::function<std::vector<float>(const Given &)> golden);

/// Registers checks for operators of the table: a static object in a test file.
class Holds {
public:
  Holds(std::initializer_list<std::string_view> operators, std::vector<Check> checks);
};
/// Of an operator; empty if none is registered.
const std::vector<Check> &checks_of(std::string_view name);

} // namespace gradweave::graph
