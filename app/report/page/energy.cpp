#include "app/page/bar_rows.hpp"
#include "app/report/page/sections.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace gradweave::report {
namespace {

constexpr double kPicojoulesAMillijoule = 1e9;
using Part = std::pair<const char *, const char *>;
constexpr std::array<Part, 5> kParts{Part{"array", "array_pj"},
                                     {"scratchpad", "scratchpad_pj"},
                                     {"bus", "bus_pj"},
                                     {"DRAM", "dram_pj"},
                                     {"static", "static_pj"}};

double millijoules(const Json &energy, const char *field) {
  return energy.at(field).get<double>() / kPicojoulesAMillijoule;
}

} // namespace

void add_energy(page::Document &page, const Json &totals, const std::vector<const Json *> &layers) {
  if (!totals.contains("energy")) return;
  const Json &all = totals.at("energy");
  const double sum = millijoules(all, "total_pj");
  if (sum <= 0) return;
  page::BarRows chart{"Energy by layer", "mJ", {}, {}};
  std::string shares;
  for (const auto &[name, field] : kParts) {
    chart.parts.emplace_back(name);
    shares += fmt::format("{}{} {:.1f} %", shares.empty() ? "" : ", ", name, 100 * millijoules(all, field) / sum);
  }
  for (const Json *layer : longest(layers, kDrawnLayers)) {
    if (!layer->contains("energy")) continue;
    page::BarRows::Row row{layer->at("name").get<std::string>(), {{}}, {}};
    for (const auto &[name, field] : kParts)
      row.bars[0].parts.push_back(millijoules(layer->at("energy"), field));
    row.value = fmt::format("{:.4g} mJ", millijoules(layer->at("energy"), "total_pj"));
    chart.rows.push_back(std::move(row));
  }
  page.heading("Energy", "energy");
  page.figure(
      draw(chart, page.next_drawing()),
      fmt::format("Counted accesses at the prices of the NPU's table [energy]. In all {:.6g} mJ: {}; {:.4g} W on "
                  "average, energy-delay product {:.6g} mJ ms.{}",
                  sum, shares, all.at("mean_watts").get<double>(),
                  all.at("energy_delay_joule_seconds").get<double>() * 1e6,
                  which_are_drawn(layers.size(), kDrawnLayers)));
}

} // namespace gradweave::report
