// gradweave memory
#include "app/cli/common/options.hpp"
#include "app/cli/common/settings.hpp"
#include "app/cli/common/subcommands.hpp"
#include "app/cli/common/work.hpp"
#include "app/cli/memory/commands.hpp"
#include "app/cli/memory/memory_range.hpp"
#include "app/cli/memory/memory_validation.hpp"
#include "base/file/output_file.hpp"
#include "graph/frontend/load_network.hpp"
#include "graph/operators/table.hpp"
#include "graph/passes/loss.hpp"
#include "memory_model/iteration/from_graph.hpp"
#include "memory_model/policies.hpp"
#include "runtime/run/lookup.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace gradweave::cli {
namespace {

namespace model = memory_model;

struct MemoryArguments {
  std::string model = "resnet50", npu, capacity, policy = "thesis", json, csv, until;
  std::vector<std::string> set;
  std::uint32_t batch = 0, element = 0;
  std::optional<double> bandwidth, throughput; ///< GB/s; T operations/s
  bool forward = false, project = false, validate = false;
  WorkArguments work; ///< of --validate: what only a compiled step has
};

constexpr double kGiga = 1e9, kTera = 1e12, kMilli = 1e3, kMebi = 1048576;

struct MemoryWork {
  std::string source; ///< of the machine's numbers
  model::Iteration iteration;
  model::Sweep sweep;
  std::vector<model::Estimate> estimates;
};

/// The machine asked for: of --npu what is not given otherwise; else that of the thesis's figures, an RTX 2080 Ti's
/// bandwidth and arithmetic.
model::Sweep find_machine(const MemoryArguments &a, const Settings &settings, std::string &source) {
  model::Sweep sweep;
  std::vector<std::uint64_t> capacities{std::uint64_t{24} << 20U};
  sweep.bandwidth = 616 * kGiga;
  sweep.throughput = 13.45 * kTera;
  source = "GDDR6 and arithmetic of an RTX 2080 Ti";
  if (!a.npu.empty()) {
    const gradweave::Machine npu = load_machine(runtime::find_npu(a.npu), settings.machine);
    capacities = {npu.spm_bytes};
    sweep.bandwidth = npu.memory.bandwidth_gb_s * kGiga;
    sweep.throughput = static_cast<double>(npu.rows) * npu.cols * npu.cores * npu.clock_ghz * kGiga;
    source = npu.name;
  }
  if (a.bandwidth) sweep.bandwidth = *a.bandwidth * kGiga;
  if (a.throughput) sweep.throughput = *a.throughput * kTera;
  sweep.capacities = a.capacity.empty() ? capacities : parse_capacities(a.capacity);
  return sweep;
}

MemoryWork work(const MemoryArguments &a) {
  MemoryWork w;
  const model::Policy policy = model::parse_policy(a.policy);
  const Settings settings = parse_settings(a.set, a.batch, a.until);
  if (a.npu.empty() && !settings.machine.empty())
    throw std::invalid_argument(
        "--set npu.KEY and memory.KEY are of an NPU; name one with --npu, or give --bandwidth and "
        "--throughput");
  w.sweep = find_machine(a, settings, w.source);
  const std::filesystem::path file = runtime::find_model(a.model);
  graph::Graph forward = compiler::load_graph(file, settings.network);
  if (forward.loss == graph::kNone && file.extension() == ".onnx")
    graph::add_loss(forward, graph::operators(), graph::LossKind::kCrossEntropy);
  model::IterationOptions options;
  options.element_bytes = a.element != 0 ? a.element : a.npu.empty() ? 4 : 2;
  options.forward_only = a.forward;
  options.separate_layers = !a.project;
  w.iteration = model::iteration_for(policy, model::iteration_of(forward, graph::operators(), options));
  w.estimates = model::estimate(policy, w.iteration, w.sweep);
  return w;
}

std::string as_csv(const MemoryWork &w) {
  std::string text = "capacity_mib,seconds,compute_seconds,stall_seconds,bytes_in,bytes_out,bandwidth_bytes_s,active,"
                     "utilisation,type_two_share\n";
  for (std::size_t i = 0; i < w.estimates.size(); ++i) {
    const model::Estimate &e = w.estimates[i];
    text +=
        fmt::format("{},{},{},{},{},{},{},{},{},{}\n", static_cast<double>(w.sweep.capacities[i]) / kMebi, e.seconds,
                    e.compute_seconds, e.stall_seconds(), e.bytes_in, e.bytes_out, e.average_bandwidth(),
                    e.average_bandwidth() / w.sweep.bandwidth, e.utilisation(), model::type_two_share(w.iteration, e));
  }
  return text;
}

std::string as_json(const MemoryArguments &a, const MemoryWork &w) {
  nlohmann::ordered_json json{{"model", a.model},
                              {"policy", a.policy},
                              {"bandwidth_bytes_s", w.sweep.bandwidth},
                              {"throughput_operations_s", w.sweep.throughput},
                              {"ridge_point", w.sweep.throughput / w.sweep.bandwidth},
                              {"steps", w.iteration.steps.size()},
                              {"operations", w.iteration.operations()},
                              {"least_capacity_bytes", model::least_capacity(w.iteration)},
                              {"estimates", nlohmann::ordered_json::array()}};
  for (std::size_t i = 0; i < w.estimates.size(); ++i) {
    const model::Estimate &e = w.estimates[i];
    json["estimates"].push_back({{"capacity_bytes", w.sweep.capacities[i]},
                                 {"seconds", e.seconds},
                                 {"compute_seconds", e.compute_seconds},
                                 {"bytes_in", e.bytes_in},
                                 {"bytes_out", e.bytes_out},
                                 {"type_two_share", model::type_two_share(w.iteration, e)},
                                 {"seconds_by_layer", model::seconds_by_layer(w.iteration, e)}});
  }
  return json.dump(2) + "\n";
}

/// Where the time of one estimate goes.
void print_layers(const MemoryWork &w) {
  const model::Estimate &e = w.estimates.front();
  const double ridge = w.sweep.throughput / w.sweep.bandwidth;
  struct Sum {
    double compute = 0, operations = 0, bytes = 0;
    std::size_t steps = 0, bound = 0;
  };
  std::map<std::string, Sum> sums;
  for (std::size_t s = 0; s < w.iteration.steps.size(); ++s) {
    const model::Step &step = w.iteration.steps[s];
    Sum &sum = sums[step.layer];
    sum.compute += e.steps[s].compute;
    sum.operations += step.operations;
    sum.bytes += static_cast<double>(model::footprint(w.iteration, step));
    ++sum.steps;
    if (model::reuse_frequency(w.iteration, step) < ridge) ++sum.bound;
  }
  fmt::print("{:<28} {:>7} {:>10} {:>10} {:>7} {:>12} {:>14}\n", "layers", "steps", "ms", "computing", "share",
             "ops a byte", "below ridge");
  for (const auto &[layer, seconds] : model::seconds_by_layer(w.iteration, e)) {
    const Sum &sum = sums[layer];
    fmt::print("{:<28} {:>7} {:>10.3f} {:>10.3f} {:>6.1f}% {:>12.2f} {:>14}\n", layer, sum.steps, seconds * kMilli,
               sum.compute * kMilli, 100 * seconds / e.seconds, sum.operations / sum.bytes, sum.bound);
  }
}

void print_estimates(const MemoryArguments &a, const MemoryWork &w) {
  fmt::print(
      "{}: {} steps, {:.2f} G operations; {:.4g} GB/s, {:.4g} T operations/s ({}), ridge point {:.1f}; policy {}; "
      "least capacity {:.2f} MiB\n",
      w.iteration.name, w.iteration.steps.size(), w.iteration.operations() / kGiga, w.sweep.bandwidth / kGiga,
      w.sweep.throughput / kTera, w.source, w.sweep.throughput / w.sweep.bandwidth, a.policy,
      static_cast<double>(model::least_capacity(w.iteration)) / kMebi);
  fmt::print("{:>10} {:>11} {:>11} {:>9} {:>9} {:>8} {:>8} {:>8} {:>8}\n", "MiB", "ms", "stalls ms", "in GB", "out GB",
             "GB/s", "active", "used", "type II");
  for (std::size_t i = 0; i < w.estimates.size(); ++i) {
    const model::Estimate &e = w.estimates[i];
    fmt::print("{:>10.2f} {:>11.3f} {:>11.3f} {:>9.3f} {:>9.3f} {:>8.1f} {:>7.1f}% {:>7.1f}% {:>7.1f}%\n",
               static_cast<double>(w.sweep.capacities[i]) / kMebi, e.seconds * kMilli, e.stall_seconds() * kMilli,
               static_cast<double>(e.bytes_in) / kGiga, static_cast<double>(e.bytes_out) / kGiga,
               e.average_bandwidth() / kGiga, 100 * e.average_bandwidth() / w.sweep.bandwidth, 100 * e.utilisation(),
               100 * model::type_two_share(w.iteration, e));
  }
  if (w.estimates.size() == 1) print_layers(w);
}

int memory(const MemoryArguments &a) {
  uses_standard_output({{"--json", a.json}, {"--csv", a.csv}});
  std::optional<OutputFile> json, csv;
  if (!a.json.empty()) json.emplace(a.json);
  if (!a.csv.empty()) csv.emplace(a.csv);
  const MemoryWork w = work(a);
  if (a.json != "-" && a.csv != "-") print_estimates(a, w);
  if (json) json->commit(as_json(a, w));
  if (csv) csv->commit(as_csv(w));
  return kOk;
}

/// What --validate compares, of the options that were given.
MemoryValidation validation_of(const MemoryArguments &a, const CLI::App &command) {
  for (const char *option : {"--throughput", "--policy", "--element", "--forward", "--project"})
    if (command.count(option) != 0) throw CLI::ExcludesError(option, "--validate");
  MemoryValidation validation{a.work, a.capacity, a.bandwidth, a.json, a.csv};
  validation.work.model = command.count("--model") != 0 ? a.model : std::string();
  validation.work.npu = a.npu;
  validation.work.batch = a.batch;
  validation.work.set = a.set;
  validation.work.until = a.until;
  return validation;
}

} // namespace

void add_memory(CLI::App &app, const Invocation & /*invocation*/, Chosen &chosen) {
  const auto a = std::make_shared<MemoryArguments>();
  CLI::App *command = add_subcommand(app, "memory");
  command->add_option("--model", a->model, "Network: a name, or the path of a .graph or .onnx")->capture_default_str();
  command->add_option("--batch", a->batch, "Samples in a batch; default: as the network says");
  add_until_option(*command, a->until);
  command->add_option("--capacity", a->capacity,
                      "MiB on chip: a number, several with commas, or FROM:TO:STEP; default: 24, or the NPU's");
  command
      ->add_option("--bandwidth", a->bandwidth, "GB/s to memory, both directions together; default: 616, or the NPU's")
      ->check(check_finite);
  command
      ->add_option("--throughput", a->throughput,
                   "T operations/s, a multiply-add is one; default: 13.45, or what the NPU's array does")
      ->check(check_finite);
  command->add_option("--npu", a->npu, "Take these three from an NPU: a name or the path of a .toml");
  add_set_option(*command, a->set, Settable::kMachineAndNetwork);
  command->add_option("--policy", a->policy, "What stays on chip: " + model::policy_names())->capture_default_str();
  command->add_option("--element", a->element, "Bytes of a real number, 1 to 8; default: 4, with --npu 2")
      ->check(CLI::Range(1, 8));
  command->add_flag("--forward", a->forward, "Inference: nothing goes back");
  command->add_flag(
      "--project", a->project,
      "Ways back as this project's operators have them, not a layer of its own for each (docs/memory-model.md)");
  command->add_flag("--validate", a->validate,
                    "Compile training steps, and compare cycles and traffic with what shapes alone predict "
                    "(docs/memory-model.md#against-the-exact-cycle-model); without --model and --npu: those of the igo "
                    "evaluation");
  command->add_option("--schedule", a->work.schedule, "With --validate: the schedule that is compiled")
      ->capture_default_str();
  add_convolution_option(*command, a->work.convolution);
  add_plan_cache_option(*command, a->work);
  command->add_option("--json", a->json, "Write all numbers to this file; - is standard output")->type_name("FILE");
  command->add_option("--csv", a->csv, "Write a line for each capacity to this file; - is standard output")
      ->type_name("FILE");
  command->footer("Policies (docs/memory-model.md): thesis is that of C.-Y. Tsai 2021; pack keeps whole tensors, those "
                  "needed soonest\n"
                  "first; rows keeps parts of tensors, planned as a flow; fused computes point-wise layers again where "
                  "they are read.\n"
                  "Examples:\n"
                  "  gradweave memory --model resnet50 --batch 32 --capacity 24:1000:2 --csv resnet.csv\n"
                  "  gradweave memory --model transformer --batch 128 --capacity 24,128 --policy rows\n"
                  "  gradweave memory --model bert_tiny --npu large\n"
                  "  gradweave memory --validate --model resnet50 --npu small --capacity 1,4,16\n"
                  "Exit codes: 0 done, 2 usage (also a capacity that is too small), 3 bad input file or a network "
                  "without gradient,\n"
                  "5 output cannot be written");
  command->callback([a, command, &chosen] {
    if (!a->validate) {
      for (const char *option : {"--schedule", "--convolution", "--plan-cache"})
        if (command->count(option) != 0) throw CLI::RequiresError(option, "--validate");
      chosen = [a](const SignalGuard &) { return memory(*a); };
      return;
    }
    chosen = [validation = validation_of(*a, *command)](const SignalGuard &signals) {
      return validate_memory(validation, signals);
    };
  });
}

} // namespace gradweave::cli
