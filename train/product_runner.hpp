// The products of a step on a device: compiled once, run pass by pass.
#pragma once

#include "compiler/compiler.hpp"
#include "device/backend.hpp"
#include "graph/golden/execution.hpp"
#include "runtime/data/tensor.hpp"
#include "sw_models/energy/access_counts.hpp"
#include "train/product_plan.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gradweave::runtime::train {

/// What products run on.
struct ProductOptions {
  Backend backend = Backend::kFunctional;
  compiler::CompileOptions compile; ///< the pass apart, which each product has of its own
  PlanOptions plan = {};
};

/// Of the streams of a step.
struct ProductTotals {
  std::uint64_t streams = 0, commands = 0;
  std::uint64_t cycles = 0; ///< of all streams one after another; 0 if the backend has no time
  std::uint64_t multiply_adds = 0;
  std::uint64_t read_bytes = 0, write_bytes = 0; ///< device memory, commands apart
  AccessCounts accesses;

  /// Adds a stream that took so many cycles.
  void add(const compiler::Compiled &compiled, std::uint64_t cycles_taken);
};

/// Compiles all passes of a plan for a device and runs them there, each in the same place of its memory.
class ProductRunner {
public:
  using Values = graph::Execution<graph::Contract>;

  /// Layers of one shape are compiled once. All must outlive this. Throws compiler::CompileError, and DeviceError if
  /// the device's memory is too small.
  ProductRunner(const ProductPlan &plan, Device &device, const ProductOptions &options);
  /// What another one compiled, for a device like its own.
  ProductRunner(const ProductRunner &other, Device &device);

  /// Runs plan.passes[pass] on operands out of `values`. Of a backend with data the results are put back; of one
  /// without, the ops that it completes run by their golden definition. Returns what is wrong: a stop of the NPU,
  /// counters that are not those planned, cycles that are not those predicted; empty if nothing is. `progress`: as of
  /// Device::wait().
  std::vector<std::string> run(std::size_t pass, Values &values, const ProgressFunction &progress);

  const ProductTotals &totals() const { return totals_; }
  void reset_totals() { totals_ = {}; }
  double compile_seconds() const { return compile_seconds_; }

private:
  const ProductPlan &plan_;
  Device &device_;
  ProductOptions options_;
  std::shared_ptr<const std::vector<compiler::Compiled>> compiled_; ///< of each pass
  std::uint64_t bytes_ = 1, base_ = 0;
  double compile_seconds_ = 0;
  ProductTotals totals_;
};

} // namespace gradweave::runtime::train
