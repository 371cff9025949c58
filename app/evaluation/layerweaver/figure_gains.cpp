// The abstract's numbers, pair by pair, and what bounded leads and tiles add.
#include "app/evaluation/layerweaver/figures.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace gradweave::evaluation::layerweaver {
namespace {

/// Points that a number may be off to be called attainable.
constexpr double kAttained = 3;

double percent(double throughput) { return 100 * (throughput - 1); }

std::string fixed(double throughput) { return fmt::format("{:.3f}", throughput); }

void add_scenario(const Inputs &inputs, Figure &figure, const Scenario &scenario) {
  const Means m = means(inputs, scenario, Mix::kFree, false);
  for (const auto &[key, ours] :
       {std::pair{"throughput", percent(m.greedy)}, {"compute", m.compute}, {"fetch", m.fetch}}) {
    Row row = inputs.row("abstract", fmt::format("{}.{}", scenario.of, key), ours);
    row.key = fmt::format("{}.{}", scenario.name, key);
    row.text = fmt::format("{}: {}", scenario.name, row.text);
    const bool attained = row.ours[1] && std::abs(*row.ours[1]) <= kAttained;
    row.note = fmt::format("{} under: {}", attained ? "attainable" : "not attained", assumptions(scenario));
    figure.rows.push_back(std::move(row));
  }
}

/// The means of policies in a row of a table.
std::vector<std::string> cells(std::string name, const Means &m) {
  return {std::move(name),  fixed(m.round_robin), fixed(m.ai_mt), fixed(m.greedy),
          fixed(m.bounded), fixed(m.tiles),       fixed(m.bound)};
}

const std::vector<std::string> kPolicies{"round robin", "AI-MT-like", "greedy", "bounded", "tiles", "bound"};

std::vector<std::string> columns(std::string first) {
  std::vector<std::string> all{std::move(first)};
  all.insert(all.end(), kPolicies.begin(), kPolicies.end());
  return all;
}

} // namespace

Figure abstract(const Inputs &inputs) {
  Figure figure;
  figure.title = "The abstract's numbers";
  figure.method =
      "Means over 16 pairs. Queues never end, and the policy decides which model gets how much. Utilisation "
      "is the share of the time; points are its difference to one model at a time, each model half of it.";
  for (const Scenario &scenario : inputs.study.scenarios)
    add_scenario(inputs, figure, scenario);
  figure.notes = {"A relative reading of the utilisations is not possible: a mean of 44.0 and 28.7 % cannot give 60.1.",
                  "Scenarios called fitted have parameters that were searched for with the published numbers in view."};
  return figure;
}

Figure gains(const Inputs &inputs) {
  Figure figure;
  figure.title = "Pair by pair";
  figure.method = fmt::format("Throughput, 1: one model at a time, of as many requests of each model as take the same "
                              "time alone. Bounded and tiles: the best of {} leads and two tie rules. Bound: all "
                              "computing or all fetching, whichever is longer.",
                              inputs.study.leads.size());
  for (const Scenario &scenario : inputs.study.scenarios) {
    Table table{scenario.name, columns("pair"), {}};
    Chart chart{"pairs-" + std::to_string(figure.charts.size()), scenario.name, "throughput", {}, {}, 1, false};
    for (const char *name : {"greedy", "bounded", "tiles", "bound"})
      chart.series.push_back({name, {}});
    for (const auto &[first, second] : inputs.weavings.pairs()) {
      const PairResult r = inputs.weavings.pair({scenario, first, second, Mix::kEqual, true});
      const std::string name = fmt::format("{}+{}", first.name, second.name);
      table.rows.push_back({name, fixed(r.round_robin.throughput), fixed(r.ai_mt.throughput),
                            fixed(r.greedy.throughput), fixed(r.bounded.throughput), fixed(r.tiles.throughput),
                            fixed(r.bound)});
      chart.groups.push_back(name);
      const double values[] = {r.greedy.throughput, r.bounded.throughput, r.tiles.throughput, r.bound};
      for (std::size_t i = 0; i < chart.series.size(); ++i)
        chart.series[i].values.push_back(values[i]);
    }
    table.rows.push_back(cells("mean", means(inputs, scenario, Mix::kEqual, true)));
    for (const bool with : {false, true})
      table.rows.push_back(
          cells(with ? "with NCF" : "without NCF", means(inputs, scenario, Mix::kEqual, true, {"NCF", with})));
    figure.tables.push_back(std::move(table));
    figure.charts.push_back(std::move(chart));
  }
  figure.notes = {"NCF's layers are so small that the least idle time is nearly always theirs: greedy serves NCF first "
                  "and its partner after it. Nearly all that a bounded lead adds comes from these pairs, and whether "
                  "the paper's scheduler starves them the stored text does not tell."};
  return figure;
}

Figure buffers(const Inputs &inputs) {
  Figure figure;
  figure.title = "Small buffers: layers and tiles";
  figure.method = fmt::format("Means over the pairs, requests as in 'pairs'. Tiles have at most {} KiB and {} "
                              "microseconds; one model at a time goes by layers.",
                              inputs.study.tile_kib, inputs.study.tile_microseconds);
  for (const Scenario &scenario : inputs.study.scenarios) {
    Table table{scenario.name, columns("MiB of weights"), {}};
    Plot plot{
        "buffers-" + std::to_string(figure.plots.size()), scenario.name, "MiB of weights", "throughput", true, {}};
    for (const std::string &policy : kPolicies)
      plot.series.push_back({policy, {}, {}, true});
    for (const double buffer : inputs.study.buffers) {
      Scenario small = scenario;
      small.buffer = buffer;
      const Means m = means(inputs, small, Mix::kEqual, true);
      table.rows.push_back(cells(fmt::format("{}", buffer), m));
      const double values[] = {m.round_robin, m.ai_mt, m.greedy, m.bounded, m.tiles, m.bound};
      for (std::size_t i = 0; i < plot.series.size(); ++i) {
        plot.series[i].x.push_back(buffer);
        plot.series[i].y.push_back(values[i]);
      }
    }
    figure.tables.push_back(std::move(table));
    figure.plots.push_back(std::move(plot));
  }
  figure.notes = {"A layer whose weights do not fit goes in parts of half of the buffer: the paper's pseudo-code does "
                  "not say what happens to it.",
                  "A tile costs nothing but its share of its layer's time and weights here."};
  return figure;
}

} // namespace gradweave::evaluation::layerweaver
