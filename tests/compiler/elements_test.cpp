// Operators of elements as commands: the functional model gives the bits of the graph's golden execution, the timing
// model an end, and the check of hazards finds none.
#include "base/random/dice.hpp"
#include "compiler/vector/tile_elements.hpp"
#include "compiler/verify/verify_hazards.hpp"
#include "graph/build/builder.hpp"
#include "graph/golden/execution.hpp"
#include "graph/operators/table.hpp"
#include "sw_models/config/machine.hpp"
#include "sw_models/functional/functional.hpp"
#include "sw_models/numerics/numerics.hpp"
#include "sw_models/timing/timing_model.hpp"
#include "sw_models/vector/random_program.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace gradweave::compiler {
namespace {

using graph::ElementType;
using graph::TensorId;

constexpr std::uint64_t kSeed = 271;
constexpr std::uint64_t kDataAt = 0x10000;

/// A graph of ops of elements, its values, and where they lie.
class Elements {
public:
  explicit Elements(const Machine &npu) : npu_(npu) {}

  graph::Builder &builder() { return builder_; }
  graph::Graph &graph() { return graph_; }
  TensorId input(const std::string &name, ElementType type, graph::Shape shape) {
    return builder_.input(name, type, std::move(shape));
  }
  TensorId add(const std::string &op, const std::vector<TensorId> &inputs, ElementType type, const std::string &name) {
    const TensorId out = builder_.add(op, inputs, {}, name);
    for (const TensorId id : graph_.ops.back().outputs)
      graph_.tensors[id].type = type;
    return out;
  }

  ElementProgram record(const KnownValues &known = {}) const {
    std::vector<graph::OpId> ops(graph_.ops.size());
    for (graph::OpId i = 0; i < ops.size(); ++i)
      ops[i] = i;
    return record_elements(graph_, ops, known);
  }

  /// `values` of inputs that are not known by `known` are drawn.
  std::vector<isa::Command> commands(const KnownValues &known) {
    work_ = record(known);
    std::uint64_t next = kDataAt;
    for (const auto *edges : {&work_.operands, &work_.results})
      for (const ElementEdge &e : *edges) {
        addresses_[e.tensor] = next;
        next += (graph_.tensors[e.tensor].shape.elements() * (e.fp32 ? 4 : 2) + 63) / 64 * 64;
      }
    end_ = next;
    return tile_elements(work_, addresses_, npu_);
  }

  void check(const KnownValues &known = {}) {
    const std::vector<isa::Command> stream = commands(known);
    ASSERT_EQ(first_hazard(stream), "");
    Dice dice(kSeed);
    graph::ExecutionOptions options;
    options.keep = [](TensorId) { return true; };
    graph::Execution<graph::Contract> golden(graph_, options);
    DeviceMemory memory(end_ + stream.size() * isa::kCommandBytes);
    for (const auto &[id, values] : known)
      golden.set(id, values);
    for (const ElementEdge &e : work_.operands) {
      std::vector<float> values(graph_.tensors[e.tensor].shape.elements());
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint32_t bits = vector::random_fp32(dice);
        values[i] = canonical(fp32_from_bits(e.fp32 ? bits : bits & 0xFFFF0000U));
        const std::uint32_t word = bits_of_fp32(values[i]);
        const auto half = static_cast<std::uint16_t>(word >> 16U);
        memory.write(addresses_[e.tensor] + i * (e.fp32 ? 4 : 2), e.fp32 ? static_cast<const void *>(&word) : &half,
                     e.fp32 ? 4 : 2);
      }
      golden.set(e.tensor, std::move(values));
    }
    golden.run();
    memory.write(end_, stream.data(), stream.size() * isa::kCommandBytes);
    FunctionalNpu npu(npu_, memory);
    npu.start(end_, static_cast<std::uint32_t>(stream.size()));
    ASSERT_TRUE(npu.run().done) << isa::kErrorNames[static_cast<std::size_t>(npu.status().error)];
    for (const ElementEdge &e : work_.results)
      compare(e, golden, memory);
    ASSERT_TRUE(timing::run(npu_, stream).ok());
  }

  timing::RunResult time(const KnownValues &known = {}) { return timing::run(npu_, commands(known)); }
  const ElementProgram &work() const { return work_; }

private:
  std::string first_hazard(const std::vector<isa::Command> &stream) const {
    SyncReplay sync(npu_);
    HazardReplay hazards(npu_);
    for (std::size_t i = 0; i < stream.size(); ++i) {
      const isa::Decoded d = *isa::decode(stream[i]);
      for (const std::string &problem : {sync.step(d), hazards.step(i, d, sync)})
        if (!problem.empty()) return fmt::format("command {}: {}", i, problem);
    }
    return sync.finish();
  }

  void compare(const ElementEdge &e, const graph::Execution<graph::Contract> &golden, const DeviceMemory &memory) {
    const std::vector<float> &right = golden.get(e.tensor).real;
    for (std::size_t i = 0; i < right.size(); ++i) {
      std::uint32_t got = 0;
      memory.read(addresses_[e.tensor] + i * (e.fp32 ? 4 : 2), &got, e.fp32 ? 4 : 2);
      if (!e.fp32) got <<= 16U;
      ASSERT_EQ(got, bits_of_fp32(right[i])) << graph_.tensors[e.tensor].name << " element " << i << ", seed " << kSeed;
    }
  }

  const Machine &npu_;
  graph::Graph graph_;
  graph::Builder builder_{graph_, graph::operators()};
  ElementProgram work_;
  ElementAddresses addresses_;
  std::uint64_t end_ = 0;
};

class ElementCommands : public testing::TestWithParam<const char *> {
protected:
  Machine npu_ = load_machine(std::string("configs/") + GetParam() + ".toml");
};

/// w, m and v of the next step; the constants of the step are known.
KnownValues add_adamw(Elements &e, const graph::Shape &shape) {
  std::vector<TensorId> inputs;
  for (const char *name : {"w", "g", "m", "v"})
    inputs.push_back(e.input(name, ElementType::kFp32, shape));
  const TensorId constants = e.input("constants", ElementType::kFp32, {3});
  inputs.push_back(constants);
  e.add("AdamW", inputs, ElementType::kFp32, "next");
  return {{constants, {1e-3F, 10.0F, 1000.0F}}};
}

TEST_P(ElementCommands, OfGeluOfAnySize) {
  for (const std::uint32_t rows : {1U, 7U, 40U})
    for (const std::uint32_t cols : {1U, 13U, 97U}) {
      Elements e(npu_);
      e.add("Gelu", {e.input("x", ElementType::kBf16, {rows, cols})}, ElementType::kBf16, "y");
      SCOPED_TRACE(fmt::format("{} x {}", rows, cols));
      ASSERT_NO_FATAL_FAILURE(e.check());
    }
}

/// The edge between them is bf16: rounded inside the program.
TEST_P(ElementCommands, OfBiasAndReluTogether) {
  for (const std::uint32_t cols : {1U, 5U, 8U, 33U, 300U}) {
    Elements e(npu_);
    const TensorId x = e.input("x", ElementType::kFp32, {37, cols}), b = e.input("b", ElementType::kFp32, {cols});
    e.add("Relu", {e.add("Bias", {x, b}, ElementType::kBf16, "sum")}, ElementType::kBf16, "y");
    ASSERT_NO_FATAL_FAILURE(e.check());
    EXPECT_EQ(e.work().operands[1].repeat, ElementEdge::Repeat::kRow);
  }
}

TEST_P(ElementCommands, OfAdamW) {
  Elements e(npu_);
  const KnownValues known = add_adamw(e, {23, 31});
  ASSERT_NO_FATAL_FAILURE(e.check(known));
  EXPECT_EQ(e.work().operands.size(), 4U);
  EXPECT_EQ(e.work().results.size(), 3U);
}

/// Scalars, and a tensor that is both a result and read by another op.
TEST_P(ElementCommands, OfAChainWithAScalar) {
  Elements e(npu_);
  const TensorId x = e.input("x", ElementType::kBf16, {19, 21}), s = e.input("s", ElementType::kFp32, {1, 1});
  const TensorId y = e.add("Mul", {x, s}, ElementType::kBf16, "y");
  e.add("Sub", {x, y}, ElementType::kFp32, "z");
  e.graph().results.push_back(y);
  ASSERT_NO_FATAL_FAILURE(e.check());
}

INSTANTIATE_TEST_SUITE_P(Npus, ElementCommands, testing::Values("test8v2", "test6x10v1", "test8c2v4"));

std::string error_of(const std::function<void()> &body) {
  try {
    body();
  } catch (const ElementProgramError &error) {
    return error.what();
  }
  return {};
}

TEST(ElementPrograms, SayWhatCannotBeOne) {
  const Machine npu = load_machine("configs/test8v2.toml");
  Elements softmax(npu);
  softmax.add("Softmax", {softmax.input("x", ElementType::kFp32, {2, 3})}, ElementType::kFp32, "y");
  EXPECT_EQ(error_of([&] { softmax.record(); }),
            "op 'y' is a Softmax, which is not recorded yet; there are " + recordable_operators());
  Elements adamw(npu);
  add_adamw(adamw, {4, 4});
  EXPECT_EQ(error_of([&] { adamw.record(); }),
            "op 'next': 'constants' is [3], neither as the result nor a row of it nor one number");
  const Machine without = load_machine("configs/test8.toml");
  Elements gelu(without);
  gelu.add("Gelu", {gelu.input("x", ElementType::kBf16, {2, 3})}, ElementType::kBf16, "y");
  EXPECT_EQ(error_of([&] { gelu.time(); }), "NPU 'test8' has no vector unit; give it one by vector_groups");
}

/// What TinyBERT's feed-forward and optimizer take on `small` with four lines at once, beside what bounds them.
TEST(ElementPrograms, TakeWhatLanesOrMemoryTake) {
  Machine npu = load_machine("configs/small.toml");
  npu.vector_groups = 4;
  const auto report = [&](const char *name, Elements &e, const KnownValues &known, double bytes, double least) {
    const timing::RunResult run = e.time(known);
    ASSERT_TRUE(run.ok());
    const double elements = static_cast<double>(e.work().rows) * e.work().cols;
    const double lanes = elements / (npu.lanes() * 4.0) * static_cast<double>(e.work().program.sections[1].size());
    const double memory = elements * bytes * static_cast<double>(npu.memory.bytes_den) / npu.memory.bytes_num;
    const double share = std::max(lanes, memory) / static_cast<double>(run.cycles());
    fmt::print("{}: {} cycles; lanes {:.0f}, memory {:.0f}: {:.1f} % of the larger\n", name, run.cycles(), lanes,
               memory, 100 * share);
    EXPECT_GT(share, least);
    EXPECT_LE(share, 1);
  };
  Elements gelu(npu);
  gelu.add("Gelu", {gelu.input("x", ElementType::kBf16, {512, 1200})}, ElementType::kBf16, "y");
  report("Gelu of 512 x 1200", gelu, {}, 4, 0.9);
  Elements adamw(npu);
  const KnownValues known = add_adamw(adamw, {312, 1200});
  report("AdamW of 312 x 1200", adamw, known, 28, 0.9);
}

} // namespace
} // namespace gradweave::compiler
