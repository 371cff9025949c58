// Compiled training steps, measured: what the memory model is compared with.
#pragma once

#include "compiler/compiler.hpp"
#include "memory_model/tiles/step.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gradweave::runtime {

/// What a layer's pass moves in the stream.
struct MeasuredPass {
  memory_model::Moves moves;
  double commands = 0;
};

/// A step in one stream.
struct MeasuredStep {
  std::string name; ///< of the network
  std::vector<compiler::Layer> layers;
  Machine npu;
  memory_model::BackOrder order = memory_model::BackOrder::kByShape; ///< that the schedule chooses by
  std::uint64_t cycles = 0;                                          ///< by the exact timing model
  std::vector<std::array<MeasuredPass, 2>> passes;                   ///< of each layer, forward and back

  double bytes() const; ///< of LOADs and STOREs, in whole DRAM accesses
};

/// Compiles all layers, forward and back, into one stream, and counts what it does. Of `options` the pass and the
/// stream are set. Plans are searched in so many threads; `store` may be null; `tick` is called now and then, and may
/// throw. Device memory is taken to be large enough. Throws as compile() does.
MeasuredStep measure_step(const std::string &name, const std::vector<compiler::Layer> &layers, const Machine &npu,
                          compiler::CompileOptions options, compiler::PlanStore *store, unsigned threads,
                          const std::function<void()> &tick = {});

} // namespace gradweave::runtime
