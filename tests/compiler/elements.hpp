// Operators of elements as commands, run and compared with the graph's golden execution.
#pragma once

#include "base/random/dice.hpp"
#include "compiler/elements/tile_elements.hpp"
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

constexpr std::uint64_t kElementsSeed = 271;
constexpr std::uint64_t kDataAt = 0x10000;

/// Runs a stream that lies in the memory from `at` on; false if it does not end well.
using RunStream =
    std::function<bool(const Machine &, DeviceMemory &, const std::vector<isa::Command> &, std::uint64_t at)>;

inline bool run_functional(const Machine &npu, DeviceMemory &memory, const std::vector<isa::Command> &stream,
                           std::uint64_t at) {
  memory.write(at, stream.data(), stream.size() * isa::kCommandBytes);
  FunctionalNpu model(npu, memory);
  model.start(at, static_cast<std::uint32_t>(stream.size()));
  return model.run().done;
}

/// A graph of ops of elements, its values, and where they lie.
class Elements {
public:
  explicit Elements(const Machine &npu) : npu_(npu) {}

  graph::Builder &builder() { return builder_; }
  graph::Graph &graph() { return graph_; }
  graph::TensorId input(const std::string &name, graph::ElementType type, graph::Shape shape) {
    return builder_.input(name, type, std::move(shape));
  }
  graph::TensorId add(const std::string &op, const std::vector<graph::TensorId> &inputs, graph::ElementType type,
                      const std::string &name) {
    const graph::TensorId out = builder_.add(op, inputs, {}, name);
    for (const graph::TensorId id : graph_.ops.back().outputs)
      graph_.tensors[id].type = type;
    return out;
  }

  ElementProgram record(const KnownValues &known = {}) const {
    std::vector<graph::OpId> ops(graph_.ops.size());
    for (graph::OpId i = 0; i < ops.size(); ++i)
      ops[i] = i;
    return record_elements(graph_, ops, known);
  }

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

  /// Values of inputs that are not known are drawn.
  void check(const KnownValues &known = {}, const RunStream &run = run_functional) {
    const std::vector<isa::Command> stream = commands(known);
    ASSERT_EQ(first_hazard(stream), "");
    Dice dice(kElementsSeed);
    graph::ExecutionOptions options;
    options.keep = [](graph::TensorId) { return true; };
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
    ASSERT_TRUE(run(npu_, memory, stream, end_));
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
      ASSERT_EQ(got, bits_of_fp32(right[i]))
          << graph_.tensors[e.tensor].name << " element " << i << ", seed " << kElementsSeed;
    }
  }

  const Machine &npu_;
  graph::Graph graph_;
  graph::Builder builder_{graph_, graph::operators()};
  ElementProgram work_;
  ElementAddresses addresses_;
  std::uint64_t end_ = 0;
};

/// w, m and v of the next step; the constants of the step are known.
inline KnownValues add_adamw(Elements &e, const graph::Shape &shape) {
  std::vector<graph::TensorId> inputs;
  for (const char *name : {"w", "g", "m", "v"})
    inputs.push_back(e.input(name, graph::ElementType::kFp32, shape));
  const graph::TensorId constants = e.input("constants", graph::ElementType::kFp32, {3});
  inputs.push_back(constants);
  e.add("AdamW", inputs, graph::ElementType::kFp32, "next");
  return {{constants, {1e-3F, 10.0F, 1000.0F}}};
}

} // namespace gradweave::compiler
