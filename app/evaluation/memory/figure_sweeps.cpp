// Figures 5.2 to 5.4: traffic, time and bandwidth over capacity.
#include "app/evaluation/memory/figures.hpp"

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gradweave::evaluation::memory {
namespace {

constexpr double kGiga = 1e9;

Plot::Points line(const Inputs &inputs, std::string name, const SweepResult &result,
                  const std::function<double(const SweepPoint &)> &value) {
  Plot::Points points{std::move(name), {}, {}};
  const std::vector<std::uint64_t> capacities = inputs.study.capacities();
  for (std::size_t i = 0; i < capacities.size(); ++i) {
    points.x.push_back(static_cast<double>(capacities[i]) / kMebi);
    points.y.push_back(value(result.points[i]));
  }
  return points;
}

/// What of a network's iteration is drawn over capacity.
Plot over_capacity(const std::string &figure, const MemoryNetwork &network, std::string_view what, std::string unit,
                   std::vector<Plot::Points> lines) {
  return {figure + "-" + network.name,
          fmt::format("{}: {}", network.name, what),
          "MiB on chip",
          std::move(unit),
          false,
          std::move(lines)};
}

SweepResult quicker(const Inputs &inputs, const MemoryNetwork &network) {
  SweepSpec spec = inputs.spec(network);
  spec.sweep.throughput = inputs.study.quick_throughput * 1e12;
  return sweep(inputs.evaluations, spec);
}

/// Published numbers whose key is NETWORK.TIME: what is `kind` then for a capacity.
template <typename Value>
void add_rows(const Inputs &inputs, Figure &figure, const char *id, const MemoryNetwork &network, const char *kind,
              Value value) {
  const std::string prefix = network.name + "." + kind;
  for (const Published &published : inputs.study.published) {
    if (published.figure != id || published.key.rfind(prefix, 0) != 0) continue;
    const auto mebibytes = static_cast<std::uint32_t>(std::stoul(published.key.substr(prefix.size())));
    figure.rows.push_back(inputs.row(id, published.key, value(mebibytes)));
  }
}

} // namespace

Figure figure52(const Inputs &inputs) {
  Figure figure;
  figure.title = "Figure 5.2: traffic over capacity";
  figure.method = "Bytes of an iteration into the cache and out of it.";
  Table knees{"Capacities from which reuse is whole, MiB",
              {"network", "all tensors of the largest steps (3.3.2)", "with what passes by, where least does (3.3.3)",
               "where most does"},
              {}};
  for (const MemoryNetwork &network : inputs.study.networks) {
    const SweepResult result = sweep(inputs.evaluations, inputs.spec(network));
    figure.plots.push_back(
        over_capacity("figure5.2", network, "traffic of an iteration", "GB",
                      {line(inputs, "in", result, [](const SweepPoint &p) { return p.in / kGiga; }),
                       line(inputs, "out", result, [](const SweepPoint &p) { return p.out / kGiga; })}));
    const SweepPoint &first = result.points.front();
    add_rows(inputs, figure, "5.2", network, "traffic.", [&](std::uint32_t mebibytes) {
      return change(first.traffic(), point_at(inputs, result, mebibytes).traffic());
    });
    const NetworkFacts f = facts(inputs.evaluations, inputs.subject(network));
    const auto mebibytes = [](double bytes) { return fmt::format("{:.0f}", bytes / kMebi); };
    knees.rows.push_back({network.name, mebibytes(f.largest_step), mebibytes(f.largest_step + f.passing_least),
                          mebibytes(f.largest_step + f.passing_most)});
    if (find_published(inputs.study, "5.2", network.name + ".knee") != nullptr)
      figure.rows.push_back(inputs.row("5.2", network.name + ".knee", (f.largest_step + f.passing_least) / kMebi));
    if (find_published(inputs.study, "5.2", network.name + ".reloads") != nullptr)
      figure.rows.push_back(
          inputs.row("5.2", network.name + ".reloads", (first.in - first.out) / f.weights / 2,
                     "bytes in less bytes out over twice the weights' bytes: forwards and back each reads them T "
                     "times"));
  }
  figure.tables.push_back(std::move(knees));
  figure.notes = {
      "The thesis takes knees from its equations of sections 3.3.2 and 3.3.3: the largest steps are ways back "
      "through point-wise layers. Where a block's tensor passes them by everywhere it counts (Transformer); "
      "where it does so in some blocks only (ResNet-50), the thesis's number is that without, and traffic "
      "here drops once more at the larger one."};
  return figure;
}

Figure figure53(const Inputs &inputs) {
  Figure figure;
  figure.title = "Figure 5.3: time over capacity";
  figure.method =
      fmt::format("Milliseconds of an iteration at {} and {} x 10^12 operations a second, and the speed-up.",
                  inputs.study.throughput, inputs.study.quick_throughput);
  const double bound = inputs.study.quick_throughput / inputs.study.throughput;
  Plot speedups{
      "figure5.3-speedup", "Speed-up by the quicker arithmetic, and its bound", "MiB on chip", "x", false, {}};
  for (const MemoryNetwork &network : inputs.study.networks) {
    const SweepResult slow = sweep(inputs.evaluations, inputs.spec(network)), quick = quicker(inputs, network);
    const auto milliseconds = [](const SweepPoint &p) { return 1e3 * p.seconds; };
    figure.plots.push_back(
        over_capacity("figure5.3", network, "time of an iteration", "ms",
                      {line(inputs, fmt::format("{} T/s", inputs.study.throughput), slow, milliseconds),
                       line(inputs, fmt::format("{} T/s", inputs.study.quick_throughput), quick, milliseconds)}));
    Plot::Points ratio = line(inputs, network.name, slow, milliseconds);
    for (std::size_t i = 0; i < ratio.y.size(); ++i)
      ratio.y[i] /= milliseconds(quick.points[i]);
    add_rows(inputs, figure, "5.3", network, "time.", [&](std::uint32_t mebibytes) {
      return change(slow.points.front().seconds, point_at(inputs, slow, mebibytes).seconds);
    });
    add_rows(inputs, figure, "5.3", network, "speedup.", [&](std::uint32_t mebibytes) {
      return point_at(inputs, slow, mebibytes).seconds / point_at(inputs, quick, mebibytes).seconds;
    });
    speedups.series.push_back(std::move(ratio));
  }
  const std::vector<double> ends{static_cast<double>(inputs.study.from), static_cast<double>(inputs.study.to)};
  speedups.series.push_back({"bound", ends, {bound, bound}});
  figure.plots.push_back(std::move(speedups));
  figure.rows.push_back(inputs.row("5.3", "bound", bound));
  for (const char *key : {"more", "more.again"})
    figure.rows.push_back(inputs.row("5.3", key, change(inputs.study.throughput, inputs.study.quick_throughput)));
  return figure;
}

Figure figure54(const Inputs &inputs) {
  Figure figure;
  figure.title = "Figure 5.4: average bandwidth over capacity";
  figure.method = fmt::format("Bytes moved over the time of an iteration, with {} and {} GB/s to memory.",
                              inputs.study.bandwidth, inputs.study.fast_bandwidth);
  Table table{"GB/s, and by how much the faster memory shortens an iteration",
              {"network", "small cache, slow", "fast", "less time, %", "large cache, slow", "fast", "less time, %"},
              {}};
  for (const MemoryNetwork &network : inputs.study.networks) {
    SweepSpec fast_spec = inputs.spec(network);
    fast_spec.sweep.bandwidth = inputs.study.fast_bandwidth * kGiga;
    const SweepResult slow = sweep(inputs.evaluations, inputs.spec(network));
    const SweepResult fast = sweep(inputs.evaluations, fast_spec);
    const auto average = [](const SweepPoint &p) { return p.traffic() / p.seconds / kGiga; };
    figure.plots.push_back(
        over_capacity("figure5.4", network, "average bandwidth", "GB/s",
                      {line(inputs, fmt::format("{} GB/s", inputs.study.bandwidth), slow, average),
                       line(inputs, fmt::format("{} GB/s", inputs.study.fast_bandwidth), fast, average)}));
    std::vector<std::string> cells{network.name};
    for (const std::uint32_t mebibytes : {inputs.study.small_capacity, inputs.study.large_capacity}) {
      const SweepPoint &a = point_at(inputs, slow, mebibytes), &b = point_at(inputs, fast, mebibytes);
      cells.insert(cells.end(), {fmt::format("{:.0f}", average(a)), fmt::format("{:.0f}", average(b)),
                                 fmt::format("{:.1f}", -change(a.seconds, b.seconds))});
    }
    table.rows.push_back(std::move(cells));
    add_rows(inputs, figure, "5.4", network, "time.", [&](std::uint32_t mebibytes) {
      return change(slow.points.front().seconds, point_at(inputs, slow, mebibytes).seconds);
    });
  }
  figure.tables.push_back(std::move(table));
  return figure;
}

} // namespace gradweave::evaluation::memory
