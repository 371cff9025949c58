#include "compiler/pooling/window_work.hpp"

#include "compiler/vector/lower_op.hpp"
#include "graph/golden/recorded_kernel.hpp"
#include "graph/ir/operator.hpp"

#include <utility>

namespace gradweave::compiler::pooling {
namespace {

using graph::Kernel;
using graph::Recorded;
using graph::RecordedWalk;
using graph::WalkOperand;
using graph::WalkValue;

class Reading {
public:
  Reading(const Kernel<Recorded> &kernel, const graph::Shape &image, const graph::Shape &result, Extent stride)
      : kernel_(kernel) {
    work_.batch = image[0];
    work_.channels = image[3];
    work_.image = {image[1], image[2]};
    work_.result = {result[1], result[2]};
    work_.stride = stride;
    for (const auto *tensors : {&kernel.op().inputs, &kernel.op().outputs})
      for (const graph::TensorId id : *tensors) {
        const bool there = id != graph::kNone;
        const graph::Tensor *tensor = there ? &kernel.graph().tensors[id] : nullptr;
        add_value(there ? tensor->shape.elements() : 0, there && tensor->type != graph::ElementType::kBf16);
      }
    for (const std::size_t elements : kernel.temporaries())
      add_value(elements, true);
  }

  std::optional<WindowWork> run() {
    for (const graph::RecordedStep &step : kernel_.steps()) {
      const auto *walk = std::get_if<RecordedWalk>(&step);
      if (walk == nullptr || !add(*walk)) return std::nullopt;
    }
    return std::move(work_);
  }

private:
  std::size_t elements(Extent grid) const { return work_.batch * grid.rows * grid.cols * work_.channels; }

  void add_value(std::size_t count, bool fp32) {
    WindowValue value;
    value.image = count == elements(work_.image);
    value.fp32 = fp32;
    fits_.push_back(value.image || count == elements(work_.result));
    work_.values.push_back(value);
  }

  std::size_t value_of(const WalkValue &value) const {
    const std::size_t inputs = kernel_.inputs(), outputs = kernel_.outputs();
    return value.number + (value.kind == WalkValue::Kind::kInput    ? 0
                           : value.kind == WalkValue::Kind::kOutput ? inputs
                                                                    : inputs + outputs);
  }

  bool add(const RecordedWalk &recorded) {
    const graph::LineWalk &walk = recorded.walk;
    if (!walk.elementwise || walk.lanes != std::vector<std::size_t>{work_.channels} || walk.steps.size() != 3 ||
        walk.steps[0] != work_.batch)
      return false;
    WindowWalk window;
    window.words = isa::vector::encode(recorded.program);
    window.program = recorded.program;
    window.positions = {walk.steps[1], walk.steps[2]};
    for (const WalkOperand &operand : walk.in)
      if (!add(operand, window.in)) return false;
    for (const WalkOperand &operand : walk.out) {
      if (!add(operand, window.out)) return false;
      work_.values[window.out.back().value].written = true;
    }
    work_.walks.push_back(std::move(window));
    return true;
  }

  bool add(const WalkOperand &operand, std::vector<WindowOperand> &all) {
    const std::size_t v = value_of(operand.value);
    if (!fits_[v]) return false;
    WindowValue &value = work_.values[v];
    const Extent grid = work_.grid_of(value), stride = value.image ? work_.stride : Extent{1, 1};
    const std::size_t line = grid.cols * work_.channels;
    if (operand.lanes != std::vector<std::size_t>{1} ||
        operand.steps != std::vector<std::size_t>{grid.rows * line, stride.rows * line, stride.cols * work_.channels})
      return false;
    value.loaded = value.loaded || operand.value.kind == WalkValue::Kind::kInput;
    value.stored = value.stored || operand.value.kind == WalkValue::Kind::kOutput;
    all.push_back({v, operand.first / line, operand.first % line / work_.channels});
    return true;
  }

  const Kernel<Recorded> &kernel_;
  WindowWork work_;
  std::vector<bool> fits_; ///< of each value, whether it has a grid's elements
};

} // namespace

std::optional<WindowWork> window_work(const graph::Graph &graph, const graph::Op &op) {
  if (op.inputs.empty() || op.outputs.size() != 1 || !has_jobs(*op.type) || needs_indices(graph, op) ||
      !op.attributes.has("kernel_shape") || !op.attributes.has("strides"))
    return std::nullopt;
  const graph::Shape &in = graph.tensors[op.inputs[0]].shape, &out = graph.tensors[op.outputs[0]].shape;
  const std::vector<std::int64_t> &strides = op.attributes.integers("strides");
  if (in.rank() != 4 || out.rank() != 4 || strides.size() != 2) return std::nullopt;
  Kernel<Recorded> kernel(graph, op, {});
  op.type->recorded(kernel);
  const bool forward = in.elements() >= out.elements();
  return Reading(kernel, forward ? in : out, forward ? out : in,
                 {static_cast<std::size_t>(strides[0]), static_cast<std::size_t>(strides[1])})
      .run();
}

} // namespace gradweave::compiler::pooling
