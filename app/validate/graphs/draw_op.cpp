#include "app/validate/graphs/draw_op.hpp"

#include "app/validate/graphs/draw_values.hpp"
#include "graph/build/check_op.hpp"
#include "graph/build/inference.hpp"
#include "graph/operators/table.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace gradweave::graphs {
namespace {

using graph::ElementType;
using graph::kNone;
using graph::Role;
using graph::Shape;
using graph::Takes;
using graph::Tensor;
using graph::TensorId;

constexpr std::uint32_t kMostVariadic = 4;
constexpr std::size_t kMostValues = 40; ///< of a constant; more are one for all

const graph::InputSpec &spec_of(const graph::Operator &type, std::size_t i) {
  return type.inputs[std::min(i, type.inputs.size() - 1)];
}

/// The output that the next step takes for this input: "next_mean" of "running_mean". Its tensor is a state.
std::optional<std::size_t> next_of(const graph::Operator &type, std::size_t i) {
  const std::string_view input = spec_of(type, i).name;
  for (std::size_t o = 0; o < type.outputs.size(); ++o) {
    const std::string_view output = type.outputs[o].name;
    if (output.substr(0, 5) != "next_") continue;
    const std::string_view what = output.substr(5);
    if (input.size() > what.size() && input.substr(input.size() - what.size()) == what) return o;
  }
  return std::nullopt;
}

std::string draw_initial(Choices &choices, const Shape &shape) {
  constexpr std::array<const char *, 5> kVectors = {"ones", "zeros", "constant:0.5", "normal:0.5", "uniform:1"};
  constexpr std::array<const char *, 5> kMatrices = {"xavier", "kaiming", "lecun", "normal:0.3", "uniform:0.5"};
  return shape.rank() < 2 ? choices.pick(kVectors) : choices.pick(kMatrices);
}

} // namespace

struct GrowingGraph::Trial {
  std::vector<Source> sources;
  graph::Attributes attributes;
  std::size_t outputs = 1;
};

GrowingGraph::GrowingGraph(Choices &choices, graph::Graph &graph)
    : choices_(choices), graph_(graph), build_(graph, graph::operators()) {}

TensorId GrowingGraph::add_input(const Shape &shape) {
  const ElementType type = choices_.percent(75) ? ElementType::kFp32 : ElementType::kBf16;
  const TensorId id = build_.input(build_.fresh_tensor("x"), type, shape);
  note(id, false);
  return id;
}

TensorId GrowingGraph::add_large_image() { return add_input(draw_large_image(choices_, limits_.elements)); }

TensorId GrowingGraph::add_product(TensorId x) {
  const TensorId w = build_.parameter(build_.fresh_tensor("w"), build_.shape(x), "ones");
  note(w, true);
  const TensorId y = build_.add("Mul", {x, w}, {}, build_.fresh("t"));
  note(y, true);
  return y;
}

void GrowingGraph::note(TensorId id, bool learned) {
  learned_.resize(std::max<std::size_t>(learned_.size(), id + 1));
  readers_.resize(learned_.size());
  learned_[id] = learned;
  (graph::is_real(graph_.tensors[id].type) ? reals_ : indices_).push_back(id);
}

TensorId GrowingGraph::pick_real() {
  TensorId picked = reals_.back();
  for (int i = 0; i < 4; ++i) {
    picked = choices_.percent(40) ? reals_.back() : choices_.pick(reals_);
    const bool worth = graph_.tensors[picked].computed() || graph_.tensors[picked].role == Role::kInput;
    if (worth && build_.shape(picked).rank() > 0 && (readers_[picked] == 0 || choices_.percent(30))) break;
  }
  return picked;
}

std::optional<TensorId> GrowingGraph::there(const Shape &shape, bool real) {
  std::vector<TensorId> fitting;
  for (const TensorId id : real ? reals_ : indices_)
    if (build_.shape(id) == shape) fitting.push_back(id);
  if (fitting.empty()) return std::nullopt;
  return choices_.pick(fitting);
}

/// Whole numbers: the first input of an op is a condition or goes on to others; what stands behind it looks up in the
/// first one, so that a new input's range is known.
GrowingGraph::Source GrowingGraph::draw_index(std::size_t i, const Shape *first) {
  Source source;
  if (i == 0) {
    if (indices_.empty() || choices_.percent(20)) {
      Tensor mask;
      mask.role = Role::kConstant;
      mask.type = ElementType::kInt32;
      mask.shape = reals_.empty() || choices_.percent(30) ? draw_shape(choices_) : build_.shape(choices_.pick(reals_));
      const std::size_t elements = mask.shape.elements();
      for (std::size_t e = 0; e < (elements > kMostValues ? 1 : elements); ++e)
        mask.values.push_back(choices_.percent(50) ? 1 : 0);
      source.leaf = std::move(mask);
    } else {
      source.id = choices_.percent(50) ? indices_.back() : choices_.pick(indices_);
    }
    return source;
  }
  Tensor leaf;
  leaf.role = Role::kInput;
  leaf.type = ElementType::kInt32;
  leaf.shape = first == nullptr ? Shape{} : draw_shape_beside(choices_, Takes::kIndex, *first);
  if (choices_.percent(30))
    if (const auto known = there(leaf.shape, false); known && graph_.tensors[*known].role == Role::kInput) {
      source.id = *known;
      return source;
    }
  source.leaf = std::move(leaf);
  return source;
}

GrowingGraph::Source GrowingGraph::draw_leaf(const graph::Operator &type, std::size_t i, const Shape &shape) {
  const Takes takes = spec_of(type, i).takes;
  Tensor leaf;
  leaf.shape = shape;
  leaf.role = Role::kParameter;
  const bool data = takes == Takes::kReal || takes == Takes::kSum;
  if (next_of(type, i))
    leaf.role = Role::kState;
  else if (choices_.percent(data ? 45 : 8))
    leaf.role = choices_.percent(60) ? Role::kInput : Role::kConstant;
  leaf.frozen = leaf.role == Role::kParameter && choices_.percent(12);
  if (leaf.role == Role::kState)
    leaf.initial = choices_.percent(50) ? "ones" : "zeros";
  else if (leaf.role == Role::kParameter)
    leaf.initial = draw_initial(choices_, shape);
  else if (leaf.role == Role::kConstant)
    leaf.values = {choices_.percent(50) ? 0.5 : -1.25};
  Source source;
  source.leaf = std::move(leaf);
  return source;
}

/// `first`: the shape of the first input; null: this is it.
GrowingGraph::Source GrowingGraph::draw_source(const graph::Operator &type, std::size_t i, const Shape *first) {
  const graph::InputSpec &spec = spec_of(type, i);
  if (spec.optional && choices_.percent(60)) {
    Source none;
    none.left_out = true;
    return none;
  }
  if (spec.takes == Takes::kIndex) return draw_index(i, first);
  const Shape shape = first == nullptr ? draw_shape(choices_) : draw_shape_beside(choices_, spec.takes, *first);
  const std::uint32_t shared = spec.takes == Takes::kReal || spec.takes == Takes::kSum ? 60 : 15;
  if (!next_of(type, i) && choices_.percent(shared))
    if (const auto known = there(shape, true)) {
      const Role role = graph_.tensors[*known].role;
      // What is learned is fp32, and so are statistics.
      if (spec.takes != Takes::kFp32 || role == Role::kParameter || role == Role::kState) {
        Source source;
        source.id = *known;
        return source;
      }
    }
  return draw_leaf(type, i, shape);
}

bool GrowingGraph::is_legal(const graph::Operator &type, const Trial &trial, bool single) const {
  graph::Graph scratch;
  graph::Op op;
  op.type = &type;
  op.attributes = trial.attributes;
  for (const Source &source : trial.sources) {
    if (source.left_out) {
      op.inputs.push_back(kNone);
      continue;
    }
    const Tensor &like = source.leaf ? *source.leaf : graph_.tensors[source.id];
    Tensor tensor;
    tensor.name = "t";
    tensor.type = like.type;
    tensor.shape = like.shape;
    op.inputs.push_back(static_cast<TensorId>(scratch.tensors.size()));
    scratch.tensors.push_back(std::move(tensor));
  }
  op.outputs.assign(trial.outputs, kNone);
  for (const graph::AttributeSpec &spec : type.attributes)
    if (spec.own) op.attributes.set(std::string(spec.name), std::int64_t{0});
  try {
    graph::complete_attributes(op);
    const std::vector<Shape> shapes = graph::check_op(scratch, op);
    if (single && shapes.front().elements() != 1) return false;
    for (std::size_t o = 0; o < shapes.size(); ++o) {
      if (shapes[o].elements() > limits_.elements) return false;
      op.outputs[o] = static_cast<TensorId>(scratch.tensors.size());
      scratch.tensors.push_back({});
      scratch.tensors.back().shape = shapes[o];
    }
    return type.operations({scratch, op}) <= limits_.operations;
  } catch (const graph::GraphError &) {
    return false;
  }
}

std::optional<GrowingGraph::Trial> GrowingGraph::try_op(const graph::Operator &type, TensorId first, bool single) {
  Trial trial;
  std::size_t inputs = type.inputs.size();
  if (type.variadic) inputs = inputs - 1 + choices_.between(1, kMostVariadic);
  std::optional<Shape> shape;
  for (std::size_t i = 0; i < inputs; ++i) {
    Source source;
    if (i == 0 && first != kNone)
      source.id = first;
    else
      source = draw_source(type, i, shape ? &*shape : nullptr);
    if (i == 0 && !source.left_out) shape = source.leaf ? source.leaf->shape : build_.shape(source.id);
    if (source.leaf && source.leaf->shape.elements() > limits_.elements) return std::nullopt;
    trial.sources.push_back(std::move(source));
  }
  if (!shape) return std::nullopt;
  trial.outputs = type.splits ? choices_.between(1, 3) : type.outputs.size();
  for (const graph::AttributeSpec &spec : type.attributes)
    if (auto value = draw_attribute(choices_, spec, *shape, trial.outputs))
      trial.attributes.set(std::string(spec.name), std::move(*value));
  if (!is_legal(type, trial, single)) return std::nullopt;
  return trial;
}

TensorId GrowingGraph::make_leaf(const Tensor &leaf) {
  TensorId id = kNone;
  const auto name = [this](const char *base) { return build_.fresh_tensor(base); };
  if (leaf.role == Role::kParameter)
    id = build_.parameter(name("w"), leaf.shape, leaf.initial, leaf.frozen);
  else if (leaf.role == Role::kState)
    id = build_.state(name("s"), leaf.shape, leaf.initial);
  else if (leaf.role == Role::kConstant)
    id = build_.constant(name("k"), leaf.shape, leaf.values, leaf.type);
  else if (leaf.type == ElementType::kInt32)
    id = build_.input(name("i"), leaf.type, leaf.shape);
  else
    return add_input(leaf.shape);
  note(id, leaf.role == Role::kParameter && !leaf.frozen);
  return id;
}

void GrowingGraph::update_states(const graph::Operator &type, const std::vector<TensorId> &inputs,
                                 const std::vector<TensorId> &outputs) {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (const auto next = next_of(type, i); next && inputs[i] != kNone && choices_.percent(80))
      build_.update(inputs[i], outputs[*next]);
}

std::vector<TensorId> GrowingGraph::add_op(const graph::Operator &type, TensorId first, int tries, bool single) {
  for (int i = 0; i < tries; ++i) {
    const std::optional<Trial> trial = try_op(type, first, single);
    if (!trial) continue;
    std::vector<TensorId> inputs;
    bool learned = false;
    for (const Source &source : trial->sources) {
      inputs.push_back(source.left_out ? kNone : source.leaf ? make_leaf(*source.leaf) : source.id);
      if (inputs.back() == kNone) continue;
      learned = learned || learned_[inputs.back()];
      ++readers_[inputs.back()];
    }
    const std::vector<TensorId> outputs =
        build_.add_all(type.name, inputs, trial->attributes, build_.fresh("t"), type.splits ? trial->outputs : 0);
    for (const TensorId output : outputs)
      note(output, learned);
    update_states(type, inputs, outputs);
    return outputs;
  }
  return {};
}

} // namespace gradweave::graphs
