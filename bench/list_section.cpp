#include "app/report/text_format.hpp"
#include "base/process/stopwatch.hpp"
#include "bench/section.hpp"
#include "bench/work/workloads.hpp"
#include "compiler/list/blocks.hpp"
#include "compiler/list/list_order.hpp"
#include "compiler/lower/layout.hpp"

#include <fmt/format.h>

namespace gradweave::bench {
namespace {

using namespace compiler;

constexpr const char *kRow = "{:<20} {:<8} {:>6} {:>10} {:>9} {:>13} {:>10}\n";
constexpr double kTargetSeconds = 1; ///< of 10^4 products on four cores

struct Point {
  const char *npu;
  std::uint32_t products, beam;
};

const std::vector<Point> &all_points() {
  static const std::vector<Point> points{
      {"flexer1", 1000, 1}, {"flexer1", 10000, 1}, {"flexer5", 1000, 1}, {"flexer5", 10000, 1}, {"flexer5", 10000, 3}};
  return points;
}

std::string name_of(const Point &point) { return fmt::format("{} products", point.products); }

/// A layer of tiles of the array's size, ten by ten steps of so many rows.
Json measure(const Point &point) {
  const Machine npu = load_npu(point.npu);
  Layer layer;
  layer.name = "list";
  layer.m = point.products / 100 * npu.rows;
  layer.k = layer.n = 10 * npu.cols;
  const std::vector<Layer> layers{layer};
  const Layout layout = make_layout(layers, Pass::kForward, npu);
  std::vector<PhasePlan> phases(1);
  phases.front().kind = PhaseKind::kForward;
  phases.front().tile = {npu.rows, npu.cols, npu.cols};
  phases.front().products =
      list::blocked_products(PhaseKind::kForward, phases.front().tile, {4, 4, false}, layer, npu.cores);
  const TileWalk walk(phases, layers, layout, npu);
  list::ListOptions options;
  options.beam = point.beam;
  if (point.beam > 1) options.weights = {{0.5, 0.1, 2}, {0, 0.3, 2}, {1, 0.05, 2}};
  const Stopwatch stopwatch;
  const list::ListedOrder listed = list::list_order(walk, phases.front().products, options);
  return {{"name", name_of(point)},          {"npu", point.npu},   {"cores", npu.cores},
          {"products", listed.turns.size()}, {"beam", point.beam}, {"seconds", stopwatch.cpu_seconds()}};
}

class ListSection final : public Section {
public:
  std::string title() const override {
    return "List scheduling by what cores would wait for: products a second, by products and cores; one thread, CPU "
           "time";
  }
  std::string head() const override {
    return fmt::format(kRow, "scheduled", "NPU", "cores", "products", "beam", "products/s", "s");
  }
  std::vector<Measurement> measurements() const override {
    std::vector<Measurement> all;
    for (const Point &point : all_points())
      all.push_back({fmt::format("{} on {}, beam {}", name_of(point), point.npu, point.beam), 0.5,
                     [&point](const auto &) { return measure(point); }});
    return all;
  }
  std::string rows(const Json &m, std::vector<std::string> &missed) const override {
    const double seconds = m["seconds"], products = m["products"];
    if (products >= 10000 && seconds > kTargetSeconds)
      missed.push_back(fmt::format("{} on {}: {:.2f} s, target {:.0f}", m["name"].get<std::string>(),
                                   m["npu"].get<std::string>(), seconds, kTargetSeconds));
    return fmt::format(kRow, m["name"].get<std::string>(), m["npu"].get<std::string>(), m["cores"].get<std::uint32_t>(),
                       runtime::grouped(m["products"]), m["beam"].get<std::uint32_t>(),
                       runtime::grouped(static_cast<std::uint64_t>(products / seconds)),
                       fmt::format("{:.4f}", seconds));
  }
  std::string conclusion(const std::vector<Json> & /*measured*/) const override { return ""; }
};

} // namespace

std::unique_ptr<Section> list_section() { return std::make_unique<ListSection>(); }

} // namespace gradweave::bench
