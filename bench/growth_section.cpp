#include "app/report/text_format.hpp"
#include "base/process/peak_memory.hpp"
#include "bench/growth.hpp"
#include "bench/section.hpp"
#include "bench/work/run_timer.hpp"
#include "bench/work/streams.hpp"
#include "bench/work/workloads.hpp"
#include "sw_models/timing/timing_model.hpp"

#include <fmt/format.h>

#include <fstream>
#include <malloc.h>
#include <stdexcept>

namespace gradweave::bench {
namespace {

constexpr const char *kRow = "{:<22} {:<6} {:>9} {:>10} {:>11} {:>9} {:>9} {:>8} {:>7}\n";
constexpr double kSeconds = 1; ///< of repeated runs, at least

/// What the making of the stream needed is not counted.
void forget_peak_memory() {
  ::malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5; // resets VmHWM
}

Json measure(const Machine &npu, const std::vector<isa::Command> &stream) {
  timing::RunOptions options;
  options.stream_addr = npu.memory.size_bytes / 2; // the streams' data lie below
  forget_peak_memory();
  std::uint64_t cycles = 0;
  RunTimer timer;
  timer.repeat_for(kSeconds, [&] {
    const timing::RunResult run = timing::run(npu, stream, options);
    if (!run.ok()) throw std::runtime_error("the NPU stopped with an error");
    cycles = run.cycles();
  });
  return {
      {"npu", npu.name},  {"commands", stream.size()},  {"bursts", count_bursts(stream, npu)},
      {"cycles", cycles}, {"seconds", timer.seconds()}, {"megabytes", static_cast<double>(peak_memory_bytes()) / 1e6}};
}

struct Series {
  const char *name, *row, *npu;     ///< `row`: before the size in the name of a row
  std::vector<std::uint32_t> sizes; ///< side of the tiles, or commands
  double expected_seconds;          ///< to make the longest
  std::vector<isa::Command> (*make)(const Machine &npu, std::uint32_t size);
};

std::vector<isa::Command> gemm_of_3072(const Machine &npu, std::uint32_t tile) { return tiled_gemm(npu, 3072, tile); }

const std::vector<Series> &all_series() {
  static const std::vector<Series> series{
      {"the same GEMM", "GEMM 3072^3, tile", "large", {768, 384, 192, 128, 64}, 4, gemm_of_3072},
      {"random streams", "random", "small", {100, 1'000, 10'000, 100'000, 1'000'000}, 2, random_stream}};
  return series;
}

class GrowthSection final : public Section {
public:
  std::string title() const override {
    return "What commands cost the timing model: the same GEMM cut into ever smaller tiles, and random streams of ever "
           "more\ncommands; one thread, CPU time, average of repeated runs; memory is the peak of a process that holds "
           "the stream";
  }
  std::string head() const override {
    return fmt::format(kRow, "stream", "NPU", "commands", "bursts", "cycles", "s", "ns/cmd", "ns/burst", "MB");
  }

  std::vector<Measurement> measurements() const override {
    std::vector<Measurement> all;
    for (const Series &series : all_series())
      for (const std::uint32_t size : series.sizes) {
        const double share = size == series.sizes.back() ? series.expected_seconds : 0;
        all.push_back({fmt::format("{} {}", series.row, size), kSeconds + share, [&series, size](const auto &) {
                         const Machine npu = load_npu(series.npu);
                         Json measured = measure(npu, series.make(npu, size));
                         measured["series"] = series.name;
                         measured["name"] = fmt::format("{} {}", series.row, size);
                         return measured;
                       }});
      }
    return all;
  }

  std::string rows(const Json &m, std::vector<std::string> & /*missed*/) const override {
    const double seconds = m["seconds"], commands = m["commands"], bursts = m["bursts"];
    return fmt::format(kRow, m["name"].get<std::string>(), m["npu"].get<std::string>(), runtime::grouped(m["commands"]),
                       runtime::grouped(m["bursts"]), runtime::grouped(m["cycles"]), fmt::format("{:.5f}", seconds),
                       fmt::format("{:.0f}", 1e9 * seconds / commands), fmt::format("{:.1f}", 1e9 * seconds / bursts),
                       fmt::format("{:.1f}", m["megabytes"].get<double>()));
  }

  std::string conclusion(const std::vector<Json> &measured) const override {
    std::string text;
    for (const Series &series : all_series()) {
      const std::vector<const Json *> points = points_of(measured, series.name);
      if (points.size() < 2) continue; // measurements failed
      text += fmt::format("{}: seconds grow as commands^{:.2f} and as bursts^{:.2f}\n", series.name,
                          exponent(points, "commands"), exponent(points, "bursts"));
    }
    return text + "(power 1: linear)\n";
  }
};

} // namespace

std::unique_ptr<Section> growth_section() { return std::make_unique<GrowthSection>(); }

} // namespace gradweave::bench
