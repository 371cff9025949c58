// What a layer's passes move and take, from its shape and the machine alone.
#pragma once

#include "memory_model/tiles/nest.hpp"

#include <string>
#include <vector>

namespace gradweave::memory_model {

/// In which order a way back computes dX and dW.
enum class BackOrder : std::uint8_t {
  kByShape, ///< as Algorithm 1 of igo_micro23 chooses among three that share dY
  kFastest, ///< the fastest of these, and of dX before dW
};

/// What the model has to be told, since it follows no command: shares. The values are fitted
/// to compiled steps (docs/memory-model.md#against-the-exact-cycle-model).
struct Calibration {
  double serial = 0.08; ///< of the smaller one of computing and moving, what the larger one does not hide
  double exposed = 0.2; ///< the same of moves for which there is no room ahead
};

/// A pass of a layer: forward, or back.
struct PassEstimate {
  Moves moves;
  double array_cycles = 0;
  double commands = 0;
  double ahead = 0; ///< share of the tiles at work that have room for the next ones beside them
  double cycles = 0;
  std::string order; ///< of its loops and its tiles, for people: "mnk 512 x 64 x 128"
};

/// Cycles of the DRAM, or of the port that takes longer, for moves and commands.
double bus_cycles(const Moves &moves, double commands, const gradweave::Machine &npu);
/// Cycles of a pass that computes so long and moves so long.
double pass_cycles(double array_cycles, double bus_cycles, double ahead, const gradweave::Machine &npu,
                   const Calibration &calibration);

/// The fastest way to cut a pass of a layer. Throws std::invalid_argument naming the layer if no tiles fit.
PassEstimate estimate_pass(const compiler::Layer &layer, Way way, BackOrder order, const gradweave::Machine &npu,
                           const Calibration &calibration);

/// The results that a pass of a layer computes.
std::vector<Result> results_of(const compiler::Layer &layer, Way way);

} // namespace gradweave::memory_model
