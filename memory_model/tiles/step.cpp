#include "memory_model/tiles/step.hpp"

#include "graph/layer_fingerprint.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace gradweave::memory_model {
namespace {

using compiler::Layer;

/// A pass whose tensors are each moved once, tiles and all that follows from them left out.
PassEstimate once(const Layer &layer, Way way, const gradweave::Machine &npu, Rung rung) {
  const std::vector<Result> results = results_of(layer, way);
  gradweave::Machine memory = npu;
  if (rung < Rung::kAccesses) memory.memory.access_bytes = 1;
  // Without images K counts channels, of which a pass back has those of a tap.
  const std::uint32_t taps = taps_of(layer), channels = layer.k / taps;
  const bool forward = way == Way::kForward;
  const Sides whole{std::vector<Side>{{layer.m, layer.m}}, std::vector<Side>{{forward ? layer.k : channels, channels}},
                    std::vector<Side>{{!forward && layer.dx ? layer.n * taps : layer.n, layer.n}}};
  PassEstimate pass;
  for (const Result result : results) {
    const Product p = product_of(layer, result, whole, memory);
    const LoopOrder any{kM, kK, kN};
    std::vector<Stream> streams;
    for (const CutTensor *tensor : {&p.shared, &p.other, &p.sum})
      if (tensor != &p.shared || result == results.front()) add_streams(streams, *tensor, p, any, {});
    for (const Stream &stream : streams)
      pass.moves += stream.once;
    pass.array_cycles += rung == Rung::kRoofline ? compiler::macs(layer) / (static_cast<double>(npu.rows) * npu.cols)
                                                 : p.steps[kM][0] * p.steps[kK][0] * p.steps[kN][0];
  }
  pass.moves.load_cycles = pass.moves.store_cycles = 0;
  pass.cycles = std::max(pass.array_cycles, bus_cycles(pass.moves, 0, npu));
  return pass;
}

PassEstimate estimate(const Layer &layer, Way way, BackOrder order, const gradweave::Machine &npu,
                      const Calibration &calibration, Rung rung) {
  if (rung < Rung::kTiles) return once(layer, way, npu, rung);
  PassEstimate pass = estimate_pass(layer, way, order, npu, calibration);
  if (rung == Rung::kTiles) pass.cycles = std::max(pass.array_cycles, bus_cycles(pass.moves, pass.commands, npu));
  return pass;
}

} // namespace

std::string_view to_string(Rung rung) {
  constexpr std::array<std::string_view, kRungs.size()> kNames{"roofline", "blocks", "accesses", "tiles", "overlap"};
  return kNames[static_cast<std::size_t>(rung)];
}

StepEstimate estimate_step(const std::vector<Layer> &layers, BackOrder order, const gradweave::Machine &npu,
                           const Calibration &calibration, Rung rung) {
  std::map<std::string, std::array<PassEstimate, 2>> known; // by shape
  StepEstimate step;
  for (const Layer &layer : layers) {
    const auto [at, is_new] = known.try_emplace(compiler::shape_fingerprint(layer).hex());
    if (is_new)
      for (const Way way : kWays)
        at->second[static_cast<std::size_t>(way)] = estimate(layer, way, order, npu, calibration, rung);
    for (const PassEstimate &pass : at->second) {
      step.cycles += pass.cycles;
      step.bytes += pass.moves.bytes();
    }
    step.layers.push_back(at->second);
  }
  return step;
}

} // namespace gradweave::memory_model
