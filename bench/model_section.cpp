#include "app/report/text_format.hpp"
#include "bench/section.hpp"
#include "bench/work/device_pair.hpp"
#include "bench/work/workloads.hpp"
#include "graph/frontend/load_network.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::bench {
namespace {

constexpr const char *kRow = "{:<6} {:<34} {:>8} {:>10} {:>10} {:>10} {:>8} {:>7}\n";
constexpr std::uint32_t kBatch = 4; ///< of bert_tiny
/// Time that the model gets next to one run of the RTL, whatever its own speed.
constexpr double kModelSeconds = 0.3;

struct Target {
  const char *npu;
  double ratio;
};
constexpr Target kTargets[] = {{"small", 500}, {"large", 5000}};

struct Workload {
  std::string name;
  Machine npu;
  compiler::Pass pass;
  std::vector<compiler::Layer> layers;
  int rounds; ///< the median counts; a network is many pairs of runs already
  double target;
};

double ratio(const PairedRun &run) { return run.rtl_seconds / run.model_seconds; }

Json measure(const Workload &w, const std::function<void(double)> &report_progress) {
  std::vector<compiler::Compiled> compiled;
  std::uint64_t dram_bytes = 0, commands = 0;
  for (const compiler::Layer &layer : w.layers) {
    compiled.push_back(compiler::compile({layer}, w.npu, {compiler::Schedule::kRearrange, w.pass}));
    dram_bytes = std::max(dram_bytes, compiled.back().dram_bytes);
    commands += compiled.back().stream.size();
  }
  DevicePair devices(w.npu, dram_bytes);
  const double runs = static_cast<double>(w.layers.size()) * w.rounds;
  double runs_done = 0;
  std::vector<PairedRun> rounds(static_cast<std::size_t>(w.rounds));
  for (PairedRun &round : rounds)
    for (const compiler::Compiled &layer : compiled) {
      const PairedRun run = devices.run(layer, kModelSeconds / static_cast<double>(w.layers.size()),
                                        [&](double fraction) { report_progress((runs_done + fraction) / runs); });
      round.rtl_seconds += run.rtl_seconds;
      round.model_seconds += run.model_seconds;
      round.cycles += run.cycles;
      ++runs_done;
    }
  std::sort(rounds.begin(), rounds.end(), [](const PairedRun &a, const PairedRun &b) { return ratio(a) < ratio(b); });
  const PairedRun &middle = rounds[rounds.size() / 2];
  return {{"npu", w.npu.name},
          {"name", w.name},
          {"commands", commands},
          {"cycles", middle.cycles},
          {"rtl_seconds", middle.rtl_seconds},
          {"model_seconds", middle.model_seconds},
          {"target", w.target}};
}

class ModelSection final : public Section {
public:
  std::string title() const override {
    return "The timing model against the RTL on the same streams, in turns; median of three rounds (one for the "
           "network), "
           "one\nthread, CPU time; times of all commands and all counters are equal, or the run fails";
  }
  std::string head() const override {
    return fmt::format(kRow, "NPU", "stream", "commands", "cycles", "RTL cyc/s", "model cyc/s", "ratio", "target");
  }

  std::vector<Measurement> measurements() const override {
    std::vector<Measurement> all;
    for (const Target &target : kTargets)
      for (Workload &w : workloads(target)) {
        const double seconds = w.layers.size() > 1 ? 15 : 8;
        std::string name = fmt::format("{} on {}", w.name, target.npu);
        all.push_back({std::move(name), seconds, [workload = std::move(w)](const auto &report_progress) {
                         return measure(workload, report_progress);
                       }});
      }
    return all;
  }

  std::string rows(const Json &m, std::vector<std::string> &missed) const override {
    const double cycles = m["cycles"], rtl = m["rtl_seconds"], model = m["model_seconds"], target = m["target"];
    const double factor = rtl / model;
    const std::string npu = m["npu"], name = m["name"];
    if (factor < target)
      missed.push_back(fmt::format("{} on {}: {:.0f} times the RTL's speed, target {:.0f}", name, npu, factor, target));
    return fmt::format(kRow, npu, name, m["commands"].get<std::uint64_t>(), runtime::grouped(m["cycles"]),
                       runtime::human(cycles / rtl), runtime::human(cycles / model), fmt::format("{:.0f}", factor),
                       fmt::format("{:.0f}", target));
  }

  std::string conclusion(const std::vector<Json> & /*measured*/) const override { return {}; }

private:
  static std::vector<Workload> workloads(const Target &target) {
    const Machine npu = load_npu(target.npu);
    const compiler::Network bert = load_model("bert_tiny", kBatch);
    std::vector<Workload> all;
    for (const BusyGemm &gemm : busy_gemms())
      if (npu.name == gemm.npu)
        all.push_back({"busy GEMM, forward", npu, compiler::Pass::kForward, {gemm.layer}, 3, target.ratio});
    for (const char *name : {"encoder1.ffn_up", "encoder1.ffn_down", "pooler"})
      all.push_back({fmt::format("bert_tiny {}, backward", name), npu, compiler::Pass::kBackward,
                     compiler::select_layers(bert, name), 3, target.ratio});
    all.push_back({"bert_tiny whole, backward", npu, compiler::Pass::kBackward, bert.layers, 1, target.ratio});
    return all;
  }
};

} // namespace

std::unique_ptr<Section> model_section() { return std::make_unique<ModelSection>(); }

} // namespace gradweave::bench
