#include "train/npu/plan/order/weight_copies.hpp"

#include "graph/build/verify.hpp"
#include "graph/ir/operator.hpp"
#include "sw_models/numerics/numerics.hpp"
#include "train/npu/plan/order/same_elements.hpp"

#include <algorithm>

namespace gradweave::runtime::train {
namespace {

using graph::Graph;
using graph::kNone;
using graph::Op;
using graph::OpId;
using graph::Role;
using graph::TensorId;

class Lasting {
public:
  explicit Lasting(const graph::TrainingGraph &step) : all_{step, {}}, next_copies_(step.graph.ops.size()) {}

  LastingCopies run() {
    std::vector<Op> before = std::move(graph().ops);
    for (const Op &op : before)
      if (is_copy(op)) all_.copies.emplace_back(op.outputs[0], op.inputs[0]);
    for (const auto &[copy, parameter] : all_.copies)
      make_state(copy, parameter, before);
    for (OpId id = 0; id < before.size(); ++id) {
      if (!is_copy(before[id])) add(std::move(before[id]));
      for (Op &cast : next_copies_[id])
        add(std::move(cast));
    }
    graph::verify(graph());
    return std::move(all_);
  }

private:
  Graph &graph() { return all_.step.graph; }

  bool is_copy(const Op &op) {
    return op.type->name == "Cast" && graph().tensors[op.inputs[0]].role == Role::kParameter &&
           !is_result(graph(), op.outputs[0]);
  }

  void make_state(TensorId copy, TensorId parameter, const std::vector<Op> &ops) {
    const auto cast = std::find_if(ops.begin(), ops.end(), [&](const Op &op) { return op.outputs[0] == copy; });
    graph().tensors[copy].role = Role::kState;
    graph().tensors[copy].producer = kNone;
    const auto update = std::find_if(graph().updates.begin(), graph().updates.end(),
                                     [&](const graph::Update &u) { return u.tensor == parameter; });
    if (update == graph().updates.end()) return; // frozen
    graph::Tensor next = graph().tensors[copy];
    next.name += ".next";
    next.role = Role::kUpdated;
    next.producer = 0; // add() sets it
    const auto id = static_cast<TensorId>(graph().tensors.size());
    Op again = *cast;
    again.name = next.name;
    again.inputs = {update->next};
    again.outputs = {id};
    next_copies_[graph().tensors[update->next].producer].push_back(std::move(again));
    graph().tensors.push_back(std::move(next));
    graph().updates.push_back({copy, id});
  }

  void add(Op op) {
    for (const TensorId output : op.outputs)
      if (output != kNone) graph().tensors[output].producer = static_cast<OpId>(graph().ops.size());
    graph().ops.push_back(std::move(op));
  }

  LastingCopies all_;
  std::vector<std::vector<Op>> next_copies_; ///< by the op behind which they stand
};

} // namespace

LastingCopies with_lasting_copies(const graph::TrainingGraph &step) { return Lasting(step).run(); }

void make_copies(const LastingCopies &lasting, Living &living) {
  living.resize(lasting.step.graph.tensors.size());
  for (const auto &[copy, parameter] : lasting.copies) {
    living[copy] = living[parameter];
    for (float &value : living[copy])
      value = fp32_from_bf16(bf16_from_fp32(value));
  }
}

void drop_copies(const LastingCopies &lasting, Living &living) {
  const std::vector<graph::Tensor> &tensors = lasting.step.graph.tensors;
  for (const auto &[copy, parameter] : lasting.copies)
    living[copy] = {};
  const auto next =
      std::count_if(lasting.step.graph.updates.begin(), lasting.step.graph.updates.end(),
                    [&](const graph::Update &u) { return tensors[u.tensor].type == graph::ElementType::kBf16; });
  living.resize(tensors.size() - static_cast<std::size_t>(next));
}

} // namespace gradweave::runtime::train
