// Figures 1, 10 and 11: one layer's tilings, moves and what cores share.
#include "app/evaluation/flexer/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gradweave::evaluation::flexer {
namespace {

struct Shown {
  const char *network, *layer, *paper; ///< `paper`: what the layer is there
};
constexpr std::array<Shown, 2> kShown{{{"VGG-16", "conv4_2", "conv4_2"}, {"ResNet-50", "conv3_1.reduce", "conv3_1_1"}}};

std::string name_of(const Shown &shown) { return fmt::format("{} {}", shown.network, shown.paper); }

std::string brief_of(Way way) {
  constexpr std::array<const char *, 4> kNames{"Flexer", "(a)", "(b)", "list"};
  return kNames.at(static_cast<std::size_t>(way));
}

/// Moves of a schedule by type and by how often a tile moves.
void add_moves(Table &table, Chart &chart, const std::string &who, const Detail &detail) {
  chart.groups.push_back(who);
  for (std::size_t t = 0; t < kTypes; ++t) {
    const auto &moved = detail.moved.at(t);
    double all = 0;
    std::vector<std::string> row{who, std::string(to_string(static_cast<Type>(t)))};
    for (const double bytes : moved)
      all += bytes;
    row.push_back(fmt::format("{:.0f}", all));
    for (const double bytes : moved)
      row.push_back(fmt::format("{:.0f}", bytes));
    chart.series[t].values.push_back(all);
    if (all > 0) table.rows.push_back(std::move(row));
  }
}

/// Every element once: an unlimited scratchpad.
Detail unlimited(const compiler::Layer &layer) {
  Detail detail;
  const std::array<double, 3> once = bytes_once(layer);
  for (std::size_t t = 0; t < once.size(); ++t)
    detail.moved.at(t).at(0) = once.at(t);
  return detail;
}

} // namespace

Figure figure1(const Inputs &inputs) {
  Figure figure;
  figure.title = "Figure 1: a layer's tilings, out of order";
  figure.method = fmt::format("Cycles and bytes of Flexer's schedules of the {} tilings of the best estimates, on two "
                              "cores (arch1), and the best of each way. The text does not say which machine.",
                              inputs.study.cloud / 5);
  for (const Shown &shown : kShown)
    if (const std::optional<Case> c = find_case(inputs.study, shown.network, shown.layer, "arch1")) {
      Plot plot{fmt::format("figure1-{}", figure.plots.size()), name_of(shown), "cycles", "bytes moved", true, {}};
      Plot::Points cloud{"Flexer, all tilings", {}, {}, false};
      for (const Taken &taken : inputs.runs.cloud(c->layer, c->machine->npu)) {
        cloud.x.push_back(taken.cycles);
        cloud.y.push_back(taken.bytes);
      }
      plot.series.push_back(std::move(cloud));
      const LayerRuns runs = inputs.runs.all(c->layer, c->machine->npu);
      for (const Way way : kWays)
        plot.series.push_back({"best of " + brief_of(way), {runs[way].cycles}, {runs[way].bytes}, false});
      plot.series.push_back({"bound", {runs.bound.cycles}, {runs.bound.bytes}, false});
      figure.plots.push_back(std::move(plot));
    }
  return figure;
}

Figure figure10(const Inputs &inputs) {
  Figure figure;
  figure.title = "Figure 10: what moves, and how often, on arch6";
  figure.method = "Bytes of loads and stores by type of data, and of tiles that move once, twice and so on. On-chip: "
                  "every element once.";
  for (const Shown &shown : kShown)
    if (const std::optional<Case> c = find_case(inputs.study, shown.network, shown.layer, "arch6")) {
      Table table{name_of(shown) + ": bytes", {"schedule", "type", "all"}, {}};
      for (std::size_t times = 1; times <= Detail::kTimes; ++times)
        table.columns.push_back(times < Detail::kTimes ? fmt::format("{} x", times)
                                                       : fmt::format("{} x or more", times));
      Chart chart{
          fmt::format("figure10-{}", figure.charts.size()), name_of(shown), "bytes", {}, {}, std::nullopt, true};
      for (std::size_t t = 0; t < kTypes; ++t)
        chart.series.push_back({std::string(to_string(static_cast<Type>(t))), {}});
      add_moves(table, chart, "on-chip", unlimited(c->layer));
      for (const Way way : kWays)
        add_moves(table, chart, brief_of(way), inputs.runs.detail(c->layer, c->machine->npu, way));
      figure.tables.push_back(std::move(table));
      figure.charts.push_back(std::move(chart));
    }
  figure.notes = {"The paper's baseline keeps the input of conv4_2 and the sums of conv3_1_1, and reloads all tiles of "
                  "a type equally often; here regions keep what is needed soonest, so that counts may differ."};
  return figure;
}

Figure figure11(const Inputs &inputs) {
  Figure figure;
  figure.title = "Figure 11: what cores share";
  figure.method = "Shares of steps, of as many operations in the order of issue as there are cores (arch6), by what at "
                  "least two of them read.";
  constexpr std::array<const char *, 4> kPatterns{"input", "weights", "both", "nothing"};
  for (const Shown &shown : kShown)
    if (const std::optional<Case> c = find_case(inputs.study, shown.network, shown.layer, "arch6")) {
      Chart chart{fmt::format("figure11-{}", figure.charts.size()),
                  name_of(shown),
                  "share of steps",
                  {},
                  {},
                  std::nullopt,
                  true};
      for (const char *pattern : kPatterns)
        chart.series.push_back({pattern, {}});
      Table table{name_of(shown), {"schedule", "input", "weights", "both", "nothing"}, {}};
      for (const Way way : kWays) {
        const Detail detail = inputs.runs.detail(c->layer, c->machine->npu, way);
        chart.groups.push_back(brief_of(way));
        std::vector<std::string> row{brief_of(way)};
        for (std::size_t i = 0; i < detail.shared.size(); ++i) {
          chart.series[i].values.push_back(detail.shared.at(i));
          row.push_back(fmt::format("{:.3f}", detail.shared.at(i)));
        }
        table.rows.push_back(std::move(row));
      }
      figure.charts.push_back(std::move(chart));
      figure.tables.push_back(std::move(table));
    }
  return figure;
}

} // namespace gradweave::evaluation::flexer
