#include "app/page/bar_rows.hpp"
#include "app/report/page/sections.hpp"
#include "app/report/text_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace gradweave::report {

void add_ladder(page::Document &page, const std::vector<const Json *> &layers) {
  using Rung = std::pair<const char *, const char *>;
  std::multimap<std::uint64_t, const char *>
      rungs; // which bound is the highest depends on the layers; a ladder goes up
  for (const auto &[name, field] :
       {Rung{"multiply-adds, one a PE and cycle", "compute_bound"}, Rung{"each tensor moved once", "traffic_bound"},
        Rung{"what must pass this scratchpad", "io_bound"}, Rung{"no order takes less", "bound"},
        Rung{"this plan, array never waiting", "compute_cycles"}, Rung{"this run", "cycles"}}) {
    std::uint64_t cycles = 0;
    for (const Json *layer : layers) {
      const auto own = layer->at(field).get<std::uint64_t>();
      // The I/O bound counts only where it is above what it is a form of.
      cycles +=
          field == std::string_view("io_bound") ? std::max(own, layer->at("traffic_bound").get<std::uint64_t>()) : own;
    }
    if (cycles != 0 || field != std::string_view("cycles")) rungs.emplace(cycles, name); // of a backend with time
  }
  const DrawnUnit unit = unit_of_count(static_cast<double>(rungs.rbegin()->first), "cycles");
  page::BarRows chart{"Bounds, and the run", unit.name, {"cycles"}, {}};
  for (const auto &[cycles, name] : rungs)
    chart.rows.push_back({name, {{{}, {static_cast<double>(cycles) / unit.size}, {}}}, runtime::grouped(cycles)});
  page.heading("Bounds", "bounds");
  page.figure(
      draw(chart, page.next_drawing()),
      "Sums over the layers. Each bound holds for any order and any tiles; \"no order takes less\" is the sum of "
      "the largest one of each layer with what cannot overlap it.");
}

} // namespace gradweave::report
