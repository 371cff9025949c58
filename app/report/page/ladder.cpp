#include "app/page/bar_rows.hpp"
#include "app/report/page/sections.hpp"
#include "app/report/text_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace gradweave::report {

void add_ladder(page::Document &page, const std::vector<const Json *> &layers) {
  using Rung = std::pair<const char *, const char *>;
  page::BarRows chart{"Bounds, and the run", "million cycles", {"cycles"}, {}};
  double last = 0;
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
    chart.rows.push_back({name, {{{}, {static_cast<double>(cycles) / 1e6}, {}}}, runtime::grouped(cycles)});
    last = static_cast<double>(cycles);
  }
  if (last == 0) chart.rows.pop_back(); // a backend without time
  page.heading("Bounds", "bounds");
  page.figure(
      draw(chart, page.next_drawing()),
      "Sums over the layers. Each bound holds for any order and any tiles; \"no order takes less\" is the sum of "
      "the largest one of each layer with what cannot overlap it.");
}

} // namespace gradweave::report
