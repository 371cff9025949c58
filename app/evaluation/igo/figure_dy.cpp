// Figures 5 and 6: what reading dY costs.
#include "app/evaluation/igo/figure_support.hpp"
#include "compiler/ir/contraction.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace gradweave::evaluation::igo {
namespace {

/// dY's share of the backward traffic of each network, in percent.
struct Shares {
  std::vector<double> all, read;
};

Shares dy_shares(const Context &context, const Setting &setting, bool searched) {
  const Costs costs = costs_of(context, setting, searched);
  Shares shares;
  for (const Workload &workload : context.workloads.at(setting)) {
    double dy = 0, read = 0, all = 0;
    for (const compiler::Layer &layer : workload.network.layers) {
      const UnitResult result = costs.backward(layer, Technique::kBaseline);
      if (!result.problem.empty()) dy = std::numeric_limits<double>::quiet_NaN();
      dy += static_cast<double>(result.of(compiler::shared_gradient()).read);
      read += static_cast<double>(result.read_bytes());
      all += static_cast<double>(result.bytes());
    }
    shares.all.push_back(100 * dy / all);
    shares.read.push_back(100 * dy / read);
  }
  return shares;
}

} // namespace

Figure figure5(const Context &context) {
  Figure figure;
  figure.id = "5";
  figure.title = "Figure 5: dY's share of the backward pass's traffic, large NPU";
  figure.method = "Bytes of elements that the sequential baseline moves between DRAM and scratchpad in the backward "
                  "passes of all layers. Searched plans move less of everything.";
  const Setting setting = context.workloads.large();
  const Shares described = dy_shares(context, setting, false);
  const Shares searched = dy_shares(context, setting, true);
  const auto add = [&](const std::string &key, double by_described, double by_searched) {
    Row row = published_row(context, "5", key);
    row.ours[kOursDescribed] = by_described;
    row.ours[kOursSearched] = by_searched;
    figure.rows.push_back(std::move(row));
  };
  add("all", mean(described.all), mean(searched.all));
  add("read", mean(described.read), mean(searched.read));
  const std::vector<std::string> names = context.workloads.names();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (is_published(context, "5", "read." + names[i])) add("read." + names[i], described.read[i], searched.read[i]);
  const auto chart = [&](const char *name, const char *title, const Shares &shares) {
    figure.charts.push_back(network_chart(context, name, title, "% of the traffic",
                                          {{"of reads and writes", shares.all}, {"of reads", shares.read}}, {}));
  };
  chart("figure5-a", "dY's share, baseline as the paper describes it (a)", described);
  chart("figure5-b", "dY's share, searched baseline (b)", searched);
  return figure;
}

Figure figure6(const Context &context) {
  Figure figure;
  figure.id = "6";
  figure.title = "Figure 6: time if dY were read only once";
  figure.method =
      "The sequential baseline whose reads of dY for dW are left out, as if dY were still in the scratchpad; "
      "forward and backward pass. The speed-up is the mean of the networks' speed-ups.";
  for (const bool large : {true, false}) {
    const Setting setting = large ? context.workloads.large() : context.workloads.small();
    const std::string size = large ? "large" : "small";
    const Normalised values = normalised(context, setting, Technique::kDyOnce);
    const auto speed_up = [](std::vector<double> normalised_times) {
      for (double &value : normalised_times)
        value = 1 / value;
      return mean(normalised_times);
    };
    Row row = published_row(context, "6", size);
    row.ours[kOursDescribed] = speed_up(values.described);
    row.ours[kOursSearched] = speed_up(values.searched);
    figure.rows.push_back(std::move(row));
    figure.charts.push_back(
        network_chart(context, "figure6-" + size, fmt::format("dY read once, {} NPU", size), "time / baseline",
                      {{"over baseline (a)", values.described}, {"over searched baseline (b)", values.searched}}));
  }
  return figure;
}

} // namespace gradweave::evaluation::igo
