#include "graph/onnx/value/host_function.hpp"

#include "graph/ir/error.hpp"
#include "graph/onnx/fold/fold.hpp"

#include <fmt/format.h>

namespace gradweave::graph::onnx {
namespace {

std::int32_t whole_of(std::int64_t value, const HostValue &of) {
  if (value != static_cast<std::int32_t>(value))
    throw GraphError(fmt::format("{}: {}: computes {}, which is no 32-bit number", of.file, describe(of.node), value));
  return static_cast<std::int32_t>(value);
}

class HostFunction final : public InputFunction {
public:
  HostFunction(HostValuePtr value, Order order, std::vector<Literal> inputs)
      : value_(std::move(value)), order_(std::move(order)), sources_(inputs_of(*value_)), inputs_(std::move(inputs)) {}

  const std::vector<std::string> &sources() const override { return sources_; }

  InputValues compute(const std::vector<const InputValues *> &values) const override {
    HostInputs inputs;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      auto literal = std::make_shared<Literal>(inputs_[i]);
      literal->whole.assign(values[i]->whole.begin(), values[i]->whole.end());
      inputs.emplace(sources_[i], std::move(literal));
    }
    const Literal result = evaluate(*value_, inputs);
    InputValues ours;
    for (const std::size_t at : places(ordered(result.dims, order_), ordered(steps_of(result.dims), order_)))
      if (result.is_real())
        ours.real.push_back(static_cast<float>(result.real[at]));
      else
        ours.whole.push_back(whole_of(result.whole[at], *value_));
    return ours;
  }

private:
  HostValuePtr value_;
  Order order_;
  std::vector<std::string> sources_;
  std::vector<Literal> inputs_; ///< of each source: type and dimensions
};

} // namespace

TensorId add_host_input(Builder &build, const Value &value, const Order &order) {
  std::vector<Literal> inputs;
  for (const std::string &name : inputs_of(*value.host)) {
    const Tensor &source = build.tensor(build.graph().find(name));
    inputs.push_back({DataType::kInt64, numbers(source.shape)});
  }
  const ElementType type = value.kind == Kind::kReal ? ElementType::kFp32 : ElementType::kInt32;
  const TensorId tensor =
      build.input(build.fresh_tensor(value.name), type, shape_of(build, value.name, ordered(value.dims, order)));
  build.set_function(tensor, std::make_shared<HostFunction>(value.host, order, std::move(inputs)));
  if (value.kind == Kind::kTruth) build.set_below(tensor, 2);
  return tensor;
}

} // namespace gradweave::graph::onnx
