// gradweave models
#include "app/cli/common/options.hpp"
#include "app/cli/common/settings.hpp"
#include "app/cli/common/subcommands.hpp"
#include "app/cli/plan/commands.hpp"
#include "app/cli/plan/draw_graph.hpp"
#include "app/cli/plan/show_graph.hpp"
#include "app/report/text_format.hpp"
#include "base/file/output_file.hpp"
#include "graph/frontend/load_network.hpp"
#include "graph/layers.hpp"
#include "graph/text/print.hpp"
#include "runtime/run/lookup.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

namespace gradweave::cli {
namespace {

/// "7 x 7 / 2, 3 channels of 224 x 224": what im2col made the product from.
std::string describe(const Convolution &conv) {
  std::string text = fmt::format("{} x {}", conv.kernel_height, conv.kernel_width);
  if (conv.stride_height != 1 || conv.stride_width != 1)
    text += conv.stride_height == conv.stride_width ? fmt::format(" / {}", conv.stride_height)
                                                    : fmt::format(" / {} x {}", conv.stride_height, conv.stride_width);
  if (conv.dilation_height != 1 || conv.dilation_width != 1)
    text += fmt::format(" dilated {} x {}", conv.dilation_height, conv.dilation_width);
  return text + fmt::format(" on {} x {} x {}", conv.height, conv.width, conv.channels);
}

void show_layer(const compiler::Layer &layer) {
  fmt::print("{:>4} {:<24} M {:>6}  K {:>6}  N {:>6}  {:<5}", layer.index, layer.name, layer.m, layer.k, layer.n,
             layer.dx ? "dX dW" : "dW");
  if (layer.groups != 1) fmt::print("  {} groups", layer.groups);
  if (layer.conv) fmt::print("  conv {}", describe(*layer.conv));
  if (!layer.input.empty()) fmt::print("  X from {}", layer.input);
  if (!layer.weights.empty()) fmt::print("  W of {}", layer.weights);
  fmt::print("\n");
}

void show_network(const compiler::Network &network) {
  fmt::print("{}: {}\n", network.name, network.description);
  if (!network.source.empty()) fmt::print("source: {}\n", network.source);
  double forward = 0;
  double backward = 0;
  std::uint64_t others = 0;
  for (const compiler::Layer &layer : network.layers) {
    show_layer(layer);
    forward += compiler::macs(layer);
    backward += compiler::macs(layer) * (layer.dx ? 2 : 1);
  }
  for (const compiler::OtherParameters &other : network.other_parameters) {
    fmt::print("     {:<52} {:>16} parameters\n", other.what, runtime::grouped(other.count));
    others += other.count;
  }
  const std::uint64_t parameters = compiler::count_parameters(network);
  fmt::print("{} layers; multiply-adds: {} forward, {} backward\n", network.layers.size(), runtime::human(forward),
             runtime::human(backward));
  fmt::print("{} parameters, {} of them weights of layers\n", runtime::grouped(parameters),
             runtime::grouped(parameters - others));
  if (network.parameters && *network.parameters != parameters)
    fmt::print("the file says {} parameters\n", runtime::grouped(*network.parameters));
}

void show_npu(const Machine &npu) {
  const std::string ports = npu.ports() == 1 ? "" : fmt::format(" of {} ports", npu.ports());
  fmt::print("{}: {} x {} PEs, {} core{}, {}B scratchpad in {} banks, {} B bus{}, {} GB/s DRAM, {} GHz\n", npu.name,
             npu.rows, npu.cols, npu.cores, npu.cores == 1 ? "" : "s",
             runtime::human(static_cast<double>(npu.spm_bytes)), npu.spm_banks, npu.bus_bytes, ports,
             npu.memory.bandwidth_gb_s, npu.clock_ghz);
}

/// Whether the file has the table, or the name of the file with it, that every NPU has and no network; what is wrong
/// with it, its reader tells.
bool describes_npu(const std::string &path) {
  std::error_code error;
  if (!runtime::is_path(path) || !std::filesystem::is_regular_file(path, error)) return false;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);)
    if (const std::size_t at = line.find_first_not_of(" \t");
        at != std::string::npos && (line.compare(at, 5, "[npu]") == 0 || line.compare(at, 3, "npu") == 0))
      return true;
  return false;
}

bool contains(const std::vector<std::string> &names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

struct ModelsArguments {
  std::string name, dump_graph, svg;
  std::string until;
  std::vector<std::string> set, frozen, learned;
  std::uint32_t batch = 0;
  bool operators = false;
};

compiler::NetworkSettings settings_of(const ModelsArguments &a) {
  compiler::NetworkSettings settings = parse_settings(a.set, a.batch, a.until).network;
  settings.frozen = a.frozen;
  settings.learned = a.learned;
  return settings;
}

/// Writes the network's graph to the files that are asked for.
void write_graph(const ModelsArguments &a) {
  if (a.name.empty()) throw std::invalid_argument("--dump-graph and --svg need the network's NAME");
  const bool both = !a.dump_graph.empty() && !a.svg.empty();
  if (both && a.dump_graph == a.svg) throw std::invalid_argument("--dump-graph and --svg cannot go to one file");
  const std::filesystem::path file = runtime::find_model(a.name);
  if (!compiler::is_graph_file(file))
    throw std::invalid_argument(
        fmt::format("--dump-graph, --svg: '{}' is a list of layers; give a .graph or .onnx", file.string()));
  const graph::Graph graph = compiler::load_graph(file, settings_of(a));
  if (!a.dump_graph.empty()) OutputFile(a.dump_graph).commit(graph::print_graph(graph));
  if (!a.svg.empty()) OutputFile(a.svg).commit(draw_graph(graph));
}

void show_model(const ModelsArguments &a) {
  const std::filesystem::path file = runtime::find_model(a.name);
  const compiler::NetworkSettings settings = settings_of(a);
  if (!compiler::is_graph_file(file)) return show_network(compiler::load_network(file, settings));
  const graph::Graph graph = compiler::load_graph(file, settings);
  show_network(graph::network_of(graph, file));
  fmt::print("{}", operators_by_kind(graph));
  for (const std::string &note : graph.notes)
    fmt::print("note: {}\n", note);
}

int models(const ModelsArguments &a) {
  const std::string &name = a.name;
  if (!a.dump_graph.empty() || !a.svg.empty()) write_graph(a);
  if (!a.dump_graph.empty()) return kOk;
  if (a.operators) {
    fmt::print("{}\n{}", operator_table(), onnx_operator_table());
    return kOk;
  }
  if (name.empty()) {
    fmt::print("networks (--model):\n");
    for (const std::string &model : runtime::model_names()) {
      const compiler::Network network = compiler::load_network(runtime::find_model(model));
      fmt::print("  {:<16} {:>3} layers  {:>6} parameters  {}\n", model, network.layers.size(),
                 runtime::human(static_cast<double>(compiler::count_parameters(network))), network.description);
    }
    fmt::print("NPUs (--npu):\n");
    for (const std::string &npu : runtime::npu_names()) {
      fmt::print("  ");
      show_npu(load_machine(runtime::find_npu(npu)));
    }
    return kOk;
  }
  const bool is_network = contains(runtime::model_names(), name);
  if (!is_network && (contains(runtime::npu_names(), name) || describes_npu(name))) {
    show_npu(load_machine(runtime::find_npu(name), parse_settings(a.set).machine));
    return kOk;
  }
  if (!is_network && !runtime::is_path(name))
    throw ConfigError(fmt::format("no network or NPU is named '{}'; networks: {}; NPUs: {}. Or give the path of a file",
                                  name, fmt::join(runtime::model_names(), ", "),
                                  fmt::join(runtime::npu_names(), ", ")));
  show_model(a);
  return kOk;
}

} // namespace

void add_models(CLI::App &app, const Invocation & /*invocation*/, Chosen &chosen) {
  const auto a = std::make_shared<ModelsArguments>();
  CLI::App *command = add_subcommand(app, "models");
  command->add_option("NAME", a->name, "Network or NPU: a name or the path of a file");
  command->add_flag("--operators", a->operators, "List the operators of graphs, and those of ONNX files, instead");
  add_batch_option(*command, a->batch);
  add_until_option(*command, a->until);
  add_frozen_options(*command, a->frozen, a->learned);
  add_set_option(*command, a->set, Settable::kMachineAndNetwork);
  command->add_option("--svg", a->svg, "Draw the network's graph to this file as well")->type_name("FILE");
  command
      ->add_option("--dump-graph", a->dump_graph, "Write the network's graph, a statement an op; - is standard output")
      ->type_name("FILE");
  command->footer("Examples:\n  gradweave models\n  gradweave models bert_tiny\n  gradweave models small\n"
                  "  gradweave models lenet --dump-graph -\n  gradweave models net.onnx --batch 4 --svg net.svg");
  command->callback([a, &chosen] { chosen = [a](const SignalGuard &) { return models(*a); }; });
}

} // namespace gradweave::cli
