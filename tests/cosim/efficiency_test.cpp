// The NPU reaches what its configuration promises: a compute-bound GEMM the block formula of the array, a memory-bound
// one the DRAM bandwidth. Cycles are the hardware's and repeatable; no clock of the host is involved.
#include "runtime/job/job.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace gradweave::runtime {
namespace {

JobResult run(const compiler::Layer &layer, compiler::Pass pass) {
  JobSpec s;
  s.network = "efficiency";
  s.layers = {layer};
  s.npu = load_machine("configs/small.toml");
  s.compile.pass = pass;
  JobResult r = run_job(s);
  EXPECT_EQ(r.outcome, Outcome::kPass) << fmt::format("{}", fmt::join(r.failures, "; "));
  return r;
}

TEST(Efficiency, AComputeBoundGemmReachesTheBlockFormula) {
  // X streams past a resident W; the array needs twice the cycles that the memory does.
  const JobResult r = run({"compute_bound", 4500, 900, 450, false, 0}, compiler::Pass::kForward);
  const double share = static_cast<double>(r.compute_cycles) / static_cast<double>(r.cycles());
  fmt::print("block formula {} cycles, measured {}: {:.4f}\n", r.compute_cycles, r.cycles(), share);
  EXPECT_GT(share, 0.95);
  const double busy = static_cast<double>(r.counters[isa::Counter::COMPUTE_ACTIVE]) / static_cast<double>(r.cycles());
  EXPECT_GT(busy, 0.95) << "the formula must not be met by padding short blocks";
}

TEST(Efficiency, AMemoryBoundGemmReachesTheBandwidth) {
  const JobResult r = run({"memory_bound", 4, 1024, 1024, true, 1}, compiler::Pass::kBackward);
  const Machine npu = load_machine("configs/small.toml");
  const auto beats = static_cast<double>(r.counters[isa::Counter::READ_BEATS] + r.counters[isa::Counter::WRITE_BEATS] +
                                         r.counters[isa::Counter::FETCH_BEATS]);
  const auto bytes = static_cast<double>(r.counters[isa::Counter::READ_BYTES] + r.counters[isa::Counter::WRITE_BYTES]);
  const double peak = static_cast<double>(npu.memory.bytes_num) / static_cast<double>(npu.memory.bytes_den);
  const double cycles = static_cast<double>(r.cycles());
  fmt::print("bus {:.4f} of the bandwidth, tensor data alone {:.4f}\n", beats * npu.bus_bytes / cycles / peak,
             bytes / cycles / peak);
  EXPECT_GT(bytes / cycles / peak, 0.95);
}

} // namespace
} // namespace gradweave::runtime
