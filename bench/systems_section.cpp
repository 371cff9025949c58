#include "base/process/stopwatch.hpp"
#include "bench/section.hpp"
#include "bench/work/device_pair.hpp"
#include "bench/work/workloads.hpp"
#include "compiler/ir/arithmetic.hpp"
#include "device/system_devices.hpp"
#include "sw_models/system/system_timing.hpp"

#include <fmt/format.h>

#include <sched.h>

#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

namespace gradweave::bench {
namespace {

constexpr const char *kRow = "{:<14} {:>5} {:>8} {:>11} {:>8} {:>8} {:>12} {:>13}\n";
constexpr double kMost = 1.10; ///< of the sum
constexpr int kRounds = 2;

struct Setup {
  std::string name;
  std::vector<const BusyGemm *> devices;
};

std::vector<Setup> setups() {
  const auto gemm = [](std::string_view npu) {
    for (const BusyGemm &one : busy_gemms())
      if (npu == one.npu) return &one;
    throw std::logic_error("no workload for an NPU");
  };
  const BusyGemm *small = gemm("small"), *large = gemm("large");
  return {{"2 x small", {small, small}}, {"4 x small", {small, small, small, small}}, {"small, large", {small, large}}};
}

/// While it lives, this thread, and those that it begins, have one core of those that they had.
class OneCore {
public:
  OneCore() {
    cpu_set_t one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof(all_), &all_) != 0) throw std::runtime_error("the system does not tell its cores");
    for (int core = 0; core < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++core)
      if (CPU_ISSET(core, &all_)) CPU_SET(core, &one);
    if (sched_setaffinity(0, sizeof(one), &one) != 0) throw std::runtime_error("the system gives no core of its own");
  }
  ~OneCore() { sched_setaffinity(0, sizeof(all_), &all_); }
  OneCore(const OneCore &) = delete;
  OneCore &operator=(const OneCore &) = delete;
  /// That there were.
  int cores() const { return CPU_COUNT(&all_); }

private:
  cpu_set_t all_{};
};

/// A stream for each device, which knows nothing of the others.
class Streams {
public:
  explicit Streams(const Setup &setup) {
    system_.file = system_.name = setup.name;
    system_.notify_ps = 1000;
    system_.links.push_back({"link", 4, 1000, 256, 24});
    compiler::CompileOptions options;
    options.pass = compiler::Pass::kForward;
    std::map<std::string, compiler::CompileCache> caches; // by NPU
    for (const BusyGemm *gemm : setup.devices) {
      DeviceConfig device;
      device.name = fmt::format("npu{}", system_.devices.size());
      device.machine = load_npu(gemm->npu);
      compiled_.push_back(compiler::compile({gemm->layer}, device.machine, options, caches[gemm->npu]));
      system_.devices.push_back(std::move(device));
    }
  }

  /// CPU seconds of each stream on a device in a simulation of its own, together.
  double alone() const {
    double seconds = 0;
    for (std::size_t d = 0; d < compiled_.size(); ++d) {
      const auto device = make_rtl_device(system_.devices[d].machine);
      if (device->allocate(compiled_[d].dram_bytes) != 0) throw std::logic_error("memory does not begin at address 0");
      fill(*device, compiled_[d]);
      const Stopwatch stopwatch;
      device->submit(compiled_[d].stream);
      if (!device->wait().ok()) throw std::runtime_error("a stream stopped with an error");
      seconds += stopwatch.cpu_seconds();
    }
    return seconds;
  }

  struct Seconds {
    double cpu = 0, wall = 0;
  };
  /// Of all in one simulation.
  Seconds together() const {
    SystemPlan plan(system_);
    for (std::uint32_t d = 0; d < compiled_.size(); ++d) {
      SystemCommand run;
      run.label = compiled_[d].layer().name;
      run.device = d;
      run.stream = std::make_shared<const std::vector<isa::Command>>(compiled_[d].stream);
      run.stream_addr = compiler::round_up(compiled_[d].dram_bytes, std::uint64_t{kFlashBlock});
      plan.add(std::move(run));
    }
    const auto devices = make_rtl_system(system_);
    for (std::uint32_t d = 0; d < compiled_.size(); ++d)
      fill(devices->device(d), compiled_[d]);
    Host host;
    const Stopwatch stopwatch;
    const SystemOutcome outcome = devices->run(plan, host);
    const Seconds seconds{stopwatch.cpu_seconds(), stopwatch.wall_seconds()};
    if (!outcome.ok()) throw std::runtime_error(outcome.failure->text);
    if (outcome.spans != SystemTiming(system_).run(plan).spans)
      throw std::runtime_error("the timing model's times differ from the RTL's");
    return seconds;
  }

private:
  /// All data are there before.
  class Host final : public SystemHost {
    void begin(CommandId /*id*/) override {}
    std::optional<std::string> end(CommandId /*id*/) override { return std::nullopt; }
  };

  SystemConfig system_;
  std::vector<compiler::Compiled> compiled_;
};

Json measure(const Setup &setup, const std::function<void(double)> &report_progress) {
  const Streams streams(setup);
  double alone = 0, together = 0, one_core = 0, all_cores = 0;
  int cores = 0;
  for (int round = 0; round < kRounds; ++round) { // in turns: what slows the machine down for a while slows all
    alone += streams.alone();
    const Streams::Seconds all = streams.together();
    together += all.cpu;
    all_cores += all.wall;
    const OneCore one;
    cores = one.cores();
    one_core += streams.together().wall;
    report_progress((round + 1.0) / kRounds);
  }
  return {{"name", setup.name},
          {"npus", setup.devices.size()},
          {"alone", alone / kRounds},
          {"together", together / kRounds},
          {"cores", cores},
          {"one_core", one_core / kRounds},
          {"all_cores", all_cores / kRounds}};
}

class SystemsSection final : public Section {
public:
  std::string title() const override {
    return "Several NPUs in one simulation against each in one of its own, CPU time; and wall time of the former on "
           "one "
           "core and on all; times of all commands are the model's";
  }
  std::string head() const override {
    return fmt::format(kRow, "system", "NPUs", "alone s", "together s", "ratio", "target", "one core, s",
                       "all cores, s");
  }

  std::vector<Measurement> measurements() const override {
    std::vector<Measurement> all;
    for (const Setup &setup : setups())
      all.push_back({fmt::format("system of {}", setup.name), 18.0 * static_cast<double>(setup.devices.size()),
                     [setup](const auto &report_progress) { return measure(setup, report_progress); }});
    return all;
  }

  std::string rows(const Json &m, std::vector<std::string> &missed) const override {
    const double alone = m["alone"], together = m["together"], ratio = together / alone;
    const std::string name = m["name"];
    if (ratio > kMost)
      missed.push_back(fmt::format("system of {}: {:.2f} times the sum, target {}", name, ratio, kMost));
    const double one_core = m["one_core"], all_cores = m["all_cores"];
    if (m["cores"].get<int>() > 1 && all_cores >= one_core)
      missed.push_back(fmt::format("system of {}: {:.2f} s on all cores, {:.2f} s on one", name, all_cores, one_core));
    return fmt::format(kRow, name, m["npus"].get<int>(), fmt::format("{:.2f}", alone), fmt::format("{:.2f}", together),
                       fmt::format("{:.3f}", ratio), fmt::format("{:.2f}", kMost), fmt::format("{:.2f}", one_core),
                       fmt::format("{:.2f}", all_cores));
  }

  std::string conclusion(const std::vector<Json> & /*measured*/) const override { return {}; }
};

} // namespace

std::unique_ptr<Section> systems_section() { return std::make_unique<SystemsSection>(); }

} // namespace gradweave::bench
