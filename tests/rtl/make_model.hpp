// Verilated blocks for tests.
#pragma once

#include <verilated.h>

#include <memory>

namespace gradweave::test {

/// A model whose registers start as noise, always the same, if it was verilated with "--x-initial unique" (the build of
/// the mutation score is), so that a missing reset shows; else they start as zeros.
template <class Model> std::unique_ptr<Model> make_model() {
  VerilatedContext &context = *Verilated::threadContextp();
  context.randReset(2);
  context.randSeed(1);
  return std::make_unique<Model>();
}

} // namespace gradweave::test
