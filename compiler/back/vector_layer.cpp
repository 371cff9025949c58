#include "compiler/back/vector_layer.hpp"

#include "compiler/back/vector_room.hpp"
#include "compiler/back/vector_section.hpp"
#include "compiler/cost/bounds.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "compiler/lower/layout.hpp"
#include "compiler/request/error.hpp"
#include "compiler/vector_stream/job_commands.hpp"
#include "compiler/verify/verify_hazards.hpp"
#include "graph/layer_fingerprint.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace gradweave::compiler {
namespace {

/// Times its bound, at most, that a depthwise layer is taken to need on the array: those measured take 2.4 and more
/// (docs/convolution.md).
constexpr std::uint64_t kArrayAboveBound = 2;

/// The tensors of a pass, rows side by side.
Layout dense_layout(const Layer &layer, Pass pass, const NpuConfig &npu) {
  Layout layout = make_layout({layer}, pass, npu);
  for (TensorBinding &b : layout.tensors)
    b.pitch = b.cols * (b.fp32 ? 4 : 2);
  return layout;
}

class VectorLayer {
public:
  VectorLayer(const Layer &layer, Pass pass, const Machine &npu) : npu_(npu) {
    compiled_.layers = {layer};
    compiled_.jobs = pass;
    compiled_.layout = dense_layout(compiled_.layer(), pass, npu);
    compiled_.dram_bytes = compiled_.layout.bytes;
    compiled_.reductions.resize(1);
    compiled_.traffic.resize(1);
    compiled_.tilings = {"vector unit"};
  }

  Compiled run() {
    for (const Tensor result : vector_results(compiled_.layer(), compiled_.jobs.pass_of(0)))
      add(result);
    verify();
    check_room(compiled_.layers, {compiled_.dram_bytes, compiled_.stream.size()}, npu_);
    const timing::RunResult times = timing::run(npu_, compiled_.stream);
    if (!times.ok()) fail("the timing model's run does not end");
    compiled_.predicted_cycles = times.cycles();
    compiled_.accesses = times.accesses;
    compiled_.bounds = lower_bounds(compiled_.layers, compiled_.jobs, compiled_.layout, npu_);
    return std::move(compiled_);
  }

private:
  [[noreturn]] void fail(const std::string &problem) const {
    throw CompilerDefect(fmt::format("layer '{}': defect in the compiler, found in commands of the vector unit: {}; "
                                     "please report it",
                                     compiled_.layer().name, problem));
  }

  void add(Tensor result) {
    const Layer &layer = compiled_.layer();
    compiled_.useful_macs += std::uint64_t{layer.m} * layer.k * layer.n * layer.groups;
    if (!compiled_.stream.empty()) add_barrier(result);
    const auto section = vector_section(layer, 0, result, compiled_.layout, {npu_, 0, 0});
    for (const VectorPiece &piece : section->pieces) {
      for (std::size_t i = 0; i < piece.commands.size(); ++i)
        put(piece.commands[i], piece.info[i]);
      for (const auto &[of, moved] : piece.traffic)
        for (std::size_t t = 0; t < kTensorCount; ++t)
          compiled_.traffic[of][t] += moved[t];
    }
  }

  void put(const isa::Command &command, const CommandInfo &info) {
    compiled_.stream.push_back(command);
    compiled_.info.push_back(info);
  }

  /// What the first product stores the second one may read: all of it is in memory.
  void add_barrier(Tensor next) {
    const std::uint8_t token = barrier_semaphore(npu_);
    isa::Decoded stored, load;
    stored.op = isa::SyncCommand{static_cast<std::uint8_t>(isa::Engine::STORE)};
    stored.sync.posts[0] = token;
    load.op = isa::SyncCommand{static_cast<std::uint8_t>(isa::Engine::LOAD)};
    load.sync.waits[0] = {token, 1};
    put(isa::encode(stored), CommandInfo{next});
    put(isa::encode(load), CommandInfo{next});
  }

  void verify() const {
    SyncReplay sync(npu_);
    HazardReplay hazards(npu_);
    for (std::size_t i = 0; i < compiled_.stream.size(); ++i) {
      const isa::Decoded d = *isa::decode(compiled_.stream[i]);
      for (const std::string &problem : {sync.step(d), hazards.step(i, d, sync)})
        if (!problem.empty()) fail(fmt::format("command {}: {}", i, problem));
    }
    if (const std::string problem = sync.finish(); !problem.empty()) fail(problem);
  }

  const Machine &npu_;
  Compiled compiled_;
};

/// Cycles of a layer on the vector unit.
std::uint64_t unit_cycles(const Layer &layer, Pass pass, const Machine &npu) {
  Machine roomy = npu; // what has no room is refused when it is compiled
  roomy.memory.size_bytes = ~std::uint64_t{0};
  return compile_vector_layer(layer, pass, roomy).predicted_cycles;
}

/// Of layers that can be the unit's, those that are faster there.
template <typename CanTake>
void choose(std::vector<Layer> &layers, Pass pass, const Machine &npu, const CanTake &can_take) {
  std::map<std::string, bool> known; // by shape
  for (Layer &layer : layers) {
    if (!can_take(layer)) continue;
    const Layer other = on_vector_unit(layer);
    const auto [at, is_new] = known.try_emplace(shape_fingerprint(layer).hex() + shape_fingerprint(other).hex());
    if (is_new) at->second = unit_cycles(other, pass, npu) <= kArrayAboveBound * layer_bound(layer, pass, npu);
    if (at->second) layer = other;
  }
}

} // namespace

void choose_vector_layers(std::vector<Layer> &layers, Pass pass, const Machine &npu) {
  choose(layers, pass, npu, [&](const Layer &layer) { return takes_vector_unit(layer, pass, npu); });
}

void choose_vector_layers_of_step(std::vector<Layer> &layers, Pass pass, const Machine &npu) {
  const std::optional<VectorRoom> room = largest_room(npu);
  choose(layers, pass, npu, [&](const Layer &layer) { return room && fits_room(layer, pass, *room); });
}

Compiled compile_vector_layer(const Layer &layer, Pass pass, const Machine &npu) {
  return VectorLayer(layer, pass, npu).run();
}

} // namespace gradweave::compiler
