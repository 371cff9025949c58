#include "operator_check.hpp"

#include "base/random/dice.hpp"
#include "graph/golden/execution.hpp"
#include "graph/ir/derivation.hpp"
#include "graph/ir/inference.hpp"
#include "graph/operators/table.hpp"
#include "graph/passes/gradient.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>

namespace gradweave::graph {
namespace {

struct Values {
  std::vector<std::vector<double>> real;
  std::vector<std::vector<std::int32_t>> index;
};

Values random_values(const Graph &graph, const OperatorCheck &check) {
  std::mt19937_64 dice(check.seed);
  std::uniform_real_distribution<double> real(check.low, check.high);
  std::uniform_int_distribution<std::int32_t> index(0, check.indices - 1);
  Values values{std::vector<std::vector<double>>(graph.tensors.size()),
                std::vector<std::vector<std::int32_t>>(graph.tensors.size())};
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    const Tensor &tensor = graph.tensors[id];
    if (tensor.computed() || tensor.role == Role::kConstant) continue;
    for (std::size_t i = 0; i < tensor.shape.elements(); ++i)
      if (is_real(tensor.type))
        values.real[id].push_back(static_cast<float>(real(dice))); // what both arithmetics have
      else
        values.index[id].push_back(index(dice));
  }
  return values;
}

template <class A> void fill(Execution<A> &run, const Graph &graph, const Values &values) {
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    const Tensor &tensor = graph.tensors[id];
    if (tensor.computed() || tensor.role == Role::kConstant) continue;
    if (is_real(tensor.type))
      run.set(id, std::vector<typename A::Value>(values.real[id].begin(), values.real[id].end()));
    else
      run.set_index(id, values.index[id]);
  }
}

ExecutionOptions exact() {
  ExecutionOptions options;
  options.round_edges = false;
  options.threads = 1;
  return options;
}

double value_of(const Graph &graph, TensorId tensor, const Values &values, const std::vector<double> &weights) {
  Execution<Reference> run(graph, exact());
  fill(run, graph, values);
  run.run();
  double sum = 0;
  const std::vector<double> &y = run.get(tensor).real;
  for (std::size_t i = 0; i < y.size(); ++i)
    sum += y[i] * weights[i];
  return sum;
}

/// The sum of y's elements with weights, as an op: the loss.
struct Weighted {
  template <class A> static void forward(Kernel<A> &k) {
    typename A::Value sum = 0;
    for (std::size_t i = 0; i < k.in_shape(0).elements(); ++i)
      sum += k.in(0)[i] * k.in(1)[i];
    k.out(0)[0] = sum;
  }
  template <class A> static void gradient(Kernel<A> &k) {
    for (std::size_t i = 0; i < k.out_shape(0).elements(); ++i)
      k.out(0)[i] = k.in(0)[0] * k.in(1)[i];
  }
};

OperatorSet with_weighted_sum() {
  std::vector<Operator> all = operators().all();
  Operator sum;
  sum.name = "TestWeightedSum";
  sum.summary = "sum of x times weights";
  sum.inputs = {{"x"}, {"weights"}};
  sum.outputs = {{"y", Gives::kFp32}};
  sum.infer = [](Inference &op) { op.set(0, {}); };
  sum.derive = [](Derivation &d) { d.give(0, d.build.add("TestWeightedSumGradient", {d.gradient(), d.input(1)})); };
  sum.operations = [](const OpView &) { return 0.0; };
  sum.contract = &Weighted::forward<Contract>;
  sum.reference = &Weighted::forward<Reference>;
  Operator gradient = sum;
  gradient.name = "TestWeightedSumGradient";
  gradient.infer = [](Inference &op) { op.set(0, op.shape(1)); };
  gradient.derive = nullptr;
  gradient.contract = &Weighted::gradient<Contract>;
  gradient.reference = &Weighted::gradient<Reference>;
  all.push_back(sum);
  all.push_back(gradient);
  return OperatorSet(all);
}

struct Case {
  OperatorSet operators = with_weighted_sum();
  Graph graph;
  TensorId result = kNone;
  std::vector<ParameterGradient> gradients;
  Values values;
  std::vector<double> weights;
};

void set_up(Case &c, const Build &build, const OperatorCheck &check) {
  Builder builder(c.graph, c.operators);
  c.result = build(builder);
  const TensorId weights = builder.input("test.weights", ElementType::kFp32, builder.shape(c.result));
  c.graph.loss = builder.add("TestWeightedSum", {c.result, weights});
  c.graph.results = {c.result};
  verify(c.graph);
  c.values = random_values(c.graph, check);
  c.weights = c.values.real[weights];
  c.gradients = add_gradients(c.graph, c.operators);
  for (const ParameterGradient &g : c.gradients)
    c.graph.results.push_back(g.gradient);
  verify(c.graph);
}

/// Error of fourth order.
double quotient(Case &c, const Graph &forward, TensorId parameter, std::size_t element, double step) {
  double &value = c.values.real[parameter][element];
  const double at = value;
  const auto loss = [&](double steps) {
    value = at + steps * step;
    return value_of(forward, c.result, c.values, c.weights);
  };
  const double far = loss(2) - loss(-2), near = loss(1) - loss(-1);
  value = at;
  return (8 * near - far) / (12 * step);
}

} // namespace

double gradient_error(const Build &build, const OperatorCheck &check, const std::function<void(Graph &)> &sabotage) {
  Case c;
  set_up(c, build, check);
  Graph forward;
  Builder again(forward, c.operators);
  forward.results = {build(again)};
  again.input("test.weights", ElementType::kFp32, again.shape(c.result));
  if (sabotage) sabotage(c.graph);
  Execution<Reference> run(c.graph, exact());
  // The forward graph is the beginning of the other one: ids agree.
  c.values.real.resize(c.graph.tensors.size());
  c.values.index.resize(c.graph.tensors.size());
  fill(run, c.graph, c.values);
  run.run();
  double worst = 0;
  for (const ParameterGradient &g : c.gradients) {
    const std::vector<double> &gradient = run.get(g.gradient).real;
    double largest = 1;
    for (const double value : gradient)
      largest = std::max(largest, std::abs(value));
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double error = std::abs(gradient[i] - quotient(c, forward, g.parameter, i, check.step)) / largest;
      if (!(error <= worst)) {
        worst = std::isnan(error) ? HUGE_VAL : error;
        fmt::print("seed {}: gradient of {}[{}] off by {:.3g}\n", check.seed, c.graph.tensors[g.parameter].name, i,
                   error);
      }
    }
  }
  return worst;
}

double gradient_error(const Build &build, const OperatorCheck &check) { return gradient_error(build, check, nullptr); }

std::function<void(Graph &)> double_gradient_of(std::string_view type) {
  return [type = std::string(type)](Graph &graph) {
    const Operator *add = operators().find("Add");
    std::vector<Op> ops;
    for (Op &op : graph.ops) {
      const bool doubled = op.type->name == type;
      ops.push_back(op);
      if (!doubled) continue;
      // The op's result, added to itself, takes the name and place that its readers know.
      const TensorId result = op.outputs[0];
      Tensor single = graph.tensors[result];
      single.name += ".single";
      ops.back().outputs[0] = static_cast<TensorId>(graph.tensors.size());
      graph.tensors.push_back(single);
      ops.push_back({add, op.name + ".doubled", {ops.back().outputs[0], ops.back().outputs[0]}, {result}, {}});
    }
    graph.ops = std::move(ops);
    for (OpId id = 0; id < graph.ops.size(); ++id)
      for (const TensorId output : graph.ops[id].outputs)
        if (output != kNone) graph.tensors[output].producer = id;
  };
}

double contract_error(const Build &build, const OperatorCheck &check) {
  Graph graph;
  Builder builder(graph, operators());
  const TensorId result = build(builder);
  graph.results = {result};
  verify(graph);
  const Values values = random_values(graph, check);
  Execution<Contract> contract(graph);
  Execution<Reference> reference(graph, exact());
  fill(contract, graph, values);
  fill(reference, graph, values);
  contract.run();
  reference.run();
  const std::vector<float> &a = contract.get(result).real;
  const std::vector<double> &b = reference.get(result).real;
  double worst = 0, largest = 1;
  for (const double value : b)
    largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double error = std::abs(static_cast<double>(a[i]) - b[i]) / largest;
    if (!(error <= worst)) worst = std::isnan(error) ? HUGE_VAL : error;
  }
  return worst;
}

std::vector<float> run_contract(const Build &build, const std::vector<std::pair<std::string, std::vector<float>>> &real,
                                const std::vector<std::pair<std::string, std::vector<std::int32_t>>> &index) {
  Graph graph;
  Builder builder(graph, operators());
  const TensorId result = build(builder);
  graph.results = {result};
  verify(graph);
  Execution<Contract> run(graph);
  for (TensorId id = 0; id < graph.tensors.size(); ++id) {
    const Tensor &tensor = graph.tensors[id];
    if (tensor.computed() || tensor.role == Role::kConstant) continue;
    if (is_real(tensor.type))
      run.set(id, std::vector<float>(tensor.shape.elements()));
    else
      run.set_index(id, std::vector<std::int32_t>(tensor.shape.elements()));
  }
  for (const auto &[name, values] : real)
    run.set(graph.find(name), values);
  for (const auto &[name, values] : index)
    run.set_index(graph.find(name), values);
  run.run();
  const Buffer<Contract> &y = run.get(result);
  return is_real(graph.tensors[result].type) ? y.real : std::vector<float>(y.index.begin(), y.index.end());
}

std::string build_error(const Build &build) {
  Graph graph;
  Builder builder(graph, operators());
  try {
    build(builder);
  } catch (const GraphError &error) {
    return error.what();
  }
  return {};
}

} // namespace gradweave::graph
