// Watches the Verilated NPU of a coverage build for functional bins, and writes what was counted at its end.
#pragma once

#include "tests/coverage/functional.hpp"

#include <memory>

class Vnpu;
class VerilatedContext;

namespace gradweave::coverage {

class VerilatedProbe {
public:
  VerilatedProbe(Vnpu &top, VerilatedContext &context) : top_(top), context_(context) {}
  /// Writes <pid>-<n>.dat (Verilator's lines and toggles) and <pid>-<n>.bins into $GRADWEAVE_COVERAGE_DIR, if it is
  /// set.
  ~VerilatedProbe();

  /// After the evaluation of each rising edge.
  void after_edge();

private:
  Vnpu &top_;
  VerilatedContext &context_;
  Sample sample_;
  std::unique_ptr<FunctionalCoverage> coverage_; ///< from the first edge on: sizes are in the probe's registers
};

} // namespace gradweave::coverage
