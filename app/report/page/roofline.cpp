#include "app/page/plot.hpp"
#include "app/report/page/sections.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace gradweave::report {

void add_roofline(page::Document &page, const std::vector<const Json *> &layers, const NpuFacts &npu) {
  page::Plot plot{"roofline", "Roofline", "multiply-adds a byte of traffic", "multiply-adds a cycle", true, {}};
  page::Plot::Points dots{"a layer", {}, {}, false};
  const double ridge = npu.peak() / npu.bytes_a_cycle();
  double low = ridge / 4, high = ridge * 4;
  for (const Json *layer : longest(layers, kDrawnDots)) {
    const auto macs = layer->at("macs").get<double>(), cycles = layer->at("cycles").get<double>();
    const double bytes = layer_bytes(*layer);
    if (macs <= 0 || cycles <= 0 || bytes <= 0) continue;
    dots.x.push_back(macs / bytes);
    dots.y.push_back(macs / cycles);
    dots.names.push_back(fmt::format("{}: {:.3g} multiply-adds a byte, {:.3g} a cycle",
                                     layer->at("name").get<std::string>(), macs / bytes, macs / cycles));
    low = std::min(low, macs / bytes);
    high = std::max(high, macs / bytes);
  }
  if (dots.x.empty()) return;
  plot.series.push_back(
      {fmt::format("most: {:.4g} bytes a cycle, {:.6g} multiply-adds a cycle", npu.bytes_a_cycle(), npu.peak()),
       {low, ridge, high},
       {low * npu.bytes_a_cycle(), npu.peak(), npu.peak()}});
  plot.series.push_back(std::move(dots));
  page.heading("Roofline", "roofline");
  page.figure(
      draw(plot, page.next_drawing()),
      fmt::format("A dot is a layer. The sloped line is the memory's bandwidth ({:.6g} GB/s), the flat one the "
                  "array's peak ({:.6g} multiply-adds a cycle); left of where they meet, at {:.3g} multiply-adds "
                  "a byte, the memory is the limit.{}",
                  npu.dram_gb_s, npu.peak(), ridge, which_are_drawn(layers.size(), kDrawnDots)));
}

} // namespace gradweave::report
