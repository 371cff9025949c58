#include "bench/growth.hpp"
#include "bench/section.hpp"
#include "bench/work/run_timer.hpp"
#include "graph/frontend/load_network.hpp"
#include "graph/operators/table.hpp"
#include "memory_model/iteration/from_graph.hpp"
#include "memory_model/policies.hpp"
#include "memory_model/tiles/step.hpp"
#include "runtime/run/lookup.hpp"

#include <fmt/format.h>

namespace gradweave::bench {
namespace {

namespace model = memory_model;

constexpr const char *kMemoryRow = "{:<34} {:>8} {:>11} {:>10} {:>12}\n";
constexpr double kBandwidth = 616e9, kThroughput = 13.45e12;
constexpr double kShortSeconds = 0.3; ///< of repeated runs, at least

struct Subject {
  const char *model;
  std::uint32_t batch;
};
constexpr Subject kThesisNetworks[] = {{"resnet50", 32}, {"mobilenet_v2", 32}, {"gnmt", 32}, {"transformer", 128}};

model::Iteration iteration_of(const Subject &subject) {
  const graph::Graph graph =
      compiler::load_graph(runtime::find_model(subject.model), compiler::NetworkSettings(subject.batch));
  return model::iteration_of(graph, graph::operators());
}

/// Layers one behind the other, every second one with weights, forwards and back.
model::Iteration chain(std::uint32_t layers) {
  constexpr std::uint64_t kBytes = 4 << 20U, kRow = 1 << 16U;
  model::Iteration it;
  it.name = "chain";
  const auto add = [&it](std::string name, bool in_memory, bool to_memory, bool weight) {
    it.tensors.push_back({std::move(name), kBytes, kRow, in_memory, to_memory, weight});
    return static_cast<std::uint32_t>(it.tensors.size() - 1);
  };
  std::vector<std::uint32_t> values{add("x", true, false, false)}, weights;
  for (std::uint32_t i = 0; i < layers; ++i) {
    const bool product = i % 2 == 0;
    weights.push_back(product ? add(fmt::format("w{}", i), true, false, true) : model::kNever);
    values.push_back(add(fmt::format("y{}", i), false, false, false));
    model::Step step{fmt::format("l{}", i),
                     product ? "Gemm" : "Relu",
                     false,
                     product,
                     product ? 1e9 : 1e6,
                     {{values[i], true, false, 1, 1}, {values[i + 1], false, true}}};
    if (product) step.accesses.push_back({weights[i], true, false, 1, 1});
    it.steps.push_back(std::move(step));
  }
  std::uint32_t gradient = add("dy", true, false, false);
  for (std::uint32_t i = layers; i-- > 0;) {
    const bool product = i % 2 == 0;
    model::Step step{fmt::format("l{}", i), product ? "Gemm" : "Relu", true, product, product ? 2e9 : 1e6, {}};
    const std::uint32_t next = add(fmt::format("dx{}", i), false, false, false);
    step.accesses = {{gradient, true, false, 1, 2}, {values[i], true, false, 1, 1}, {next, false, true}};
    if (product) {
      step.accesses.push_back({weights[i], true, false, 1, 1});
      step.accesses.push_back({add(fmt::format("dw{}", i), false, true, true), false, true});
    }
    it.steps.push_back(std::move(step));
    gradient = next;
  }
  return it;
}

/// One estimate at 24 MiB.
Json one_estimate(const model::Iteration &iteration, model::Policy policy) {
  RunTimer timer;
  timer.repeat_for(kShortSeconds, [&] {
    model::estimate(policy, iteration, {std::uint64_t{24} << 20U, kBandwidth, kThroughput});
  });
  return {{"steps", iteration.steps.size()}, {"estimates", 1}, {"seconds", timer.seconds()}};
}

/// A step of ResNet-50 in tiles, from shapes alone.
Json step_in_tiles() {
  const compiler::Network network =
      compiler::load_network(runtime::find_model("resnet50"), compiler::NetworkSettings(4));
  const gradweave::Machine npu = load_machine(runtime::find_npu("small"));
  RunTimer timer;
  timer.repeat_for(kShortSeconds, [&] { model::estimate_step(network.layers, model::BackOrder::kByShape, npu); });
  return {{"steps", 2 * network.layers.size()}, {"estimates", 1}, {"seconds", timer.seconds()}};
}

/// The thesis's capacities, on its networks.
Json whole_sweeps(model::Policy policy) {
  model::Sweep sweep{{}, kBandwidth, kThroughput, {}};
  for (std::uint64_t mebibytes = 24; mebibytes <= 1000; mebibytes += 2)
    sweep.capacities.push_back(mebibytes << 20U);
  std::size_t steps = 0, estimates = 0;
  double seconds = 0;
  for (const Subject &subject : kThesisNetworks) {
    const model::Iteration iteration = iteration_of(subject);
    const Stopwatch stopwatch;
    estimates += model::estimate(policy, iteration, sweep).size();
    seconds += stopwatch.cpu_seconds();
    steps += iteration.steps.size();
  }
  return {{"steps", steps}, {"estimates", estimates}, {"seconds", seconds}};
}

class MemorySection final : public Section {
public:
  std::string title() const override {
    return "The memory model of training: estimates of whole iterations; one thread, CPU time";
  }
  std::string head() const override { return fmt::format(kMemoryRow, "what", "steps", "estimates", "s", "us/step"); }

  std::vector<Measurement> measurements() const override {
    std::vector<Measurement> all;
    const auto add = [&all](std::string name, const std::string &series, double limit, double seconds, auto measure) {
      all.push_back({name, seconds, [=](const auto &) {
                       Json measured = measure();
                       measured["name"] = name;
                       measured["series"] = series;
                       measured["limit"] = limit;
                       return measured;
                     }});
    };
    add("resnet50 in tiles", "tiles", 0, 1, step_in_tiles);
    for (const model::Policy policy : {model::Policy::kThesis, model::Policy::kRows}) {
      const std::string name(to_string(policy));
      add(fmt::format("resnet50, {}", name), "one", policy == model::Policy::kThesis ? kOneSeconds : 0, 1,
          [policy] { return one_estimate(iteration_of(kThesisNetworks[0]), policy); });
      add(fmt::format("489 capacities, 4 networks, {}", name), "all", kAllSeconds, 10,
          [policy] { return whole_sweeps(policy); });
      for (const std::uint32_t layers : {1000U, 2000U, 5000U, 10000U})
        add(fmt::format("chain of {} layers, {}", layers, name), name, 0, 1,
            [policy, layers] { return one_estimate(chain(layers), policy); });
    }
    return all;
  }

  std::string rows(const Json &m, std::vector<std::string> &missed) const override {
    const double seconds = m["seconds"], limit = m["limit"], steps = m["steps"];
    if (limit > 0 && seconds > limit)
      missed.push_back(fmt::format("{}: {:.3g} s, at most {} s", m["name"].get<std::string>(), seconds, limit));
    return fmt::format(kMemoryRow, m["name"].get<std::string>(), m["steps"].get<std::size_t>(),
                       m["estimates"].get<std::size_t>(), fmt::format("{:.5f}", seconds),
                       fmt::format("{:.3f}", 1e6 * seconds / steps / m["estimates"].get<double>()));
  }

  std::string conclusion(const std::vector<Json> &measured) const override {
    std::string text;
    for (const char *series : {"thesis", "rows"})
      if (const auto points = points_of(measured, series); points.size() > 1)
        text += fmt::format("{}: seconds grow as steps^{:.2f}\n", series, exponent(points, "steps"));
    return text + "(power 1: linear)\n";
  }

private:
  static constexpr double kOneSeconds = 5e-3, kAllSeconds = 10;
};

} // namespace

std::unique_ptr<Section> memory_section() { return std::make_unique<MemorySection>(); }

} // namespace gradweave::bench
