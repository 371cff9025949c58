#include "operator_check.hpp"

#include "graph/build/derivation.hpp"
#include "graph/build/inference.hpp"
#include "graph/golden/execution.hpp"
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

/// A value that both arithmetics have on an edge of the type.
float both_have(float value, ElementType type) {
  return type == ElementType::kBf16 ? fp32_from_bf16(bf16_from_fp32(value)) : value;
}

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
        values.real[id].push_back(both_have(static_cast<float>(real(dice)), tensor.type));
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

ExecutionOptions exactly() {
  ExecutionOptions options;
  options.round_edges = false;
  options.threads = 1;
  return options;
}

bool same(float a, float b) { return (std::isnan(a) && std::isnan(b)) || bits_of_fp32(a) == bits_of_fp32(b); }

double value_of(const Graph &graph, TensorId tensor, const Values &values, const std::vector<double> &weights) {
  Execution<Reference> run(graph, exactly());
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

OperatorSet with_weighted_sum(const OperatorSet &set) {
  std::vector<Operator> all = set.all();
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
  explicit Case(const OperatorSet &set) : operators(with_weighted_sum(set)) {}

  OperatorSet operators;
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

namespace {

/// The gradient that the pass gives, zeros where it gives none, against quotients.
double parameter_error(Case &c, const Graph &forward, TensorId parameter, const std::vector<double> &gradient,
                       const OperatorCheck &check) {
  double worst = 0, largest = 1;
  for (const double value : gradient)
    largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const double error = std::abs(gradient[i] - quotient(c, forward, parameter, i, check.step)) / largest;
    if (error <= worst) continue;
    worst = std::isnan(error) ? HUGE_VAL : error;
    if (worst > 1e-9)
      fmt::print("seed {}: gradient of {}[{}] off by {:.3g}\n", check.seed, forward.tensors[parameter].name, i, error);
  }
  return worst;
}

double error_of_gradients(const Build &build, const OperatorCheck &check, const OperatorSet &set,
                          const std::function<void(Graph &)> &sabotage) {
  Case c(set);
  set_up(c, build, check);
  Graph forward;
  Builder again(forward, c.operators);
  forward.results = {build(again)};
  again.input("test.weights", ElementType::kFp32, again.shape(c.result));
  if (sabotage) sabotage(c.graph);
  ExecutionOptions options = exactly();
  options.keep = [](TensorId) { return true; };
  Execution<Reference> run(c.graph, options);
  // The forward graph is the beginning of the other one: ids agree.
  c.values.real.resize(c.graph.tensors.size());
  c.values.index.resize(c.graph.tensors.size());
  fill(run, c.graph, c.values);
  run.run();
  double worst = 0;
  for (TensorId id = 0; id < forward.tensors.size(); ++id) {
    const Tensor &tensor = forward.tensors[id];
    if (tensor.role != Role::kParameter || tensor.frozen) continue;
    std::vector<double> gradient(tensor.shape.elements());
    for (const ParameterGradient &g : c.gradients)
      if (g.parameter == id) gradient = run.get(g.gradient).real;
    worst = std::max(worst, parameter_error(c, forward, id, gradient, check));
  }
  return worst;
}

} // namespace

double gradient_error(const Build &build, const OperatorCheck &check, const std::function<void(Graph &)> &sabotage) {
  return error_of_gradients(build, check, operators(), sabotage);
}

double gradient_error(const Build &build, const OperatorCheck &check, const OperatorSet &set) {
  return error_of_gradients(build, check, set, nullptr);
}

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

namespace {

TensorId source(Builder &b, const std::string &name, Takes takes, const Shape &shape) {
  if (takes == Takes::kIndex) return b.input(name, ElementType::kInt32, shape);
  if (takes == Takes::kOperand) return b.input(name, ElementType::kBf16, shape);
  return b.parameter(name, shape, "zeros");
}

} // namespace

Build op_of(const std::string &op, const std::vector<std::optional<Shape>> &inputs, const Attributes &attributes,
            std::size_t output) {
  return [=](Builder &b) {
    const std::vector<InputSpec> &specs = operators().find(op)->inputs;
    std::vector<TensorId> ids;
    for (const std::optional<Shape> &shape : inputs) {
      const std::size_t i = ids.size();
      const InputSpec &spec = specs[std::min(i, specs.size() - 1)];
      const std::string number = i < specs.size() ? "" : std::to_string(i - specs.size() + 2);
      ids.push_back(shape ? source(b, std::string(spec.name) + number, spec.takes, *shape) : TensorId{kNone});
    }
    return b.add_all(op, ids, attributes, "y").at(output);
  };
}

double contract_error(const Build &build, const OperatorCheck &check, const OperatorSet &set) {
  Graph graph;
  Builder builder(graph, set);
  const TensorId result = build(builder);
  graph.results = {result};
  verify(graph);
  const Values values = random_values(graph, check);
  Execution<Contract> contract(graph);
  Execution<Reference> reference(graph, exactly());
  fill(contract, graph, values);
  fill(reference, graph, values);
  contract.run();
  reference.run();
  if (!is_real(graph.tensors[result].type))
    return contract.get(result).index == reference.get(result).index ? 0 : HUGE_VAL;
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

std::vector<float> run_contract(const Build &build, const RealValues &real, const IndexValues &index,
                                const OperatorSet &set) {
  Graph graph;
  Builder builder(graph, set);
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

Check derivative(Build build, OperatorCheck check, double bound) {
  return [build = std::move(build), check, bound](const OperatorSet &set) -> std::string {
    const double error = gradient_error(build, check, set);
    return error < bound ? "" : fmt::format("seed {}: gradient off by {}, bound {}", check.seed, error, bound);
  };
}

Check near_fp64(Build build, OperatorCheck check, double bound) {
  return [build = std::move(build), check, bound](const OperatorSet &set) -> std::string {
    const double error = contract_error(build, check, set);
    return error < bound ? "" : fmt::format("seed {}: contract off fp64 by {}, bound {}", check.seed, error, bound);
  };
}

Check exact(Build build, Given given, std::vector<float> expected) {
  return [build = std::move(build), given = std::move(given),
          expected = std::move(expected)](const OperatorSet &set) -> std::string {
    const std::vector<float> y = run_contract(build, given.real, given.index, set);
    if (y.size() != expected.size()) return fmt::format("{} values instead of {}", y.size(), expected.size());
    for (std::size_t i = 0; i < y.size(); ++i)
      if (!same(y[i], expected[i])) return fmt::format("element {} is {} instead of {}", i, y[i], expected[i]);
    return {};
  };
}

Check replayed(Build build, OperatorCheck check, std::function<std::vector<float>(const Given &)> golden) {
  return [build = std::move(build), check, golden = std::move(golden)](const OperatorSet &set) -> std::string {
    Graph graph;
    Builder builder(graph, set);
    build(builder);
    const Values values = random_values(graph, check);
    Given given;
    for (TensorId id = 0; id < graph.tensors.size(); ++id) {
      const Tensor &tensor = graph.tensors[id];
      if (tensor.computed() || tensor.role == Role::kConstant) continue;
      if (is_real(tensor.type))
        given.real[tensor.name].assign(values.real[id].begin(), values.real[id].end());
      else
        given.index[tensor.name] = values.index[id];
    }
    const std::string wrong = exact(build, given, golden(given))(set);
    return wrong.empty() ? wrong : fmt::format("seed {}: {}", check.seed, wrong);
  };
}

namespace {

std::map<std::string, std::vector<Check>, std::less<>> &registry() {
  static std::map<std::string, std::vector<Check>, std::less<>> checks;
  return checks;
}

} // namespace

Holds::Holds(std::initializer_list<std::string_view> operators, std::vector<Check> checks) {
  for (const std::string_view name : operators) {
    std::vector<Check> &all = registry()[std::string(name)];
    all.insert(all.end(), checks.begin(), checks.end());
  }
}

const std::vector<Check> &checks_of(std::string_view name) {
  static const std::vector<Check> kNoChecks;
  const auto found = registry().find(name);
  return found == registry().end() ? kNoChecks : found->second;
}

} // namespace gradweave::graph
