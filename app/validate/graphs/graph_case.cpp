#include "app/validate/graphs/graph_case.hpp"

#include "app/request/repeat_command.hpp"
#include "app/request/settings.hpp"
#include "app/validate/graphs/draw_graph.hpp"
#include "graph/operators/table.hpp"
#include "runtime/run/lookup.hpp"
#include "train/data/idx_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace gradweave::graphs {
namespace {

constexpr int kDraws = 30; ///< of networks; most of the first ones are legal

/// Each NPU that has a vector unit and is small, so that tiles are many.
constexpr std::array<const char *, 8> kNpus = {"test8v2",    "test8v2",   "test8v2",   "test6x10v1",
                                               "test6x10v1", "test8c2v8", "test8c2v8", "small"};

std::string set(std::string_view field, std::uint64_t value) { return fmt::format("{}={}", field, value); }

void draw_memory(Choices &choices, std::vector<std::string> &sets) {
  if (choices.percent(40)) sets.push_back(set("memory.bandwidth_gb_s", choices.between(1, 40)));
  if (choices.percent(30)) sets.push_back(set("memory.latency_cycles", choices.between(1, 200)));
  if (choices.percent(20)) sets.push_back(set("memory.turnaround_cycles", choices.below(40)));
  // So little that tensors take each other's place, or that the step is refused.
  if (choices.percent(25)) sets.push_back(set("memory.size_bytes", std::uint64_t{1024} * choices.between(4, 48)));
}

/// The scratchpad has at least 256 rows: with fewer, one row of a tensor may not fit.
void draw_parameters(Choices &choices, std::vector<std::string> &sets) {
  const std::uint32_t rows = choices.between(2, 13), cols = choices.between(2, 13);
  sets.push_back(set("npu.rows", rows));
  sets.push_back(set("npu.cols", cols));
  if (choices.percent(30)) sets.push_back(set("npu.cores", choices.between(1, 4)));
  sets.push_back(set("npu.spm_bytes", std::uint64_t{2} * std::max(rows, cols) * choices.between(256, 2048)));
  if (choices.percent(20)) sets.push_back(set("npu.spm_banks", choices.between(1, 8)));
  if (choices.percent(30)) sets.push_back(set("npu.vector_groups", std::uint64_t{1} << choices.below(4)));
  if (choices.percent(20)) sets.push_back(set("npu.queue_depth", choices.between(2, 16)));
}

/// Parameters that contradict each other are left out again.
void draw_machine(Choices &choices, const CaseOptions &options, GraphCase &drawn) {
  cli::TrainRequest &request = drawn.request;
  request.npu = options.npu.empty() ? choices.pick(kNpus) : options.npu;
  if (!choices.percent(60)) return;
  draw_memory(choices, request.set);
  if (options.npu.empty() && options.backend != "rtl" && choices.percent(60)) draw_parameters(choices, request.set);
  try {
    machine_of(drawn);
  } catch (const ConfigError &) {
    request.set.clear();
  }
}

void draw_training(Choices &choices, const CaseOptions &options, cli::TrainRequest &request) {
  request.data = "synthetic";
  request.backend = options.backend;
  request.jobs = 1;
  request.seed = 1 + choices.below(1000);
  request.steps = options.backend == "rtl" ? 1 : choices.between(1, 3);
  request.optimizer = choices.percent(50) ? "adamw" : "sgd";
  request.momentum = choices.percent(50) ? 0.9 : 0;
  if (choices.percent(30)) request.weight_decay = choices.percent(50) ? 0 : 0.1;
  if (choices.percent(20)) request.clip = 0.5;
  if (choices.percent(25)) request.accumulate = choices.between(2, 3);
  // Sums over micro-batches go on where streams begin with +0: mostly these are the host's then.
  if (request.accumulate == 1 || choices.percent(20)) request.operators = "npu";
  if (choices.percent(15)) request.extent = choices.percent(70) ? "gradients" : "forward";
  request.sparse_embeddings = request.accumulate == 1 && choices.percent(50); // of one micro-batch only
  request.keep_all = request.operators == "npu" && choices.percent(15);
}

/// Why there is no training step, or no data for it; empty: there is.
std::string why_illegal(const GraphCase &drawn) {
  try {
    cli::TrainingSession(drawn.request, drawn.network, {});
    return {};
  } catch (const graph::GraphDefect &) {
    throw;
  } catch (const graph::GraphError &error) {
    return error.what();
  } catch (const runtime::train::DataError &error) {
    return error.what();
  }
}

} // namespace

std::optional<GraphCase> draw_case(Choices &choices, const CaseOptions &options, const std::string &name) {
  GraphCase drawn;
  draw_machine(choices, options, drawn);
  draw_training(choices, options, drawn.request);
  for (int i = 0; i < kDraws; ++i) {
    drawn.network = draw_graph(choices, options.most, name);
    if (why_illegal(drawn).empty()) return drawn;
  }
  return std::nullopt;
}

GraphCase draw_case(std::uint64_t seed, const CaseOptions &options) {
  Choices choices(seed);
  auto drawn = draw_case(choices, options, fmt::format("seed {}", seed));
  if (!drawn) throw std::logic_error(fmt::format("seed {} gives no legal graph in {} tries", seed, kDraws));
  return std::move(*drawn);
}

Machine machine_of(const GraphCase &graph_case) {
  const cli::TrainRequest &request = graph_case.request;
  return load_machine(runtime::find_npu(request.npu), cli::parse_settings(request.set).machine);
}

std::string command_of(const GraphCase &graph_case, const std::string &file) {
  const cli::TrainRequest &a = graph_case.request, usual;
  cli::Reproduction command(a.program, "train", false);
  const auto add = [&command](bool given, const char *option, const std::string &value) {
    if (given) command.add("", option, value);
  };
  add(true, "--model", file);
  add(true, "--data", a.data);
  add(true, "--steps", std::to_string(a.steps));
  add(true, "--npu", a.npu);
  command.add_each("SET", "--set", a.set);
  add(true, "--backend", a.backend);
  add(!a.operators.empty(), "--operators", a.operators);
  add(a.seed != usual.seed, "--seed", std::to_string(a.seed));
  add(a.extent != usual.extent, "--extent", a.extent);
  add(a.accumulate != usual.accumulate, "--accumulate", std::to_string(a.accumulate));
  add(a.optimizer != usual.optimizer, "--optimizer", a.optimizer);
  add(a.optimizer == "sgd" && a.momentum != usual.momentum, "--momentum", fmt::format("{}", a.momentum));
  add(a.weight_decay >= 0, "--weight-decay", fmt::format("{}", a.weight_decay));
  add(a.clip > 0, "--clip", fmt::format("{}", a.clip));
  if (a.sparse_embeddings) command.add_word("--sparse-embeddings");
  if (a.keep_all) command.add_word("--keep-all");
  return command.text();
}

} // namespace gradweave::graphs
