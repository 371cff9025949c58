#include "graph/onnx/fold/host_value.hpp"

#include "graph/onnx/fold/fold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

namespace gradweave::graph::onnx {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 28U; ///< of a value; a constant has fewer

/// Inputs that decide how many elements there are.
struct Deciding {
  std::string_view type;
  std::vector<std::size_t> inputs;
};

const std::vector<Deciding> &deciding() {
  static const std::vector<Deciding> all = {{"Clip", {}},
                                            {"ConstantOfShape", {0}},
                                            {"CumSum", {1}},
                                            {"Expand", {1}},
                                            {"OneHot", {1}},
                                            {"Pad", {1, 3}},
                                            {"Range", {0, 1, 2}},
                                            {"ReduceMax", {1}},
                                            {"ReduceMin", {1}},
                                            {"ReduceProd", {1}},
                                            {"ReduceSum", {1}},
                                            {"Reshape", {1}},
                                            {"Slice", {1, 2, 3, 4}},
                                            {"Split", {1}},
                                            {"Squeeze", {1}},
                                            {"Tile", {1}},
                                            {"TopK", {1}},
                                            {"Unsqueeze", {1}}};
  return all;
}

bool decides(std::string_view type, std::size_t input) {
  for (const Deciding &known : deciding())
    if (known.type == type) return std::find(known.inputs.begin(), known.inputs.end(), input) != known.inputs.end();
  return type == "NonZero" || type == "Compress" || type == "Unique";
}

Literal computed(const HostValue &value, const std::vector<LiteralPtr> &operands, bool sample) {
  const NodeView view(value.node, value.opset, value.file, kMostElements);
  FoldInputs inputs{view, {}, value.output, sample};
  for (const LiteralPtr &operand : operands)
    inputs.literals.push_back(operand.get());
  return find_folder(value.node.type)(inputs);
}

class Evaluation {
public:
  explicit Evaluation(const HostInputs &inputs) : inputs_(inputs) {}

  LiteralPtr of(const HostValue &value) {
    if (value.literal != nullptr) return value.literal;
    if (!value.input.empty()) return inputs_.at(value.input);
    if (const auto done = done_.find(&value); done != done_.end()) return done->second;
    std::vector<LiteralPtr> operands;
    for (const HostValuePtr &operand : value.operands)
      operands.push_back(operand == nullptr ? nullptr : of(*operand));
    return done_[&value] = std::make_shared<Literal>(computed(value, operands, false));
  }

private:
  const HostInputs &inputs_;
  std::unordered_map<const HostValue *, LiteralPtr> done_;
};

/// Zeros, for the dimensions of what is made of them.
LiteralPtr sample_of(const NodeView &node, const HostValue &value) {
  if (value.literal != nullptr) return value.literal;
  double elements = 1;
  for (const std::int64_t dim : value.dims)
    elements *= static_cast<double>(dim);
  if (elements > static_cast<double>(kMostElements))
    node.fail(fmt::format("reads {} whole numbers, more than are computed before a step", text_of(value.dims)));
  auto sample = std::make_shared<Literal>(Literal{value.type, value.dims});
  const auto count = static_cast<std::size_t>(product_of(value.dims));
  if (sample->is_real())
    sample->real.resize(count);
  else
    sample->whole.resize(count);
  return sample;
}

void add_inputs(const HostValue &value, std::set<const HostValue *> &seen, std::set<std::string> &names) {
  if (!seen.insert(&value).second) return;
  if (!value.input.empty()) names.insert(value.input);
  for (const HostValuePtr &operand : value.operands)
    if (operand != nullptr) add_inputs(*operand, seen, names);
}

} // namespace

HostValuePtr host_value_of(const NodeView &node, std::size_t output, std::vector<HostValuePtr> operands) {
  if (find_folder(node.node().type) == nullptr) return nullptr;
  std::vector<LiteralPtr> samples;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool open = operands[i] != nullptr && operands[i]->literal == nullptr;
    if (open && decides(node.node().type, i)) return nullptr;
    samples.push_back(operands[i] == nullptr ? nullptr : sample_of(node, *operands[i]));
  }
  auto value = std::make_shared<HostValue>();
  value->node = node.node();
  value->output = output;
  value->opset = node.opset();
  value->file = node.file();
  value->operands = std::move(operands);
  const Literal sample = computed(*value, samples, true);
  value->type = sample.type;
  value->dims = sample.dims;
  return value;
}

Literal evaluate(const HostValue &value, const HostInputs &inputs) { return *Evaluation(inputs).of(value); }

std::vector<std::string> inputs_of(const HostValue &value) {
  std::set<const HostValue *> seen;
  std::set<std::string> names;
  add_inputs(value, seen, names);
  return {names.begin(), names.end()};
}

} // namespace gradweave::graph::onnx
