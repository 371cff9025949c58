// Verilated blocks for tests.
#pragma once

#include <verilated.h>

#include <memory>

namespace gradweave::test {

/// A model in reset. Registers and inputs start as noise, always the same, if it was verilated with "--x-initial
/// unique" (the build of the mutation score is), so that a missing reset shows; else they start as zeros.
template <class Model> std::unique_ptr<Model> make_model() {
  VerilatedContext &context = *Verilated::threadContextp();
  context.randReset(2);
  context.randSeed(1);
  auto model = std::make_unique<Model>();
  model->clk_i = 0;
  model->rst_ni = 1;
  model->eval();
  model->rst_ni = 0; // an edge, so that the registers are reset before the first cycle, as in hardware
  model->eval();
  return model;
}

} // namespace gradweave::test
