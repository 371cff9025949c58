// `make bench`: how fast float RTL simulates on one thread. First the array alone, then the whole NPU in its SystemC
// testbench on a GEMM that keeps the array busy, and what part of the time is spent outside the array.
#include "bench/array_rate.hpp"
#include "runtime/job.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace gradweave;

constexpr const char *kRow = "{:<28} {:>10} {:>12} {:>12} {:>8}\n";

struct Workload {
  const char *npu;
  int size;
  compiler::Layer layer;
};

/// Runs the GEMM on the RTL and prints its row; false if the run failed its checks.
bool bench_npu(const Workload &w, const bench::ArrayRate &array) {
  runtime::JobSpec s;
  s.network = "bench";
  s.layer = w.layer;
  s.npu = load_npu_config(fmt::format("{}/configs/{}.toml", GW_SOURCE_DIR, w.npu));
  s.compile.pass = compiler::Pass::kForward;
  const runtime::JobResult r = runtime::run_job(s);
  for (const std::string &failure : r.failures)
    fmt::print(stderr, "{}\n", failure);
  if (r.outcome != runtime::Outcome::kPass) return false;

  const auto lines = static_cast<double>(r.counters[isa::Counter::COMPUTE_ACTIVE]);
  const double pes = static_cast<double>(w.size) * w.size;
  const double in_array = lines / array.busy_cycles_per_s;
  fmt::print(kRow, fmt::format("NPU {} ({:.0f} % array-busy)", w.npu, 100 * lines / static_cast<double>(r.cycles())),
             fmt::format("{0}x{0}", w.size), fmt::format("{:.0f}", lines * pes / r.cpu_seconds / 1e6),
             fmt::format("{:.0f}", static_cast<double>(r.cycles()) / r.cpu_seconds),
             fmt::format("{:.0f} %", 100 * (1 - in_array / r.cpu_seconds)));
  return true;
}

/// A process can hold one RTL device.
bool in_child(const Workload &w, const bench::ArrayRate &array) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const bool ok = bench_npu(w, array);
    std::fflush(stdout);
    _exit(ok ? 0 : 1);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

} // namespace

int main() {
  fmt::print(
      "Synthesizable RTL, bf16 x bf16 + fp32 fused, one thread, CPU time; every result bit of the NPU runs checked\n");
  fmt::print(kRow, "what", "array", "10^6 MAC/s", "cycles/s", "outside");
  bool ok = true;
  for (const Workload &w : {Workload{"small", 45, {"gemm_small", 2700, 900, 450, false, 0}},
                            Workload{"large", 128, {"gemm_large", 1024, 1024, 1024, false, 0}}}) {
    const bench::ArrayRate array = bench::array_rate(w.size);
    fmt::print(kRow, "array alone, busy", fmt::format("{0}x{0}", w.size),
               fmt::format("{:.0f}", array.busy_cycles_per_s * w.size * w.size / 1e6),
               fmt::format("{:.0f}", array.busy_cycles_per_s), "");
    fmt::print(kRow, "array alone, idle", fmt::format("{0}x{0}", w.size), "",
               fmt::format("{:.0f}", array.idle_cycles_per_s), "");
    ok = in_child(w, array) && ok;
  }
  fmt::print(
      "outside: share of the time that is not the array's own: scratchpad, DMA, control, bus, DRAM model, SystemC\n");
  return ok ? 0 : 1;
}
