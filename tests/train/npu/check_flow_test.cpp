// Streams of steps in which something is left out, or goes elsewhere, are seen from their commands alone.
#include "tests/train/npu/npu_steps.hpp"
#include "train/npu/check_flow.hpp"
#include "train/npu/check_stream.hpp"

#include <gtest/gtest.h>

#include <string>
#include <variant>

namespace gradweave::runtime::train {
namespace {

class FlowOfAStep : public testing::Test {
protected:
  std::string problem_of(const StepStream &stream) const {
    return check_flow(stream, steps_.executor.planned().flow());
  }
  std::string hazard_of(const StepStream &stream) const {
    return check_stream(stream, steps_.step.graph, npu_of("test8v2"), steps_.executor.planned().memory_bytes());
  }
  StepStream stream() {
    if (steps_.executor.stream().commands.empty()) EXPECT_EQ(steps_.next(), "");
    return steps_.executor.stream();
  }

  NpuSteps steps_{perceptron(6, {20, 13, 5}), {}, make_functional_device(npu_of("test8v2")), Backend::kFunctional};
};

/// The command without what it does: its engine waits and posts as before.
void leave_out(isa::Command &command) {
  isa::Decoded decoded = *isa::decode(command);
  decoded.op = isa::SyncCommand{static_cast<std::uint8_t>(decoded.engine())};
  command = isa::encode(decoded);
}

const isa::DmaCommand *dma_of(const isa::Decoded &decoded) { return std::get_if<isa::DmaCommand>(&decoded.op); }

TEST_F(FlowOfAStep, IsThatOfTheGraph) { EXPECT_EQ(problem_of(stream()), ""); }

TEST_F(FlowOfAStep, MissesEachStoreThatIsLeftOut) {
  const StepStream whole = stream();
  std::size_t stores = 0;
  for (std::size_t i = 0; i < whole.commands.size(); ++i) {
    const isa::Decoded decoded = *isa::decode(whole.commands[i]);
    if (dma_of(decoded) == nullptr || !dma_of(decoded)->store) continue;
    StepStream changed = whole;
    leave_out(changed.commands[i]);
    EXPECT_NE(problem_of(changed), "") << describe_place(whole, steps_.step.graph, i);
    ++stores;
  }
  EXPECT_GT(stores, 20U);
}

/// The first LOAD of each section of updates: later ones replace what rows had.
TEST_F(FlowOfAStep, MissesALoadBeforeItsRowsAreRead) {
  const StepStream whole = stream();
  std::size_t sections = 0;
  for (const StepSection &section : whole.sections) {
    if (section.what.find("AdamW") != 0) continue;
    std::size_t at = section.first;
    while (whole.commands[at].get(isa::field::OPCODE) != static_cast<std::uint32_t>(isa::Opcode::LOAD))
      ++at;
    StepStream changed = whole;
    leave_out(changed.commands[at]);
    EXPECT_NE(hazard_of(changed).find("which its section has not written"), std::string::npos) << hazard_of(changed);
    ++sections;
  }
  EXPECT_GT(sections, 0U);
}

TEST_F(FlowOfAStep, KnowsWhereATensorLies) {
  StepStream changed = stream();
  for (isa::Command &command : changed.commands) {
    isa::Decoded decoded = *isa::decode(command);
    auto *dma = std::get_if<isa::DmaCommand>(&decoded.op);
    if (dma == nullptr || dma->store) continue;
    dma->dram_addr = steps_.executor.planned().memory().places[steps_.step.graph.updates.back().tensor].address;
    command = isa::encode(decoded);
    break;
  }
  EXPECT_NE(problem_of(changed).find("where none of its operators has a tensor"), std::string::npos)
      << problem_of(changed);
}

/// Sections change places: the later one reads what is not there yet.
TEST_F(FlowOfAStep, KnowsWhenATensorIsThere) {
  const StepStream whole = stream();
  StepStream changed;
  for (std::size_t s = whole.sections.size(); s-- > 0;) {
    StepSection section = whole.sections[s];
    const auto begin = whole.commands.begin() + static_cast<std::ptrdiff_t>(section.first);
    section.first = changed.commands.size();
    changed.commands.insert(changed.commands.end(), begin, begin + static_cast<std::ptrdiff_t>(section.count));
    changed.sections.push_back(section);
  }
  EXPECT_NE(problem_of(changed).find("before that is written"), std::string::npos) << problem_of(changed);
}

/// A plan that keeps a result in the scratchpad, or gives its place away, stores all that has a place.
TEST_F(FlowOfAStep, MissesAResultThatMemoryDoesNotHold) {
  const StepStream whole = stream();
  FlowPlan plan = steps_.executor.planned().flow();
  graph::Graph graph = plan.graph;
  const auto inside = std::find_if(graph.tensors.begin(), graph.tensors.end(), [&](const graph::Tensor &tensor) {
    const auto id = static_cast<std::size_t>(&tensor - graph.tensors.data());
    return tensor.computed() && plan.memory.places[id].owner == graph::kNone;
  });
  ASSERT_NE(inside, graph.tensors.end());
  graph.results.push_back(static_cast<graph::TensorId>(inside - graph.tensors.begin()));
  EXPECT_NE(check_flow(whole, {graph, plan.views, plan.memory, plan.memory_bytes, plan.gives_some_rows})
                .find("memory does not hold the result"),
            std::string::npos);
}

} // namespace
} // namespace gradweave::runtime::train
