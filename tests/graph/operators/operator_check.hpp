// How tests hold an operator to its derivative, and the contract's execution to fp64.
#pragma once

#include "graph/ir/builder.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gradweave::graph {

/// Adds ops to a graph whose tensors named by the caller are parameters or inputs, and returns the tensor under test.
using Build = std::function<TensorId(Builder &)>;

struct OperatorCheck {
  std::uint64_t seed = 1;
  /// Range that values of parameters and real inputs are drawn from.
  double low = -2, high = 2;
  /// Indices of int32 inputs are drawn from [0, indices).
  std::int32_t indices = 1;
  /// Step of the difference, relative to a value's range of 1.
  double step = 1e-4;
};

/// The largest difference, over all elements of all parameters, between the gradient of L = sum_i r_i y_i (r random)
/// that the derivative gives in fp64 and its difference quotient of fourth order, relative to the largest gradient of
/// the parameter or 1. Prints seed, parameter and element of the largest.
double gradient_error(const Build &build, const OperatorCheck &check = {});

/// The same for a graph whose gradients a test has broken: `sabotage` changes the graph after the gradient pass.
double gradient_error(const Build &build, const OperatorCheck &check, const std::function<void(Graph &)> &sabotage);

/// A sabotage: wherever an op of the type reads a gradient, twice that gradient comes out.
std::function<void(Graph &)> double_gradient_of(std::string_view type);

/// The largest difference between the contract's result and that of fp64, with all edges fp32, relative to the largest
/// result or 1.
double contract_error(const Build &build, const OperatorCheck &check = {});

/// Runs the graph that `build` makes under the contract. `real` and `index` are values by tensors' names; what is not
/// named is 0. Returns the values of the tensor under test, or its indices as numbers.
std::vector<float> run_contract(const Build &build, const std::vector<std::pair<std::string, std::vector<float>>> &real,
                                const std::vector<std::pair<std::string, std::vector<std::int32_t>>> &index = {});

/// The message of the GraphError that building throws; empty if it throws none.
std::string build_error(const Build &build);

} // namespace gradweave::graph
