// The memory model beside measured steps.
#pragma once

#include "app/validate/memory/measured_step.hpp"

#include <array>
#include <vector>

namespace gradweave::runtime {

struct Prediction {
  double cycles = 0, bytes = 0;
};

/// A measured step, and what is predicted of it from shapes and machine alone, but for `given`.
struct Comparison {
  const MeasuredStep *step = nullptr;
  std::array<Prediction, memory_model::kRungs.size()> rungs; ///< the last one is the model
  Prediction given;     ///< the model with what the stream moves in place of its own traffic
  Prediction elsewhere; ///< the model with constants that were fitted to the steps of other networks alone

  const Prediction &model() const { return rungs.back(); }
  /// Of what was measured: 0.1 is too much by a tenth.
  double cycles_error(const Prediction &prediction) const;
  double bytes_error(const Prediction &prediction) const;
};

/// Sizes of errors over several comparisons.
struct ErrorSize {
  double mean = 0, worst = 0;
  void add(double error, std::size_t of);
};

struct Comparisons {
  std::vector<Comparison> steps;
  memory_model::Calibration fitted; ///< the constants that fit all steps best
};

/// Compares each step, which have to outlive what is returned. For each network, constants are fitted to the steps of
/// all others, if there are any: those of a grid whose errors of time are the smallest on average. Throws as
/// estimate_step() does.
Comparisons compare(const std::vector<MeasuredStep> &steps, unsigned threads);

} // namespace gradweave::runtime
