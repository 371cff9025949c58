#include "bench/array_rate.hpp"
#include "bench/section.hpp"
#include "bench/work/workloads.hpp"
#include "runtime/job/job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

namespace gradweave::bench {
namespace {

constexpr const char *kRow = "{:<28} {:>10} {:>12} {:>12} {:>8}\n";

runtime::JobResult run(const char *npu, const compiler::Layer &layer, compiler::Partition partition) {
  runtime::JobSpec spec;
  spec.network = "bench";
  spec.layers = {layer};
  spec.npu = load_npu(npu);
  spec.compile.pass = compiler::Pass::kForward;
  spec.compile.partition = partition;
  runtime::JobResult result = runtime::run_job(spec);
  if (result.outcome != runtime::Outcome::kPass)
    throw std::runtime_error(fmt::format("{}", fmt::join(result.failures, "\n")));
  return result;
}

/// Four cores that share a scratchpad.
constexpr const char *kCores = "flexer5";
constexpr std::uint32_t kM = 2048, kK = 512, kN = 512;

Json measure_cores() {
  compiler::Layer layer;
  layer.name = "gemm_cores";
  layer.m = kM;
  layer.k = kK;
  layer.n = kN;
  const runtime::JobResult result = run(kCores, layer, compiler::Partition::kWeightSharing);
  return {
      {"npu", kCores}, {"macs", 1.0 * kM * kK * kN}, {"cycles", result.cycles()}, {"cpu_seconds", result.cpu_seconds}};
}

Json measure(const BusyGemm &gemm) {
  const ArrayRate array = array_rate(gemm.size);
  const runtime::JobResult run = bench::run(gemm.npu, gemm.layer, compiler::Partition::kNone);
  return {{"npu", gemm.npu},
          {"size", gemm.size},
          {"busy_rate", array.busy_cycles_per_s},
          {"idle_rate", array.idle_cycles_per_s},
          {"lines", run.counters[isa::Counter::COMPUTE_ACTIVE]},
          {"cycles", run.cycles()},
          {"cpu_seconds", run.cpu_seconds}};
}

std::string row_of_cores(const Json &m) {
  const Machine npu = load_npu(m["npu"].get<std::string>());
  const double macs = m["macs"], cycles = m["cycles"], cpu = m["cpu_seconds"];
  const double pes = 1.0 * npu.cores * npu.rows * npu.cols;
  return fmt::format(kRow, fmt::format("NPU {} ({:.0f} % array-busy)", npu.name, 100 * macs / pes / cycles),
                     fmt::format("{} {}x{}", npu.cores, npu.rows, npu.cols), fmt::format("{:.0f}", macs / cpu / 1e6),
                     fmt::format("{:.0f}", cycles / cpu), "");
}

class RtlSection final : public Section {
public:
  std::string title() const override {
    return "Synthesizable RTL, bf16 x bf16 + fp32 fused, one thread, CPU time; every result bit of the NPU runs "
           "checked";
  }
  std::string head() const override { return fmt::format(kRow, "what", "array", "10^6 MAC/s", "cycles/s", "outside"); }

  std::vector<Measurement> measurements() const override {
    std::vector<Measurement> all;
    for (const BusyGemm &gemm : busy_gemms())
      all.push_back({fmt::format("RTL of {}", gemm.npu), 8, [&gemm](const auto &) { return measure(gemm); }});
    all.push_back({fmt::format("RTL of {}", kCores), 8, [](const auto &) { return measure_cores(); }});
    return all;
  }

  std::string rows(const Json &m, std::vector<std::string> & /*missed*/) const override {
    if (m.contains("macs")) return row_of_cores(m);
    const int size = m["size"];
    const double busy = m["busy_rate"], cycles = m["cycles"], lines = m["lines"], cpu = m["cpu_seconds"];
    const double pes = 1.0 * size * size;
    const std::string shape = fmt::format("{0}x{0}", size);
    return fmt::format(kRow, "array alone, busy", shape, fmt::format("{:.0f}", busy * pes / 1e6),
                       fmt::format("{:.0f}", busy), "") +
           fmt::format(kRow, "array alone, idle", shape, "", fmt::format("{:.0f}", m["idle_rate"].get<double>()), "") +
           fmt::format(kRow,
                       fmt::format("NPU {} ({:.0f} % array-busy)", m["npu"].get<std::string>(), 100 * lines / cycles),
                       shape, fmt::format("{:.0f}", lines * pes / cpu / 1e6), fmt::format("{:.0f}", cycles / cpu),
                       fmt::format("{:.0f} %", 100 * (1 - lines / busy / cpu)));
  }

  std::string conclusion(const std::vector<Json> & /*measured*/) const override {
    return "outside: share of the time that is not the array's own: scratchpad, DMA, control, bus, DRAM model, "
           "SystemC\n";
  }
};

} // namespace

std::unique_ptr<Section> rtl_section() { return std::make_unique<RtlSection>(); }

} // namespace gradweave::bench
