// gradweave tasks
#include "app/cli/common/settings.hpp"
#include "app/cli/common/subcommands.hpp"
#include "app/cli/plan/commands.hpp"
#include "app/report/text_format.hpp"
#include "base/file/output_file.hpp"
#include "compiler/lower/task_work.hpp"
#include "graph/frontend/load_network.hpp"
#include "graph/operators/table.hpp"
#include "graph/passes/loss.hpp"
#include "graph/passes/training.hpp"
#include "runtime/run/lookup.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gradweave::cli {
namespace {

struct TasksArguments {
  std::string model = "bert_tiny", npu = "small", extent = "updates", json;
  std::string until;
  std::vector<std::string> set;
  std::uint32_t batch = 0, blocks = 4, terms = 1024;
};

constexpr std::array<const char *, 3> kKinds{"products", "others", "updates"}; // in the order of TaskKind

std::string as_json(const TasksArguments &a, const compiler::TaskWork &work) {
  nlohmann::ordered_json json{{"model", a.model},
                              {"npu", a.npu},
                              {"extent", a.extent},
                              {"blocks", a.blocks},
                              {"terms", a.terms},
                              {"dependences", work.dependences},
                              {"critical_path_cycles", work.critical_path}};
  for (std::size_t kind = 0; kind < kKinds.size(); ++kind)
    json["tasks"][kKinds[kind]] = {{"count", work.tasks[kind]}, {"cycles", work.cycles[kind]}};
  return json.dump(2) + "\n";
}

void print(const TasksArguments &a, const graph::Graph &step, const compiler::TaskWork &work, const Machine &npu) {
  fmt::print("{}: a step to its {}, {} ops; {}: {} x {} PEs, tiles of {} x {} blocks, chains in steps of {}\n", a.model,
             a.extent, step.ops.size(), npu.name, npu.rows, npu.cols, a.blocks, a.blocks, a.terms);
  std::uint64_t cycles = 0;
  for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
    cycles += work.cycles[kind];
    if (work.tasks[kind] > 0)
      fmt::print("{:<10} {:>12} tasks {:>16} cycles\n", kKinds[kind], runtime::grouped(work.tasks[kind]),
                 runtime::grouped(work.cycles[kind]));
  }
  fmt::print(
      "{} dependences; the longest chain of tasks takes {} cycles: however many cores, no less; {:.1f} would be busy\n",
      runtime::grouped(work.dependences), runtime::grouped(work.critical_path),
      static_cast<double>(cycles) / static_cast<double>(work.critical_path));
}

int tasks(const TasksArguments &a) {
  graph::TrainingOptions options;
  options.extent = graph::parse_extent(a.extent);
  std::optional<OutputFile> json;
  if (!a.json.empty()) json.emplace(a.json);
  const Settings settings = parse_settings(a.set, a.batch, a.until);
  const Machine npu = load_machine(runtime::find_npu(a.npu), settings.machine);
  const std::filesystem::path file = runtime::find_model(a.model);
  graph::Graph forward = compiler::load_graph(file, settings.network);
  if (forward.loss == graph::kNone && file.extension() == ".onnx")
    graph::add_loss(forward, graph::operators(), graph::LossKind::kCrossEntropy);
  const graph::Graph step = graph::training_graph(forward, graph::operators(), options).graph;
  const compiler::TaskGraph lowered(step, compiler::usual_grids(step, npu, a.blocks, a.terms));
  const compiler::TaskWork work = compiler::task_work(lowered, npu);
  if (a.json != "-") print(a, step, work, npu);
  if (json) json->commit(as_json(a, work));
  return kOk;
}

} // namespace

void add_tasks(CLI::App &app, const Invocation & /*invocation*/, Chosen &chosen) {
  const auto a = std::make_shared<TasksArguments>();
  CLI::App *command = add_subcommand(app, "tasks");
  command->add_option("--model", a->model, "Network: a name, or the path of a .graph or .onnx")->capture_default_str();
  add_until_option(*command, a->until);
  command->add_option("--npu", a->npu, "NPU: a name or the path of a .toml")->capture_default_str();
  command->add_option("--batch", a->batch, "Samples in a batch; default: as the network says");
  add_set_option(*command, a->set, Settable::kMachineAndNetwork);
  command->add_option("--extent", a->extent, "How far a step goes: forward, gradients or updates")
      ->capture_default_str();
  command->add_option("--blocks", a->blocks, "Blocks of the array along each side of a tile, 1 to 1024")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--terms", a->terms, "Terms of a product's reduction in a task, 1 to 65535")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  command->add_option("--json", a->json, "Write the numbers to this file; - is standard output")->type_name("FILE");
  command->footer("Cycles are those of the block formula, of what is no product its operations by the array's lanes.\n"
                  "Examples:\n  gradweave tasks\n  gradweave tasks --model resnet50 --npu large --extent gradients");
  command->callback([a, &chosen] { chosen = [a](const SignalGuard &) { return tasks(*a); }; });
}

} // namespace gradweave::cli
