// Figures 12, 14, 15 and 16, and Algorithm 1 against the best order: execution times of the techniques.
#include "app/evaluation/igo/figure_support.hpp"

#include <fmt/format.h>

#include <utility>

namespace gradweave::evaluation::igo {
namespace {

constexpr const char *kAxis = "time / baseline";
constexpr const char *kMethod =
    "Cycles of the forward and the backward pass of all layers, over those of the baseline with the same tiling "
    "policy; averages are arithmetic means of the networks' reductions.";

/// One bar of each network: a technique in a setting.
struct Bar {
  std::string key;  ///< of the published number
  std::string name; ///< in the charts
  Setting setting;
  Technique technique = Technique::kPartition;
};

/// Adds a chart for each policy, and a row for each bar.
void add_bars(Figure &figure, const Context &context, const std::string &name, const std::string &title,
              const std::vector<Bar> &bars) {
  std::vector<Series> described, searched, crossed;
  for (const Bar &bar : bars) {
    const Normalised values = normalised(context, bar.setting, bar.technique);
    described.push_back({bar.name, values.described});
    searched.push_back({bar.name, values.searched});
    crossed.push_back({bar.name, values.crossed});
    figure.rows.push_back(gain_row(context, figure.id, bar.key, values));
  }
  const auto add = [&](const char *suffix, const std::string &over, std::vector<Series> series) {
    figure.charts.push_back(
        network_chart(context, name + suffix, fmt::format("{}: {}", title, over), kAxis, std::move(series)));
  };
  add("-a", "tiles of the paper, over the baseline as the paper describes it (a)", std::move(described));
  add("-b", "searched plans, over the searched baseline (b)", std::move(searched));
  add("-ab", "tiles of the paper, over the searched baseline (b)", std::move(crossed));
}

Figure gains_figure(const char *id, std::string title) {
  Figure figure;
  figure.id = id;
  figure.title = std::move(title);
  figure.method = kMethod;
  return figure;
}

} // namespace

Figure algorithm1(const Context &context) {
  Figure figure = gains_figure("algorithm1", "Section 4.3: Algorithm 1 against the best of three orders");
  for (const bool large : {false, true}) {
    const Setting setting = large ? context.workloads.large() : context.workloads.small();
    const std::string size = large ? "large" : "small";
    add_bars(figure, context, "algorithm1-" + size, fmt::format("Choice of the order, {} NPU", size),
             {{size + ".rearrange", "Algorithm 1", setting, Technique::kRearrange},
              {size + ".ideal", "best of three", setting, Technique::kIdeal}});
  }
  return figure;
}

Figure figure12(const Context &context) {
  Figure figure = gains_figure("12", "Figure 12: time with interleaving, rearrangement and data partitioning");
  for (const bool large : {false, true}) {
    const Setting setting = large ? context.workloads.large() : context.workloads.small();
    const std::string size = large ? "large" : "small";
    add_bars(figure, context, "figure12-" + size, fmt::format("The techniques, {} NPU", size),
             {{size + ".interleave", "Interleaving", setting, Technique::kInterleave},
              {size + ".rearrange", "+ rearrangement", setting, Technique::kRearrange},
              {size + ".partition", "+ data partitioning", setting, Technique::kPartition}});
  }
  figure.notes.push_back(
      fmt::format("Data partitioning on one core: the fastest of no parts and of {} parts along M, N or K, one after "
                  "another; the paper does not say how many. The searched plans of one core are not partitioned: their "
                  "tile shapes and loop orders are free already.",
                  fmt::join(context.study.parts, " or ")));
  return figure;
}

Figure figure14(const Context &context) {
  Figure figure = gains_figure("14", "Figure 14: all three techniques on several cores");
  std::vector<Bar> bars;
  for (std::size_t i = 0; i < context.study.large_npus.size(); ++i) {
    const Setting setting = context.workloads.large(i);
    bars.push_back({fmt::format("cores{}", setting.npu.cores), fmt::format("{} cores", setting.npu.cores), setting});
  }
  add_bars(figure, context, "figure14", "All three techniques on several cores", bars);
  figure.notes.emplace_back("The baseline of several cores is the sequential order with the batch cut over the cores "
                            "(weight sharing); batch, "
                            "scratchpad and bandwidth grow with the cores.");
  const std::size_t last = bars.size() - 1;
  const std::vector<std::string> names = context.workloads.names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string key = fmt::format("{}.{}", bars[last].key, names[i]);
    if (!is_published(context, "14", key)) continue;
    Normalised one;
    one.described = {figure.charts[0].series[last].values[i]};
    one.searched = {figure.charts[1].series[last].values[i]};
    one.crossed = {figure.charts[2].series[last].values[i]};
    figure.rows.push_back(gain_row(context, "14", key, one));
  }
  return figure;
}

Figure figure15(const Context &context) {
  Figure figure = gains_figure("15", "Figure 15: all three techniques with less DRAM bandwidth");
  std::vector<Bar> bars;
  for (const double factor : context.study.bandwidths)
    bars.push_back(
        {fmt::format("bandwidth{}", factor), fmt::format("{} x", factor), context.workloads.large(0, factor)});
  add_bars(figure, context, "figure15", "All three techniques, large NPU, bandwidth scaled", bars);
  return figure;
}

Figure figure16(const Context &context) {
  Figure figure = gains_figure("16", "Figure 16: all three techniques with other batch sizes");
  std::vector<Bar> bars;
  for (const std::uint32_t batch : context.study.batches)
    bars.push_back(
        {fmt::format("batch{}", batch), fmt::format("batch {}", batch), context.workloads.large(0, 1, batch)});
  add_bars(figure, context, "figure16", "All three techniques, large NPU, batch varied", bars);
  return figure;
}

} // namespace gradweave::evaluation::igo
