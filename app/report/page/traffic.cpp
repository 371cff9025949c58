#include "app/page/bar_rows.hpp"
#include "app/report/page/sections.hpp"
#include "app/report/text_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace gradweave::report {
namespace {

constexpr std::array<const char *, 6> kTensors{"X", "W", "dY", "Y", "dX", "dW"};

double compulsory(const Json &layer) { return layer.at("compulsory_bytes").get<double>(); }

page::BarRows::Row row_of_bytes(const Json &layer, double unit) {
  page::BarRows::Row row{layer.at("name").get<std::string>(), {{}}, {}};
  const Json &dram = layer.at("dram");
  for (const char *tensor : kTensors)
    row.bars[0].parts.push_back(dram.contains(tensor) ? tensor_bytes(dram.at(tensor)) / unit : 0);
  const double least = compulsory(layer);
  row.bars[0].mark = least / unit;
  if (least > 0) row.value = fmt::format("{:.2f} x", layer_bytes(layer) / least);
  return row;
}

} // namespace

void add_traffic(page::Document &page, const std::vector<const Json *> &layers) {
  double moved = 0, least = 0, spilled = 0;
  for (const Json *layer : layers) {
    moved += layer_bytes(*layer);
    least += compulsory(*layer);
    for (const auto &[name, tensor] : layer->at("dram").items())
      spilled += tensor.at("spill_read_bytes").get<double>() + tensor.at("spill_write_bytes").get<double>();
  }
  if (least <= 0) return;
  double most = 0;
  for (const Json *layer : layers)
    most = std::max(most, layer_bytes(*layer));
  const DrawnUnit unit = unit_of_bytes(most);
  page::BarRows chart{"Traffic by layer", unit.name, {kTensors.begin(), kTensors.end()}, {}};
  for (const Json *layer : longest(layers, kDrawnLayers))
    chart.rows.push_back(row_of_bytes(*layer, unit.size));
  page.heading("Traffic", "traffic");
  page.figure(draw(chart, page.next_drawing()),
              fmt::format("Bytes between memory and scratchpad, by tensor. The mark is the compulsory "
                          "traffic: each tensor of the pass moved once. In all {}B, {:.2f} times the compulsory; "
                          "{}B of it are partial sums written and read back.{}",
                          runtime::human(moved), moved / least, runtime::human(spilled),
                          which_are_drawn(layers.size(), kDrawnLayers)));
}

} // namespace gradweave::report
