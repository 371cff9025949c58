#include "app/report/text_format.hpp"
#include "base/process/stopwatch.hpp"
#include "bench/section.hpp"
#include "bench/work/workloads.hpp"
#include "compiler/flexer/list_schedule.hpp"
#include "compiler/flexer/tilings.hpp"
#include "compiler/lower/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace gradweave::bench {
namespace {

using namespace compiler;

constexpr const char *kRow = "{:<20} {:<8} {:>6} {:>10} {:>9} {:>12} {:>10} {:>10}\n";

struct Point {
  const char *npu;
  std::uint32_t operations;
};

const std::vector<Point> &all_points() {
  static const std::vector<Point> points{{"flexer1", 300}, {"flexer1", 1800}, {"flexer5", 300}, {"flexer5", 1800}};
  return points;
}

std::string name_of(const Point &point) { return fmt::format("{} operations", point.operations); }

/// So many at a time of the ready ones, in any order.
double sets_of(std::uint64_t ready, std::uint32_t cores) {
  double sets = 1;
  for (std::uint32_t i = 0; i < std::min<std::uint64_t>(cores, ready); ++i)
    sets *= static_cast<double>(ready - i) / (i + 1);
  return sets;
}

/// A layer of tiles of the array's size, six by ten steps of so many rows.
Json measure(const Point &point) {
  const Machine npu = load_npu(point.npu);
  Layer layer;
  layer.name = "flexer";
  layer.m = point.operations / 60 * npu.rows;
  layer.k = 6 * npu.cols;
  layer.n = 10 * npu.cols;
  const std::vector<Layer> layers{layer};
  const Layout layout = make_layout(layers, Pass::kForward, npu);
  const flexer::Tiling tiling{{npu.rows, npu.cols, npu.cols}, form_of(PhaseKind::kForward).loops.front()};
  const std::vector<PhasePlan> phases{flexer::plan_of(PhaseKind::kForward, tiling, layer, npu)};
  const TileWalk walk(phases, layers, layout, npu);
  double steps = 0, all = 0, told_apart = 0, weighed = 0;
  const auto count = [&](const flexer::ListStep &step) {
    ++steps;
    all += sets_of(step.ready, npu.cores);
    told_apart += static_cast<double>(step.sets);
    weighed += static_cast<double>(step.weighed.size());
  };
  const Stopwatch stopwatch;
  if (!flexer::list_schedule(phases, walk, {}, npu.cores)) throw std::runtime_error("an operation does not fit");
  const double seconds = stopwatch.cpu_seconds();
  flexer::list_schedule(phases, walk, {}, npu.cores, ~std::uint64_t{0}, count);
  return {{"name", name_of(point)},
          {"npu", point.npu},
          {"cores", npu.cores},
          {"operations", phases.front().products.size()},
          {"seconds", seconds},
          {"all", all / steps},
          {"told_apart", told_apart / steps},
          {"weighed", weighed / steps}};
}

class FlexerSection final : public Section {
public:
  std::string title() const override {
    return "Flexer's list scheduler: operations a second, and sets of ready operations a step: all, those told apart, "
           "and those weighed after pruning; one thread, CPU time";
  }
  std::string head() const override {
    return fmt::format(kRow, "scheduled", "NPU", "cores", "operations", "op/s", "all sets", "told apart", "weighed");
  }
  std::vector<Measurement> measurements() const override {
    std::vector<Measurement> all;
    for (const Point &point : all_points())
      all.push_back(
          {fmt::format("{} on {}", name_of(point), point.npu), 0.5, [&point](const auto &) { return measure(point); }});
    return all;
  }
  std::string rows(const Json &m, std::vector<std::string> & /*missed*/) const override {
    const double seconds = m["seconds"], operations = m["operations"];
    return fmt::format(
        kRow, m["name"].get<std::string>(), m["npu"].get<std::string>(), m["cores"].get<std::uint32_t>(),
        runtime::grouped(m["operations"]), runtime::grouped(static_cast<std::uint64_t>(operations / seconds)),
        fmt::format("{:.1f}", m["all"].get<double>()), fmt::format("{:.1f}", m["told_apart"].get<double>()),
        fmt::format("{:.1f}", m["weighed"].get<double>()));
  }
  std::string conclusion(const std::vector<Json> & /*measured*/) const override { return ""; }
};

} // namespace

std::unique_ptr<Section> flexer_section() { return std::make_unique<FlexerSection>(); }

} // namespace gradweave::bench
