// gw_random_streams: constrained-random command streams on the RTL, checked against the functional model.
//
// Consecutive seeds form groups. Each group gets a process and a device of its own, whose back-pressure is drawn from
// the group's first seed, and runs its streams one after the other on it; so `--seed <first> --count <k>` repeats a
// failure exactly. A part of the streams comes through a ring that a host feeds, and most have MARKs.
#include "app/validate/corpus/parts/marks.hpp"
#include "base/random/dice.hpp"
#include "device/device.hpp"
#include "runtime/run/lookup.hpp"
#include "sw_models/timing/timing_model.hpp"
#include "tests/tb/stream_check.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace gradweave;

struct Arguments {
  std::string npu = "test8";
  std::uint64_t seed = 1, count = 100, group = 10;
  std::uint32_t commands = 40;
  double stall = -1;  ///< negative: drawn per group
  double rings = 0.3; ///< share of the streams
  std::string trace;
};

/// Apart from what the stream's own dice decide.
std::optional<std::uint64_t> draw_host(std::uint64_t seed, double share) {
  constexpr std::uint64_t kSalt = 0x72696e67;
  if (!Dice(seed ^ kSalt).chance(share)) return std::nullopt;
  return seed;
}

double draw_stall(std::uint64_t seed) {
  constexpr double kChoices[] = {0, 0.05, 0.2, 0.4, 0.7};
  return kChoices[Dice(seed).below(std::size(kChoices))];
}

/// Runs seeds first to first + count - 1 on one device; the exit code of the group's process.
int run_group(const Arguments &a, const Machine &npu, std::uint64_t first, std::uint64_t count) {
  DeviceOptions options;
  options.stress = {first, a.stall < 0 ? draw_stall(first) : a.stall};
  options.trace.file = a.trace;
  // Twice what a memory without back-pressure needs.
  options.watchdog_cycles = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      2 * timing::longest_silence(npu), timing::usual_watchdog(npu), std::numeric_limits<std::uint32_t>::max()));
  const std::unique_ptr<Device> device = make_rtl_device(npu, options);
  constexpr std::uint64_t kArena = 128U << 20U; // the streams' data; the device puts commands behind it
  const std::uint64_t base = device->allocate(kArena) + test::kGuardBytes;

  std::uint64_t cycles = 0, commands = 0, rings = 0, marks = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    corpus::RandomStreamOptions stream_options;
    stream_options.seed = seed;
    stream_options.commands = a.commands;
    stream_options.dram_base = base;
    corpus::RandomStream stream = corpus::make_random_stream(npu, stream_options);
    corpus::add_marks(stream.commands, seed);
    const std::optional<std::uint64_t> host = draw_host(seed, a.rings);
    rings += host ? 1 : 0;
    const auto failed = [&](const std::string &problem) {
      fmt::print(
          "FAILED: npu {} seed {} (stream {} of its device, {} commands, stall probability {}): {}\n"
          "repeat: gw_random_streams --npu {} --seed {} --count {} --group {} --commands {} --stall {} --rings {}\n",
          npu.name, seed, seed - first, stream.commands.size(), options.stress.stall_probability, problem, a.npu, first,
          seed - first + 1, a.group, a.commands, options.stress.stall_probability, a.rings);
      return 1;
    };
    try {
      const test::StreamVerdict verdict = test::check_stream(*device, stream, {}, host);
      if (!verdict.ok()) return failed(verdict.problem);
      cycles += verdict.cycles;
      marks += verdict.marks;
    } catch (const std::exception &e) {
      return failed(e.what());
    }
    commands += stream.commands.size();
    if (seed % 2 == 0) device->reset(); // a stream has to work after a reset and right after another
  }
  fmt::print(
      "npu {} seeds {} to {}: {} commands, {} cycles, {} rings with {} marks, stall probability {}: equal to the "
      "functional model\n",
      npu.name, first, first + count - 1, commands, cycles, rings, marks, options.stress.stall_probability);
  return 0;
}

/// A process for each group: a crash is the end of one.
bool run_in_child(const Arguments &a, const Machine &npu, std::uint64_t first, std::uint64_t count) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot fork");
  if (child == 0) {
    int code = 2;
    try {
      code = run_group(a, npu, first, count);
    } catch (const std::exception &e) {
      fmt::print(stderr, "gw_random_streams: {}\n", e.what());
    }
    std::fflush(stdout);
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    fmt::print("FAILED: npu {} seeds {} to {}: killed by signal {}\n", npu.name, first, first + count - 1,
               WTERMSIG(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int run(const Arguments &a) {
  const Machine npu = load_machine(runtime::find_npu(a.npu));
  std::uint64_t failures = 0;
  for (std::uint64_t done = 0; done < a.count; done += a.group)
    failures += !run_in_child(a, npu, a.seed + done, std::min(a.group, a.count - done));
  if (failures > 0) {
    fmt::print("{} groups of streams failed\n", failures);
    return 1;
  }
  fmt::print("{} streams, seeds {} to {}, on {}: every byte equal\n", a.count, a.seed, a.seed + a.count - 1, npu.name);
  return 0;
}

} // namespace

int main(int argc, char *argv[]) {
  Arguments a;
  CLI::App app{"Random command streams: RTL against the functional model"};
  app.add_option("--npu", a.npu, "configuration: a name under configs/ or a .toml file")->capture_default_str();
  app.add_option("--seed", a.seed, "first seed")->capture_default_str();
  app.add_option("--count", a.count, "streams")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--group", a.group, "streams run on one device")->capture_default_str()->check(CLI::PositiveNumber);
  app.add_option("--commands", a.commands, "LOAD, STORE and GEMM of a stream")->capture_default_str();
  app.add_option("--stall", a.stall, "probability that a bus channel is held back in a cycle; default: drawn")
      ->check(CLI::Range(0.0, 0.99));
  app.add_option("--rings", a.rings, "share of the streams that a host feeds through a ring")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--trace", a.trace, "FST waveform of the last group");
  CLI11_PARSE(app, argc, argv);
  try {
    return run(a);
  } catch (const std::exception &e) {
    fmt::print(stderr, "gw_random_streams: {}\n", e.what());
    return 2;
  }
}
