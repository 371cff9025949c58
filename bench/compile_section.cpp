#include "app/report/text_format.hpp"
#include "base/process/peak_memory.hpp"
#include "base/process/stopwatch.hpp"
#include "bench/growth.hpp"
#include "bench/section.hpp"
#include "bench/work/workloads.hpp"

#include <fmt/format.h>

namespace gradweave::bench {
namespace {

using compiler::Layer;

constexpr const char *kRow = "{:<28} {:<6} {:>7} {:>10} {:>9} {:>9} {:>8} {:>7}\n";
constexpr double kTargetMegabytes = 200; ///< of 10^6 commands, or 2,000 layers

Layer make_layer(std::uint32_t m, std::uint32_t k, std::uint32_t n, std::uint32_t index) {
  Layer layer;
  layer.name = fmt::format("l{}", index);
  layer.m = m;
  layer.k = k;
  layer.n = n;
  layer.index = index;
  if (index > 0) layer.input = fmt::format("l{}", index - 1);
  return layer;
}

/// A chain in which each layer reads what the one before it computes.
std::vector<Layer> chain(std::uint32_t layers) {
  std::vector<Layer> all;
  for (std::uint32_t i = 0; i < layers; ++i)
    all.push_back(make_layer(64, 48, 48, i));
  return all;
}

/// One layer, of as many tile products as `thousands` thousand commands take.
std::vector<Layer> tiles(std::uint32_t thousands) { return {make_layer(540 * thousands, 64, 64, 0)}; }

/// No two of one shape.
std::vector<Layer> shapes(std::uint32_t layers) {
  std::vector<Layer> all;
  for (std::uint32_t i = 0; i < layers; ++i)
    all.push_back(make_layer(64 + 8 * (i % 16), 64 + 8 * (i / 16), 96, i));
  for (Layer &layer : all)
    layer.input.clear();
  return all;
}

struct Series {
  const char *name, *row, *npu; ///< `row`: before the size in the name of a row
  std::vector<std::uint32_t> sizes;
  double expected_seconds; ///< of the largest
  std::vector<Layer> (*make)(std::uint32_t size);
  bool one_stream; ///< of all layers, in order; else each layer's plan is searched
};

const std::vector<Series> &all_series() {
  static const std::vector<Series> series{
      {"layers of one stream", "stream of layers", "test8", {250, 500, 1000, 2000}, 2, chain, true},
      {"tiles of one layer", "layer, thousand commands", "test8", {1, 10, 100, 1000}, 6, tiles, true},
      {"layers that are searched", "layers, searched", "test8", {8, 16, 32, 64}, 8, shapes, false}};
  return series;
}

Json measure(const Series &series, std::uint32_t size) {
  const Machine npu = load_npu(series.npu);
  const std::vector<Layer> layers = series.make(size);
  compiler::CompileOptions options;
  options.pass = compiler::Pass::kBoth;
  std::uint64_t commands = 0;
  const auto compile = [&] {
    commands = 0;
    if (series.one_stream) {
      options.schedule = compiler::Schedule("in_order");
      commands = compiler::compile(layers, npu, options).stream.size();
      return;
    }
    compiler::CompileCache cache;
    for (const Layer &layer : layers)
      commands += compiler::compile({layer}, npu, options, cache).stream.size();
  };
  const Stopwatch stopwatch;
  compile();
  const double seconds = stopwatch.cpu_seconds();
  return {{"series", series.name},
          {"name", fmt::format("{} {}", series.row, size)},
          {"npu", series.npu},
          {"layers", layers.size()},
          {"commands", commands},
          {"seconds", seconds},
          {"megabytes", static_cast<double>(peak_memory_bytes()) / 1e6}};
}

class CompileSection final : public Section {
public:
  std::string title() const override {
    return "What compiling costs: streams of ever more layers, layers of ever more tiles, both without a search, and "
           "ever more\nlayers that are searched; one thread, CPU time; memory is the peak of the process";
  }
  std::string head() const override {
    return fmt::format(kRow, "compiled", "NPU", "layers", "commands", "s", "us/cmd", "B/cmd", "MB");
  }

  std::vector<Measurement> measurements() const override {
    std::vector<Measurement> all;
    for (const Series &series : all_series())
      for (const std::uint32_t size : series.sizes)
        all.push_back({fmt::format("{} {}", series.row, size), series.expected_seconds * size / series.sizes.back(),
                       [&series, size](const auto &) { return measure(series, size); }});
    return all;
  }

  std::string rows(const Json &m, std::vector<std::string> &missed) const override {
    const double seconds = m["seconds"], commands = m["commands"], megabytes = m["megabytes"];
    const std::string name = m["name"];
    if (megabytes > kTargetMegabytes)
      missed.push_back(fmt::format("{}: {:.0f} MB, target {:.0f}", name, megabytes, kTargetMegabytes));
    return fmt::format(kRow, name, m["npu"].get<std::string>(), runtime::grouped(m["layers"]),
                       runtime::grouped(m["commands"]), fmt::format("{:.4f}", seconds),
                       fmt::format("{:.2f}", 1e6 * seconds / commands),
                       fmt::format("{:.0f}", 1e6 * megabytes / commands), fmt::format("{:.1f}", megabytes));
  }

  std::string conclusion(const std::vector<Json> &measured) const override {
    std::string text;
    for (const Series &series : all_series()) {
      const std::vector<const Json *> points = points_of(measured, series.name);
      if (points.size() < 2) continue; // measurements failed
      text += fmt::format("{}: seconds grow as commands^{:.2f}\n", series.name, exponent(points, "commands"));
    }
    return text + "(power 1: linear)\n";
  }
};

} // namespace

std::unique_ptr<Section> compile_section() { return std::make_unique<CompileSection>(); }

} // namespace gradweave::bench
