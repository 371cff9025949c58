// How much work the search for a layer's plans does, and where it begins.
#pragma once

#include "compiler/ir/program.hpp"

#include <cstdint>
#include <vector>

namespace gradweave::compiler {

/// Program::work() of the usual search for a layer's first plans.
inline constexpr std::uint64_t kUsualWork = 500'000;

/// Of a search for plans of the same phases.
struct LayerEffort {
  /// Program::work() that the search for a layer's first plans may do at most; sets its run time. The phases share it.
  std::uint64_t work;
  /// Of a phase: tilings that are tried with other splits, windows and policies.
  std::size_t tilings;
  /// Part of a phase's work in which tilings are looked for: one over this.
  std::uint64_t tiling_part;
  /// Load window of a tiling's first trial.
  std::uint32_t first_window;
  /// Plans that are kept to be changed.
  std::size_t kept;
  /// Whether of plans with the same tiles only the best is kept.
  bool one_of_a_tiling;
  /// Changes of plans that are tried where the usual number is asked for.
  std::uint64_t changes;
  /// Whether a plan is simulated only if its estimate promises that it is kept (forecast.hpp).
  bool forecasts;
};

/// Whether the one phase is of the forward and the other of the backward pass.
bool turns(PhaseKind one, PhaseKind other);

/// Of plans of a layer's phases, in their order. Lives as long as the process.
const LayerEffort &effort_for(const std::vector<PhaseKind> &kinds);

/// Changes that are tried where `asked` are asked for: in proportion, but where few are asked for no fewer than that.
std::uint64_t changes_of(std::uint64_t asked, const LayerEffort &effort);

} // namespace gradweave::compiler
