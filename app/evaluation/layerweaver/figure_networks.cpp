// Figures 2 to 4: networks by themselves.
#include "app/evaluation/layerweaver/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gradweave::evaluation::layerweaver {
namespace {

/// The scenario on the data sheet of each kind of NPU: the first of each experiment.
const Scenario &first_of(const WeaveStudy &study, std::string_view experiment) {
  for (const Scenario &scenario : study.scenarios)
    if (scenario.of == experiment) return scenario;
  return study.scenarios.front();
}

const WeaveNetwork *find(const WeaveStudy &study, std::string_view name) {
  for (const WeaveNetwork &network : study.networks)
    if (network.name == name) return &network;
  return nullptr;
}

/// Busy times as a line that is up while something is done.
Plot::Points steps(std::string name, const Facts &f, std::size_t from, std::size_t to, double height) {
  Plot::Points points{std::move(name), {}, {}, true};
  const auto add = [&](double seconds, double y) {
    points.x.push_back(1e3 * seconds);
    points.y.push_back(y);
  };
  for (const std::array<double, 4> &layer : f.times) {
    add(layer[from], height);
    add(layer[from], height + 0.8);
    add(layer[to], height + 0.8);
    add(layer[to], height);
  }
  return points;
}

} // namespace

Figure figure2(const Inputs &inputs) {
  Figure figure;
  figure.title = "Figure 2: timelines of ResNeXt-50 and BERT-large, batch 1";
  figure.method = "One batch by itself. Memory is up while a layer's weights are fetched, PEs while a layer computes. "
                  "The text does not say which NPU the figure is of; its axes end at 2.0 and 2.5 ms.";
  for (const Scenario &scenario : inputs.study.scenarios) {
    if (scenario.of != "single") continue;
    for (const char *name : {"RX", "BL"}) {
      const WeaveNetwork *network = find(inputs.study, name);
      if (network == nullptr) continue;
      const Facts f = inputs.weavings.facts(*network, scenario);
      figure.plots.push_back({fmt::format("figure2-{}", figure.plots.size()),
                              fmt::format("{} on {}", name, scenario.name),
                              "ms",
                              "memory below, PEs above",
                              false,
                              {steps("memory", f, 0, 1, 0), steps("PEs", f, 2, 3, 1)}});
      Row row = inputs.row("2", fmt::format("{}.end", name), 1e3 * f.first);
      row.key = fmt::format("{}.{}", scenario.name, row.key);
      row.text = fmt::format("{}: {}", scenario.name, row.text);
      row.note = fmt::format("computes {:.3f} and fetches {:.3f} ms", 1e3 * f.compute, 1e3 * f.fetch);
      figure.rows.push_back(std::move(row));
    }
  }
  return figure;
}

Figure figure3(const Inputs &inputs) {
  Figure figure;
  figure.title = "Figure 3: arithmetic intensity over the batch";
  figure.method = "Operations, of which a multiply-add is two, for each byte of weights. Lines across: what each NPU "
                  "computes while it fetches a byte.";
  Table networks{"Networks", {"network", "layers with weights", "weights, millions", "parameters, millions"}, {}};
  Plot plot{"figure3", "Operations a byte of weights", "batch", "operations a byte", true, {}};
  const Scenario &base = first_of(inputs.study, "multi");
  for (const WeaveNetwork &network : inputs.study.networks) {
    Plot::Points line{network.name, {}, {}, true};
    Facts last;
    for (const std::uint32_t batch : {1U, 2U, 4U, 8U, 16U}) {
      Scenario scenario = base;
      scenario.batch = batch;
      last = inputs.weavings.facts(network, scenario);
      line.x.push_back(batch);
      line.y.push_back(2 * last.multiply_adds / (last.weights * scenario.machine.arrays.element_bytes));
    }
    plot.series.push_back(std::move(line));
    networks.rows.push_back({network.name, fmt::format("{:.0f}", last.layers),
                             fmt::format("{:.2f}", last.weights / 1e6), fmt::format("{:.2f}", last.parameters / 1e6)});
    if (find_published(inputs.study, "3", network.name + ".layers") != nullptr)
      figure.rows.push_back(inputs.row("3", network.name + ".layers", last.layers));
  }
  for (const WeaveMachine &machine : inputs.study.machines) {
    const double ratio = 2 * machine.arrays.peak() / machine.bandwidth / 1e9;
    plot.series.push_back({machine.name, {1, 16}, {ratio, ratio}, true});
  }
  figure.tables.push_back(std::move(networks));
  figure.plots.push_back(std::move(plot));
  figure.notes = {
      fmt::format("Sequences of {} tokens, and {} bytes a weight.", base.tokens, base.machine.arrays.element_bytes),
      "The paper counts 53 layers of ResNet-50 and 75 of BERT-base: ours have the classifier, and the "
      "pooler but no embeddings, as products that have weights."};
  return figure;
}

Figure figure4(const Inputs &inputs) {
  Figure figure;
  figure.title = "Figure 4: utilisation, one model at a time";
  figure.method = "Share of the time in which PEs compute and memory is read, of one model served again and again.";
  for (const char *experiment : {"single", "multi"})
    for (const std::uint32_t batch : {1U, 16U}) {
      Scenario scenario = first_of(inputs.study, experiment);
      scenario.batch = batch;
      Chart chart{fmt::format("figure4-{}-{}", experiment, batch),
                  fmt::format("{}, batch {}, {} tokens", scenario.machine.name, batch, scenario.tokens),
                  "% of the time",
                  {},
                  {{"PEs", {}}, {"memory", {}}},
                  std::nullopt,
                  false};
      for (const WeaveNetwork &network : inputs.study.networks) {
        const Facts f = inputs.weavings.facts(network, scenario);
        chart.groups.push_back(network.name);
        chart.series[0].values.push_back(100 * f.compute / f.alone);
        chart.series[1].values.push_back(100 * f.fetch / f.alone);
      }
      figure.charts.push_back(std::move(chart));
    }
  return figure;
}

} // namespace gradweave::evaluation::layerweaver
