// A whole training step from the shapes of its layers.
#pragma once

#include "memory_model/tiles/layer.hpp"

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

namespace gradweave::memory_model {

inline constexpr std::array<Way, 2> kWays{Way::kForward, Way::kBackward};

/// What a prediction takes into account: each rung adds something to the one before.
enum class Rung : std::uint8_t {
  kRoofline, ///< multiply-adds over the array's size; each tensor once
  kBlocks,   ///< results in blocks of the array's size, that fill and drain
  kAccesses, ///< whole DRAM accesses, at least one for each row of each tensor
  kTiles,    ///< what does not stay in the scratchpad moves again; lines around tiles of images
  kOverlap,  ///< what computing and moving do not hide of each other, and the start of each pass: the model
};
inline constexpr std::array<Rung, 5> kRungs{Rung::kRoofline, Rung::kBlocks, Rung::kAccesses, Rung::kTiles,
                                            Rung::kOverlap};
std::string_view to_string(Rung rung);

struct StepEstimate {
  std::vector<std::array<PassEstimate, 2>> layers; ///< forward and back
  double cycles = 0, bytes = 0;
};

/// All layers forward, then back. Layers of a shape are estimated once. Tensors that stay from one layer to the next
/// are not taken into account: each pass begins with all in memory. Throws as estimate_pass() does.
StepEstimate estimate_step(const std::vector<compiler::Layer> &layers, BackOrder order, const gradweave::Machine &npu,
                           const Calibration &calibration = {}, Rung rung = Rung::kOverlap);

} // namespace gradweave::memory_model
