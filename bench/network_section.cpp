#include "app/report/text_format.hpp"
#include "base/process/peak_memory.hpp"
#include "base/process/stopwatch.hpp"
#include "bench/section.hpp"
#include "bench/work/workloads.hpp"
#include "runtime/job/job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

namespace gradweave::bench {
namespace {

constexpr const char *kRow = "{:<24} {:<6} {:>8} {:>10} {:>8} {:>7} {:>8} {:>7} {:>7} {:>9}\n";

struct Workload {
  const char *name, *npu;
  compiler::Pass pass;
  std::uint32_t batch;
  double target_seconds, target_megabytes; ///< simulation alone; the whole process
  double expected_seconds;                 ///< compilation included
};
constexpr Workload kWorkloads[] = {
    {"resnet50 forward, 1", "large", compiler::Pass::kForward, 1, 0.1, 50, 1},
    {"resnet50 training, 4", "small", compiler::Pass::kBoth, 4, 1, 200, 16},
};

/// As `gradweave simulate` does it: each layer is compiled and simulated once.
Json measure(const Workload &w, const std::function<void(double)> &report_progress) {
  const Stopwatch stopwatch;
  const compiler::Network network = load_model("resnet50", w.batch);
  runtime::JobSpec spec;
  spec.network = network.name;
  spec.npu = load_npu(w.npu);
  spec.compile.pass = w.pass;
  spec.backend = runtime::Backend::kTiming;
  std::uint64_t commands = 0, cycles = 0;
  double seconds = 0;
  for (const compiler::Layer &layer : network.layers) {
    spec.layers = {layer};
    const runtime::JobResult run = runtime::run_job(spec);
    if (run.outcome != runtime::Outcome::kPass)
      throw std::runtime_error(fmt::format("{}", fmt::join(run.failures, "\n")));
    commands += run.commands;
    cycles += run.cycles();
    seconds += run.cpu_seconds;
    report_progress((layer.index + 1.0) / static_cast<double>(network.layers.size()));
  }
  return {{"name", w.name},
          {"npu", w.npu},
          {"commands", commands},
          {"cycles", cycles},
          {"seconds", seconds},
          {"target_seconds", w.target_seconds},
          {"megabytes", static_cast<double>(peak_memory_bytes()) / 1e6},
          {"target_megabytes", w.target_megabytes},
          {"compile_seconds", stopwatch.cpu_seconds() - seconds}};
}

class NetworkSection final : public Section {
public:
  std::string title() const override {
    return "Whole networks on the timing model: one cold run of each layer, one thread, CPU time; memory is the peak "
           "of "
           "the\nwhole process, compiler included";
  }
  std::string head() const override {
    return fmt::format(kRow, "network, pass, batch", "NPU", "commands", "cycles", "cyc/s", "s", "target", "MB",
                       "target", "compile s");
  }

  std::vector<Measurement> measurements() const override {
    std::vector<Measurement> all;
    for (const Workload &w : kWorkloads)
      all.push_back({fmt::format("{} on {}", w.name, w.npu), w.expected_seconds,
                     [&w](const auto &report_progress) { return measure(w, report_progress); }});
    return all;
  }

  std::string rows(const Json &m, std::vector<std::string> &missed) const override {
    const double cycles = m["cycles"], seconds = m["seconds"], target_seconds = m["target_seconds"];
    const double megabytes = m["megabytes"], target_megabytes = m["target_megabytes"];
    const std::string name = m["name"], npu = m["npu"];
    if (seconds >= target_seconds)
      missed.push_back(fmt::format("{} on {}: {:.3f} s, target {} s", name, npu, seconds, target_seconds));
    if (megabytes >= target_megabytes)
      missed.push_back(fmt::format("{} on {}: {:.1f} MB, target {} MB", name, npu, megabytes, target_megabytes));
    return fmt::format(kRow, name, npu, runtime::grouped(m["commands"]), runtime::grouped(m["cycles"]),
                       runtime::human(cycles / seconds), fmt::format("{:.4f}", seconds),
                       fmt::format("{}", target_seconds), fmt::format("{:.1f}", megabytes),
                       fmt::format("{}", target_megabytes), fmt::format("{:.1f}", m["compile_seconds"].get<double>()));
  }

  std::string conclusion(const std::vector<Json> & /*measured*/) const override { return {}; }
};

} // namespace

std::unique_ptr<Section> network_section() { return std::make_unique<NetworkSection>(); }

} // namespace gradweave::bench
