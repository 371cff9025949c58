#include "train/npu/pooling_sections.hpp"

#include "compiler/ir/arithmetic.hpp"
#include "compiler/ir/layout.hpp"
#include "compiler/pooling/pooling.hpp"
#include "compiler/vector/lower_op.hpp"
#include "compiler/vector_stream/job_commands.hpp"
#include "compiler/vector_stream/section.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace gradweave::runtime::train {
namespace {

using graph::kNone;
using graph::Op;
using graph::TensorId;

class Judge {
public:
  Judge(const graph::Graph &graph, const Machine &npu) : graph_(graph), npu_(npu), timed_(npu) {}

  std::optional<compiler::AreaPlan> areas_if_faster(const Op &op) {
    const auto [known, is_new] = known_.try_emplace(key_of(op));
    if (is_new) known->second = judge(op);
    return known->second;
  }

private:
  /// An op by itself, in a memory of its own.
  struct Alone {
    compiler::OpJobs jobs;
    std::vector<std::uint64_t> addresses;
  };

  Alone alone(const Op &op) {
    Alone a{compiler::lower_op(graph_, op), {}};
    std::uint64_t end = 0;
    for (const compiler::JobValue &value : a.jobs.values) {
      a.addresses.push_back(compiler::round_up(end, compiler::kTensorAlignment));
      end = a.addresses.back() + value.elements * graph::bytes_of(value.type);
    }
    timed_.memory.size_bytes = end + kStreamRoom;
    return a;
  }

  std::optional<compiler::AreaPlan> judge(const Op &op) {
    std::optional<Alone> a; // of an op that has areas
    const auto by_areas = [&](const compiler::AreaPlan &plan) {
      if (!a) a = alone(op);
      return cycles(compiler::section_commands(plan, a->addresses, npu_, 0));
    };
    std::optional<compiler::AreaPlan> areas = compiler::pooling_areas(graph_, op, npu_, by_areas);
    if (!areas || by_areas(*areas) >= cycles(compiler::job_commands(a->jobs, a->addresses, npu_))) return std::nullopt;
    return areas;
  }

  std::uint64_t cycles(const std::vector<isa::Command> &commands) const {
    const timing::RunResult result = timing::run(timed_, commands);
    if (!result.ok()) throw std::logic_error("a section of a step stops by itself");
    return result.cycles();
  }

  std::string key_of(const Op &op) const {
    std::string key(op.type->name);
    for (const auto &[name, value] : op.attributes.all())
      key += fmt::format(" {}={}", name, graph::to_string(value));
    for (const auto *tensors : {&op.inputs, &op.outputs})
      for (const TensorId id : *tensors)
        if (id != kNone)
          key += fmt::format(" {}:{}", graph_.tensors[id].shape.text(), static_cast<int>(graph_.tensors[id].type));
    return key;
  }

  static constexpr std::uint64_t kStreamRoom = std::uint64_t{1} << 30;

  const graph::Graph &graph_;
  const Machine &npu_;
  Machine timed_;
  std::map<std::string, std::optional<compiler::AreaPlan>> known_;
};

} // namespace

std::map<graph::OpId, compiler::AreaPlan> pooling_sections(const graph::Graph &graph, const Machine &npu) {
  std::map<graph::OpId, compiler::AreaPlan> all;
  Judge judge(graph, npu);
  for (graph::OpId id = 0; id < graph.ops.size(); ++id)
    if (graph.ops[id].attributes.has("kernel_shape"))
      if (auto areas = judge.areas_if_faster(graph.ops[id])) all.emplace(id, std::move(*areas));
  return all;
}

} // namespace gradweave::runtime::train
