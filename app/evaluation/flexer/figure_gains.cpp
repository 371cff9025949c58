// Figures 8 and 9: whole networks, and the layers of one.
#include "app/evaluation/flexer/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gradweave::evaluation::flexer {
namespace {

constexpr std::array<const char *, 5> kSeries{"Flexer over (a)", "Flexer over (b)", "list over (a)", "list over (b)",
                                              "bound over (a)"};

Chart chart_of(std::string name, std::string title, std::string axis) {
  Chart chart{std::move(name), std::move(title), std::move(axis), {}, {}, 1, false};
  for (const char *series : kSeries)
    chart.series.push_back({series, {}});
  return chart;
}

/// Speeds on one chart and data on another, a group for each line.
struct GainCharts {
  Chart speed, data;

  void add(const std::string &group, const Gains &gains) {
    speed.groups.push_back(group);
    data.groups.push_back(group);
    for (std::size_t i = 0; i < gains.size(); ++i) {
      speed.series[i].values.push_back(gains.at(i).speed);
      data.series[i].values.push_back(gains.at(i).data);
    }
  }
};

/// The largest of each column.
Gains largest(const std::vector<Gains> &all) {
  Gains most;
  most.fill({0, 0});
  for (const Gains &one : all)
    for (std::size_t i = 0; i < most.size(); ++i) {
      most.at(i).speed = std::max(most.at(i).speed, one.at(i).speed);
      most.at(i).data = std::max(most.at(i).data, one.at(i).data);
    }
  return most;
}

Gains mean_of(const std::vector<Gains> &all) {
  Gains mean;
  mean.fill({0, 0});
  for (const Gains &one : all)
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean.at(i).speed += one.at(i).speed / static_cast<double>(all.size());
      mean.at(i).data += one.at(i).data / static_cast<double>(all.size());
    }
  return mean;
}

void add_both(const Inputs &inputs, Figure &figure, const std::string &id, const std::string &name,
              const Gains &gains) {
  for (const bool data : {false, true}) {
    Row row = row_of(inputs, id, fmt::format("{}.{}", name, data ? "data" : "speedup"), gains, data);
    row.text = fmt::format("{}: {}", name, data ? "data transferred" : "speedup");
    figure.rows.push_back(std::move(row));
  }
}

} // namespace

Figure figure8(const Inputs &inputs) {
  Figure figure;
  figure.title = "Figure 8: networks on eight machines";
  figure.method = "All convolutions of a network one after the other, each by itself. The paper's numbers are the "
                  "largest over networks and machines.";
  std::vector<Gains> networks, layers;
  for (const FlexerNetwork &network : inputs.study.networks) {
    GainCharts charts{chart_of("figure8-speed-" + network.name, network.name + ": speedup", "times as fast"),
                      chart_of("figure8-data-" + network.name, network.name + ": less data", "times fewer bytes")};
    for (const FlexerMachine &machine : inputs.study.machines) {
      networks.push_back(gains_of(network_on(inputs, network, machine.npu)));
      charts.add(machine.name, networks.back());
      add_both(inputs, figure, "8", fmt::format("{} on {}", network.name, machine.name), networks.back());
      for (const compiler::Layer &layer : layers_on(network, machine.npu))
        layers.push_back(gains_of(inputs.runs.all(layer, machine.npu)));
    }
    figure.charts.push_back(std::move(charts.speed));
    figure.charts.push_back(std::move(charts.data));
  }
  std::vector<Row> rows{row_of(inputs, "8", "speedup", largest(networks), false),
                        row_of(inputs, "8", "data", largest(networks), true),
                        row_of(inputs, "8", "abstract.speedup", largest(layers), false),
                        row_of(inputs, "8", "abstract.data", largest(layers), true)};
  for (const bool data : {false, true}) {
    rows.push_back(row_of(inputs, "8", data ? "mean.data" : "mean.speedup", mean_of(networks), data));
    rows.back().text = data ? "Mean over networks and machines: data" : "Mean over networks and machines: speedup";
  }
  figure.rows.insert(figure.rows.begin(), rows.begin(), rows.end());
  figure.notes = {"The introduction calls 1.67 and 1.26 gains of individual layers, section 5 gains end to end; "
                  "section 5 agrees with its figures, and its reading is taken.",
                  "The largest of each column may be of different networks and machines."};
  return figure;
}

Figure figure9a(const Inputs &inputs) {
  Figure figure;
  figure.title = "Figure 9a: layers of VGG-16 on arch5";
  figure.method = "Each convolution by itself.";
  const FlexerNetwork *network = inputs.study.network("VGG-16");
  const FlexerMachine *machine = inputs.study.machine("arch5");
  if (network == nullptr || machine == nullptr) return figure;
  GainCharts charts{chart_of("figure9a-speed", "Speedup", "times as fast"),
                    chart_of("figure9a-data", "Less data", "times fewer bytes")};
  compiler::flexer::Policy fastest;
  fastest.metric = compiler::flexer::Metric::kLatency;
  Taken baseline{0, 0}, ours{0, 0}; // (a) by latency alone, and the list
  double most = 0;
  Table cycles{"Cycles", {"layer", "Flexer", "(a)", "(a) by latency", "(b)", "list", "bound"}, {}};
  Table bytes{"Bytes", {"layer", "Flexer", "(a)", "(b)", "list", "each tensor once"}, {}};
  std::vector<Gains> all;
  for (const compiler::Layer &layer : layers_on(*network, machine->npu)) {
    const LayerRuns runs = inputs.runs.all(layer, machine->npu);
    all.push_back(gains_of(runs));
    charts.add(layer.name, all.back());
    std::vector<std::string> cycle_row{layer.name}, byte_row{layer.name};
    for (const Taken &taken : {runs.of[0], runs.of[1], runs.of[2], runs.of[3], runs.bound}) {
      cycle_row.push_back(fmt::format("{:.0f}", taken.cycles));
      byte_row.push_back(fmt::format("{:.0f}", taken.bytes));
    }
    const Taken fast = inputs.runs.with(layer, machine->npu, Way::kLoopOrder, fastest);
    cycle_row.insert(cycle_row.begin() + 3, fmt::format("{:.0f}", fast.cycles));
    most = std::max(most, fast.cycles / runs[Way::kList].cycles);
    baseline += fast;
    ours += runs[Way::kList];
    cycles.rows.push_back(std::move(cycle_row));
    bytes.rows.push_back(std::move(byte_row));
  }
  figure.rows = {row_of(inputs, "9a", "speedup", largest(all), false),
                 row_of(inputs, "9a", "data", largest(all), true)};
  add_both(inputs, figure, "9a", "VGG-16 end to end", gains_of(network_on(inputs, *network, machine->npu)));
  figure.notes = {
      fmt::format("(a) is the best by latency x data, as the paper's; the list is the fastest. Over (a) by "
                  "latency alone the list is {:.2f} times as fast end to end, and {:.2f} times in one layer.",
                  baseline.cycles / ours.cycles, most)};
  figure.tables = {std::move(cycles), std::move(bytes)};
  figure.charts = {std::move(charts.speed), std::move(charts.data)};
  return figure;
}

namespace {

/// Flexer and (a) with data as the metric, over (a) with the paper's.
struct ByData {
  Taken baseline, product, data;
};

ByData by_data(const Inputs &inputs, const compiler::Layer &layer, const Machine &npu) {
  compiler::flexer::Policy policy;
  policy.metric = compiler::flexer::Metric::kData;
  const LayerRuns runs = inputs.runs.all(layer, npu);
  return {runs[Way::kLoopOrder], runs[Way::kFlexer], inputs.runs.with(layer, npu, Way::kFlexer, policy)};
}

Chart metric_chart(std::string name, std::string title) {
  Chart chart{std::move(name), std::move(title), "times better than (a)", {}, {}, 1, false};
  for (const char *series : {"speed, latency x data", "data, latency x data", "speed, data", "data, data"})
    chart.series.push_back({series, {}});
  return chart;
}

void add_metric(Figure &figure, Chart &chart, const std::string &group, const ByData &by) {
  const Gain product = gain(by.baseline, by.product), data = gain(by.baseline, by.data);
  chart.groups.push_back(group);
  const double values[] = {product.speed, product.data, data.speed, data.data};
  for (std::size_t i = 0; i < chart.series.size(); ++i)
    chart.series[i].values.push_back(values[i]);
  figure.tables.front().rows.push_back({group, fmt::format("{:.3f}", product.speed),
                                        fmt::format("{:.3f}", product.data), fmt::format("{:.3f}", data.speed),
                                        fmt::format("{:.3f}", data.data)});
}

Figure metric_figure(std::string title) {
  Figure figure;
  figure.title = std::move(title);
  figure.method = "Flexer's best schedule by latency x data and by data alone, both over (a) by latency x data. The "
                  "text gives no weights and no numbers; it says that data fall and speed falls more.";
  figure.tables = {{"Flexer over (a)", {"layers", "speed", "data", "speed by data", "data by data"}, {}}};
  return figure;
}

} // namespace

Figure figure9b(const Inputs &inputs) {
  Figure figure = metric_figure("Figure 9b: conv3_1 and conv3_2 of VGG-16 on arch5, for less data");
  Chart chart = metric_chart("figure9b", "Layers by what counts");
  for (const char *layer : {"conv3_1", "conv3_2"})
    if (const std::optional<Case> c = find_case(inputs.study, "VGG-16", layer, "arch5"))
      add_metric(figure, chart, layer, by_data(inputs, c->layer, c->machine->npu));
  if (!chart.groups.empty()) figure.charts.push_back(std::move(chart));
  return figure;
}

Figure figure9c(const Inputs &inputs) {
  Figure figure = metric_figure("Figure 9c: VGG-16 end to end on arch5, for less data");
  Chart chart = metric_chart("figure9c", "VGG-16 by what counts");
  const FlexerNetwork *network = inputs.study.network("VGG-16");
  const FlexerMachine *machine = inputs.study.machine("arch5");
  if (network == nullptr || machine == nullptr) return figure;
  ByData sum{{0, 0}, {0, 0}, {0, 0}};
  for (const compiler::Layer &layer : layers_on(*network, machine->npu)) {
    const ByData one = by_data(inputs, layer, machine->npu);
    sum.baseline += one.baseline;
    sum.product += one.product;
    sum.data += one.data;
  }
  add_metric(figure, chart, "VGG-16", sum);
  figure.charts.push_back(std::move(chart));
  return figure;
}

} // namespace gradweave::evaluation::flexer
